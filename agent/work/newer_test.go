package work_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A leased store counts leases.
type leased struct {
	*journal.MapStore
	n atomic.Int32
}

func (s *leased) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	s.n.Add(1)
	return s.MapStore.Lease(ctx, session, owner, ttl)
}

// TestWhatNobodyCanTakeIsLookedAtForAnHour: an item of a newer version in the inbox of a session
// that waits. After that it is gone, and nobody looks any more.
func TestWhatNobodyCanTakeIsLookedAtForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWorld(t), &leased{MapStore: &journal.MapStore{}}
		w.store = store
		a, err := agent.New(agent.Config{Name: "a", Journal: store, Tools: []tools.Tool{tools.New(
			tools.Spec{Name: "risky", Risk: tools.High},
			func(context.Context, struct{}) (string, error) { return "done", nil })},
			Provider: providertest.Script(providertest.Call("risky", struct{}{}), providertest.Say("Done."))})
		require.NoError(t, err)
		require.NoError(t, a.Enqueue(t.Context(), agent.Input{Session: "s", Key: "k", Prompt: "go"},
			agent.QueueOptions{}))
		_, stop := w.run(work.Config{Agents: []*agent.Agent{a}})
		defer stop()
		time.Sleep(time.Minute)
		require.NoError(t, store.Post(t.Context(), "s", journal.Item{ID: "n", Kind: "priority", Time: time.Now(),
			Data: []byte("{}")}))
		before := store.n.Load()
		time.Sleep(2 * time.Hour)
		after := store.n.Load()
		require.Less(t, after-before, int32(60*60+60), "once a second")
		time.Sleep(2 * time.Hour)
		require.Equal(t, after, store.n.Load())
	})
}
