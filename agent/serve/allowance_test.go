package serve_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit"
)

// TestTheAllowanceCountsRunsThatTheHubStartsByItself: the run in progress fails before it has read
// a message, so that the hub starts another one with that.
func TestTheAllowanceCountsRunsThatTheHubStartsByItself(t *testing.T) {
	began, fail := make(chan struct{}), make(chan struct{})
	model := providertest.Func(func(ctx context.Context, _ *provider.Request) (*provider.Response, error) {
		began <- struct{}{}
		<-fail
		return nil, fault.New(fault.Permanent, "the model has failed")
	})
	store := &allowances{states: make(map[string]ratelimit.AllowanceState), stored: make(chan string, 100)}
	a := ratelimit.NewAllowance(ratelimit.AllowanceConfig{PerDay: 2, Concurrent: 1, Store: store})
	s := newSiteOf(t, agent.Config{Provider: model, NoGuard: true}, serve.Config{Allowance: a})
	left := func() (left []int) {
		st, err := a.Status(t.Context(), "ann")
		require.NoError(t, err)
		for _, limit := range st {
			left = append(left, limit.Remaining)
		}
		return left
	}
	status, text := s.call("ann", "POST", "sessions/send", obj{"session": "s", "text": "first"})
	require.Equal(t, 202, status, text)
	<-began
	status, text = s.call("ann", "POST", "sessions/send", obj{"session": "s", "text": "more"})
	require.Equal(t, 202, status, text)
	fail <- struct{}{}
	<-began
	require.ElementsMatch(t, []int{0, 0}, left(), "a day's two runs are taken, and one is in progress")
	fail <- struct{}{}
}

// A request that finds a run in progress may find it ended when it comes to start one: if the
// allowance refuses that one, nothing has begun, and the request can be repeated.
func TestARunThatTheAllowanceRefusesIsntStarted(t *testing.T) {
	model, g := held(1)
	store := &allowances{states: make(map[string]ratelimit.AllowanceState), stored: make(chan string, 100)}
	var s *site
	var ends sync.Once
	s = newSiteOf(t, agent.Config{Provider: model}, serve.Config{
		Allowance: ratelimit.NewAllowance(ratelimit.AllowanceConfig{PerDay: 1, Store: store}),
		Input: func(_ *http.Request, in *agent.Input) error {
			if in.Prompt == "second" {
				ends.Do(func() {
					g.open <- struct{}{}
					s.wait("s")
				})
			}
			return nil
		}})
	s.must("ann", "POST", "sessions/send", obj{"session": "s", "text": "first"}, nil)
	<-g.called
	second := obj{"session": "s", "text": "second", "key": "k"}
	require.Equal(t, serve.CodeAllowance, s.refused("ann", "POST", "sessions/send", second).Code)
	started := func() (n int) {
		facts, err := s.agent.Session("s").Facts(t.Context())
		require.NoError(t, err)
		for _, f := range facts {
			if _, ok := f.(*agent.RunStarted); ok {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, started())
	store.mu.Lock()
	clear(store.states) // the next day
	store.mu.Unlock()
	var sent struct{ Repeated, Steered bool }
	s.must("ann", "POST", "sessions/send", second, &sent)
	require.False(t, sent.Repeated || sent.Steered)
	s.wait("s")
	require.Equal(t, 2, started())
}
