package live_test

import (
	"context"
	"sync/atomic"
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

// A counted store counts leases.
type counted struct {
	*journal.MapStore
	leases atomic.Int32
}

func (s *counted) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	s.leases.Add(1)
	return s.MapStore.Lease(ctx, session, owner, ttl)
}

// TestAnItemOfANewerVersionIsLeftAlone: a session that waits for a person, with an item in its
// inbox that this version doesn't know, is looked at now and then.
func TestAnItemOfANewerVersionIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, store := 0, &counted{MapStore: &journal.MapStore{}}
		h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{risky(&n)}},
			providertest.Call("risky", Number{1}), providertest.Say("Done."))})
		start(t, h)
		time.Sleep(time.Second)
		require.NoError(t, store.Post(t.Context(), "s", journal.Item{ID: "n", Kind: "priority", Time: time.Now(),
			Data: []byte("{}")}))
		before := store.leases.Load()
		time.Sleep(10 * time.Minute)
		require.Less(t, store.leases.Load()-before, int32(30))
		pending, err := h.Agent().Session("s").Pending(t.Context())
		require.NoError(t, err)
		run, err := h.Decide(t.Context(), "s", agent.Approve(pending[0].ID))
		require.NoError(t, err)
		<-run.Done
		require.Equal(t, 1, n)
	})
}

// TestARunThatItsHostHasPausedStaysPaused when something else is in its inbox: an item that nobody
// knows, or a title.
func TestARunThatItsHostHasPausedStaysPaused(t *testing.T) {
	for kind, data := range map[string]string{"priority": "{}", "title": `{"text":"New"}`} {
		synctest.Test(t, func(t *testing.T) {
			store, n := &journal.MapStore{}, 0
			slow := tools.New(tools.Spec{Name: "slow"}, func(context.Context, Number) (string, error) {
				n++
				time.Sleep(10 * time.Second)
				return "done", nil
			})
			h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{slow}},
				providertest.Call("slow", Number{1}), providertest.Call("slow", Number{2}), providertest.Say("Done."))})
			run := start(t, h)
			post := func(id string) {
				require.NoError(t, store.Post(t.Context(), "s", journal.Item{ID: id, Kind: kind, Time: time.Now(),
					Data: []byte(data)}))
			}
			post("before")
			require.NoError(t, h.Agent().Session("s").Pause(t.Context()))
			<-run.Done
			post("after")
			time.Sleep(30 * time.Minute)
			require.LessOrEqual(t, n, 1)
			res, err := h.Agent().Session("s").Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, agent.Paused, res.Status)
		})
	}
}
