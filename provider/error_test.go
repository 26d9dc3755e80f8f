package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

func TestAnErrorSaysWhatIsKnown(t *testing.T) {
	for want, e := range map[string]*provider.Error{
		"provider: permanent error":      {},
		"provider p: rate_limited error": {Provider: "p", Class: fault.RateLimited},
		"provider p (m): 429 slow down (request r-1)": {Provider: "p", Model: "m", Status: 429, Message: "slow down",
			RequestID: "r-1", Err: io.EOF},
		"provider: 529 overloaded_error busy": {Status: 529, Type: "overloaded_error", Code: "busy"},
		"provider p: EOF":                     {Provider: "p", Err: io.EOF},
		"provider p: 401 no key; set P_KEY":   {Provider: "p", Status: 401, Message: "no key", Remedy: "set P_KEY"},
	} {
		require.EqualError(t, e, want)
	}
}

func TestAnErrorHasTheClassGivenOrThatOfItsCause(t *testing.T) {
	for name, c := range map[string]struct {
		e    *provider.Error
		want fault.Class
	}{
		"given":            {&provider.Error{Class: fault.Degraded, Err: context.Canceled}, fault.Degraded},
		"of the cause":     {&provider.Error{Err: io.ErrUnexpectedEOF}, fault.Transient},
		"canceled":         {&provider.Error{Err: fmt.Errorf("call: %w", context.Canceled)}, fault.None},
		"of no cause":      {&provider.Error{}, fault.Permanent},
		"of unknown cause": {&provider.Error{Err: errors.New("x")}, fault.Permanent},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, fault.Of(fmt.Errorf("wrapped: %w", c.e)))
			require.Equal(t, c.want == fault.None, provider.Canceled(c.e))
			if c.e.Err != nil {
				require.ErrorIs(t, c.e, c.e.Err)
			}
		})
	}
}

func TestTheAdviceOfAnError(t *testing.T) {
	_, ok := fault.RetryAfter(&provider.Error{})
	require.False(t, ok)
	for given, want := range map[time.Duration]time.Duration{0: 0, time.Second: time.Second, -time.Second: 0} {
		wait, ok := fault.RetryAfter(fmt.Errorf("x: %w", &provider.Error{Wait: &given}))
		require.True(t, ok)
		require.Equal(t, want, wait)
	}
}

func TestTheRemedyOfAnErrorIsFound(t *testing.T) {
	got, ok := fault.Remedy(fmt.Errorf("run: %w", &provider.Error{Class: fault.UserFixable, Remedy: "set the key"}))
	require.True(t, ok)
	require.Equal(t, "set the key", got)
	_, ok = fault.Remedy(&provider.Error{Class: fault.UserFixable})
	require.False(t, ok)
}
