package fault_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

var defaults = map[fault.Class]fault.Retry{
	fault.Transient: {Attempts: 3, Min: 100 * time.Millisecond, Max: time.Second},
	fault.Degraded:  {Attempts: 2, Min: time.Second, Max: 5 * time.Second},
}

func TestARetryIsCompletedByTheDefaultOfItsClass(t *testing.T) {
	for name, tc := range map[string]struct {
		class       fault.Class
		given, want fault.Retry
	}{
		"nothing": {fault.Transient, fault.Retry{}, defaults[fault.Transient]},
		"attempts alone": {fault.Degraded, fault.Retry{Attempts: 9},
			fault.Retry{Attempts: 9, Min: time.Second, Max: 5 * time.Second}},
		"exact alone": {fault.Degraded, fault.Retry{Exact: true},
			fault.Retry{Attempts: 2, Min: time.Second, Max: 5 * time.Second, Exact: true}},
		"a longer Min": {fault.Degraded, fault.Retry{Min: time.Minute},
			fault.Retry{Attempts: 2, Min: time.Minute, Max: time.Minute}},
		"a shorter Min": {fault.Degraded, fault.Retry{Min: 1},
			fault.Retry{Attempts: 2, Min: 1, Max: 5 * time.Second}},
		"a shorter Max": {fault.Degraded, fault.Retry{Max: 7},
			fault.Retry{Attempts: 2, Min: 7, Max: 7}},
		"a longer Max": {fault.Degraded, fault.Retry{Max: time.Hour},
			fault.Retry{Attempts: 2, Min: time.Second, Max: time.Hour}},
		"both": {fault.Degraded, fault.Retry{Min: 1, Max: 2},
			fault.Retry{Attempts: 2, Min: 1, Max: 2}},
		"without a default": {fault.Permanent, fault.Retry{},
			fault.Retry{Attempts: 1, Min: 100 * time.Millisecond, Max: time.Second}},
		"the longest allowed": {fault.Denied, fault.Retry{Attempts: 100, Min: 365 * 24 * time.Hour},
			fault.Retry{Attempts: 100, Min: 365 * 24 * time.Hour, Max: 365 * 24 * time.Hour}},
	} {
		all, err := fault.Retries(map[fault.Class]fault.Retry{tc.class: tc.given}, defaults)
		require.NoError(t, err, name)
		require.Len(t, all, 8, name)
		require.Equal(t, tc.want, all[tc.class], name)
	}
}

func TestARetryOutOfRangeIsRefusedByName(t *testing.T) {
	for want, given := range map[string]map[fault.Class]fault.Retry{
		"fault: there is a Retry for none; use a class of failures": {fault.None: {}},
		"there is a Retry for class(77)":                            {fault.Class(77): {}},
		"fault: the Retry for transient has Attempts -1; use 1 to 100, or 0 for the default": {
			fault.Transient: {Attempts: -1}},
		"degraded has Attempts 101": {fault.Degraded: {Attempts: 101}},
		"has Min -1ns; use at most": {fault.Transient: {Min: -1}},
		"has Min 8761h0m0s":         {fault.Transient: {Min: 8761 * time.Hour}},
		"has Max -1ns":              {fault.Transient: {Max: -1}},
		"has Max 8761h0m0s":         {fault.Transient: {Max: 8761 * time.Hour}},
		"has Max 1s; use at least":  {fault.Transient: {Min: 2 * time.Second, Max: time.Second}},
	} {
		_, err := fault.Retries(given, defaults)
		require.ErrorContains(t, err, want)
		require.Equal(t, fault.Permanent, fault.Of(err))
	}
}
