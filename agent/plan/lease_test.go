package plan

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A losing store loses the first lease on a session: it can't be renewed.
type losing struct {
	journal.Store
	session string
	lost    atomic.Bool
}

func (s *losing) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if l.Session == s.session && !s.lost.Swap(true) {
		return journal.Lease{}, &journal.ConflictError{Session: l.Session, Fence: l.Fence, HaveFence: l.Fence + 1}
	}
	return s.Store.Renew(ctx, l, ttl)
}

func TestANodeWhoseLeaseWasLostGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &losing{Store: journal.NewMemory(), session: SessionOf("p-1", 0, "a")}
		slow := tools.New(tools.Spec{Name: "look", ReadOnly: true}, func(ctx context.Context, in item) (string, error) {
			select {
			case <-time.After(20 * time.Second): // the lease is renewed every 10 s
				return `{}`, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		})
		a, err := agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{slow}, Journal: store})
		require.NoError(t, err)
		r, err := New(Config{Agent: a})
		require.NoError(t, err)
		events, err := run(r, plan("A", Node{ID: "a", Tool: "look", Input: map[string]any{"name": "x"}}))
		require.NoError(t, err)
		require.True(t, store.lost.Load())
		require.Equal(t, Completed, last(events).(*Ended).Status)
	})
}
