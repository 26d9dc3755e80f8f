package fault_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

var classes = []struct {
	class     fault.Class
	name      string
	counts    bool
	retryable bool
}{
	{fault.None, "none", false, false},
	{fault.Transient, "transient", true, true},
	{fault.RateLimited, "rate_limited", false, true},
	{fault.Degraded, "degraded", true, true},
	{fault.UserFixable, "user_fixable", false, false},
	{fault.Permanent, "permanent", false, false},
	{fault.Invalid, "invalid", false, false},
	{fault.NotFound, "not_found", false, false},
	{fault.Denied, "denied", false, false},
}

func TestEveryClassHasItsNameAndItsConsequences(t *testing.T) {
	for i, tt := range classes {
		t.Run(tt.name, func(t *testing.T) {
			require.EqualValues(t, i, tt.class)
			require.Equal(t, tt.name, tt.class.String())
			require.Equal(t, tt.counts, tt.class.Counts())
			require.Equal(t, tt.retryable, fault.Retryable(tt.class))
		})
	}
}

func TestAClassSurvivesJSONAsValueAndAsKey(t *testing.T) {
	for _, tt := range classes {
		in := map[fault.Class]fault.Class{tt.class: tt.class}
		text, err := json.Marshal(in)
		require.NoError(t, err)
		require.JSONEq(t, `{"`+tt.name+`":"`+tt.name+`"}`, string(text))

		var out map[fault.Class]fault.Class
		require.NoError(t, json.Unmarshal(text, &out))
		require.Equal(t, in, out)
	}
}

func TestUnknownTextIsAnErrorAndChangesNothing(t *testing.T) {
	for _, text := range []string{"", "Transient", " transient", "class(1)", "1"} {
		c := fault.Denied
		err := c.UnmarshalText([]byte(text))
		require.EqualError(t, err, "fault: unknown class "+strconv.Quote(text))
		require.Equal(t, fault.Invalid, fault.Of(err))
		require.Equal(t, fault.Denied, c)
	}
}

func TestAClassOutOfRangeHasNoText(t *testing.T) {
	for _, c := range []fault.Class{fault.Denied + 1, 255} {
		_, err := c.MarshalText()
		require.EqualError(t, err, "fault: unknown class "+strconv.Quote(c.String()))
		require.False(t, c.Counts())
		require.False(t, fault.Retryable(c))
	}
	require.Equal(t, "class(255)", fault.Class(255).String())
}
