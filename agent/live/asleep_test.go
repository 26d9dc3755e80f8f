package live_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// An asleep store renews no lease until a time, as if the machine slept.
type asleep struct {
	journal.Store
	until time.Time
}

func (s *asleep) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if time.Now().Before(s.until) {
		return l, errors.New("asleep")
	}
	return s.Store.Renew(ctx, l, ttl)
}

// TestARunThatLosesItsLeaseGoesOn although the hub searches for no sessions: a laptop was closed
// for longer than the lease.
func TestARunThatLosesItsLeaseGoesOn(t *testing.T) {
	for _, interval := range []time.Duration{-1, 0} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			slow := tools.New(tools.Spec{Name: "slow", ReadOnly: true},
				func(ctx context.Context, _ Number) (string, error) {
					calls++
					select {
					case <-time.After(5 * time.Second):
						return "done", nil
					case <-ctx.Done():
						return "", ctx.Err()
					}
				})
			store := &asleep{Store: &journal.MapStore{}, until: time.Now().Add(4 * time.Second)}
			a := newAgent(t, agent.Config{Journal: store, Lease: time.Second, Tools: []tools.Tool{slow}},
				providertest.Call("slow", Number{1}), providertest.Say("Done."))
			h := newHub(t, live.Config{Agent: a, Recover: interval})
			run := start(t, h)
			p := watch(t, h, run.After, nil)
			end, ok := p.all[len(p.all)-1].(*agent.RunEnded)
			require.True(t, ok)
			require.Equal(t, agent.Completed, end.Status)
			require.Greater(t, calls, 1, "the call may be made again")
			require.NoError(t, h.Close())
		})
	}
}

// A full store takes no facts after the first ones, and counts the leases that it grants.
type full struct {
	journal.Store
	takes, leases int
}

func (s *full) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	s.leases++
	return s.Store.Lease(ctx, session, owner, ttl)
}

func (s *full) Append(ctx context.Context, a journal.Append) error {
	if s.takes--; s.takes < 0 {
		return errors.New("the disk is full")
	}
	return s.Store.Append(ctx, a)
}

// TestAHubGivesUpARunWhoseStoreTakesNothing: it isn't tried again and again without an end.
func TestAHubGivesUpARunWhoseStoreTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &full{Store: &journal.MapStore{}, takes: 1}
		a := newAgent(t, agent.Config{Journal: store, Lease: time.Second}, providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a, Recover: -1})
		<-start(t, h).Done
		<-time.After(time.Hour)
		require.Greater(t, store.leases, 2)
		require.Less(t, store.leases, 25)
		require.NoError(t, h.Close())
	})
}
