package circuit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

func TestAProgramThatCallsAServiceStopsWhenItIsDown(t *testing.T) {
	defer breakers.Get("network:cms").Reset() // for -count
	defer http.DefaultClient.CloseIdleConnections()
	var asked atomic.Int64
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch {
		case r.URL.Path == "/none":
			w.WriteHeader(http.StatusNotFound)
		case down.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()

	res, err := get(t.Context(), server.URL)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		_, err = get(t.Context(), server.URL+"/none")
		require.Equal(t, fault.Permanent, fault.Of(err))
		_, err = get(gone, server.URL)
		require.ErrorIs(t, err, context.Canceled)
	}
	down.Store(true)
	for range 3 {
		_, err = get(t.Context(), server.URL)
		require.Equal(t, fault.Degraded, fault.Of(err))
	}
	before := asked.Load()
	_, err = get(t.Context(), server.URL)
	require.Regexp(t, `^network:cms is down, next try in [\d.]+s: circuit: "network:cms" is open, next try in [\d.]+s$`,
		err.Error())
	require.Equal(t, fault.Degraded, fault.Of(err))
	wait, told := fault.RetryAfter(err)
	require.True(t, told)
	require.Positive(t, wait)
	require.Equal(t, before, asked.Load(), "the service was left alone")
}
