package guard_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
)

// TestTheGateLearnsWhatTheProviderAllows: from its headers, whatever becomes of the answer, and as
// of the time they came.
func TestTheGateLearnsWhatTheProviderAllows(t *testing.T) {
	told := provider.Start("fake-1")
	told.Extra = &provider.Extra{RateLimits: http.Header{"X-Ratelimit-Limit-Requests": {"60"},
		"X-Ratelimit-Remaining-Requests": {"1"},
		"X-Ratelimit-Reset-Requests":     {"59s"}}}
	for _, sc := range []script{{say(told, provider.Text("x"), end)}, {say(told), wait(10 * s), say(end)}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, option{gate: ratelimit.GateConfig{RequestsPerMinute: 1000}}, sc)
			began := time.Now()
			require.NoError(t, watch(r.Stream(t.Context(), ask)).err)
			took := time.Since(began)
			snap := r.gate.Snapshot()
			require.EqualValues(t, 60, snap.RequestsPerMinute)
			require.EqualValues(t, 1+took/s, snap.RequestsLeft, "and one for each second that the answer took")
			r.settled()
		})
	}
	r := newRig(t, option{}, script{say(told)}, good)
	leaveAt(r.Stream(t.Context(), ask), 0, "break")
	require.EqualValues(t, 60, r.gate.Snapshot().RequestsPerMinute, "a caller who leaves has heard them, too")
}
