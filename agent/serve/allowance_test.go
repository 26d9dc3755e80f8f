package serve_test

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/ratelimit"
)

func TestAUserStartsAsManyRunsAsAreAllowed(t *testing.T) {
	model, g := held(1)
	store := &allowances{states: make(map[string]ratelimit.AllowanceState), stored: make(chan string, 100)}
	s := newSiteOf(t, agent.Config{Provider: model},
		serve.Config{Allowance: ratelimit.NewAllowance(ratelimit.AllowanceConfig{
			Windows: []ratelimit.AllowanceWindow{{Max: 2, Per: time.Hour}}, Concurrent: 1, Store: store,
		})})
	s.must("ann", "POST", "sessions/send", obj{"session": "s-1", "text": "x"}, nil)
	<-g.called
	require.Equal(t, serve.CodeAllowance,
		s.refused("ann", "POST", "sessions/send", obj{"session": "s-2", "text": "x"}).Code, "one at a time")
	s.send("bob", "s-3", "x")
	g.open <- struct{}{}
	s.wait("s-1")
	for ann := 0; ann < 2; { // the run of s-1 is taken and released
		if <-store.stored == "ann" {
			ann++
		}
	}
	s.must("ann", "POST", "sessions/send", obj{"session": "s-2", "text": "x"}, nil)
	s.wait("s-2")
	res := s.request("ann", "POST", "sessions/send", obj{"session": "s-4", "text": "x"})
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	require.Equal(t, 429, res.StatusCode)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	require.Equal(t, "2", res.Header.Get("RateLimit-Limit"))
}

// allowances is a store in memory that sends the key of each state that it stores.
type allowances struct {
	mu     sync.Mutex
	states map[string]ratelimit.AllowanceState
	stored chan string
}

func (s *allowances) Update(_ context.Context, key string, change ratelimit.AllowanceChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, err := change(s.states[key], time.Now())
	if err == nil {
		s.states[key] = state
		s.stored <- key
	}
	return err
}
