package serve_test

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/ratelimit"
)

func TestAUserStartsAsManyRunsAsAreAllowed(t *testing.T) {
	model, g := held(1)
	s := newSiteOf(t, agent.Config{Provider: model},
		serve.Config{Allowance: ratelimit.NewAllowance(ratelimit.AllowanceConfig{
			Windows: []ratelimit.AllowanceWindow{{Max: 2, Per: time.Hour}}, Concurrent: 1,
		})})
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	require.Equal(t, serve.CodeAllowance,
		s.refused("ann", "POST", "sessions/send", obj{"session": "s-2", "text": "x"}).Code, "one at a time")
	s.send("bob", "s-3", "x")
	g.open <- struct{}{}
	s.wait("s-1")
	var status int
	for range 500 { // the end of a run is noticed a little later
		if status, _ = s.call("ann", "POST", "sessions/send", obj{"session": "s-2", "text": "x"}); status == 202 {
			break
		}
		<-time.After(2 * time.Millisecond)
	}
	require.Equal(t, 202, status)
	s.wait("s-2")
	res := s.request("ann", "POST", "sessions/send", obj{"session": "s-4", "text": "x"})
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	require.Equal(t, 429, res.StatusCode)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	require.Equal(t, "2", res.Header.Get("RateLimit-Limit"))
}
