package work_test

import (
	"context"
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

// A pausing store calls paused after it has stored that a session waits, before Append returns.
type pausing struct {
	journal.Store
	paused func(session, id string)
}

func (s *pausing) Append(ctx context.Context, a journal.Append) error {
	err := s.Store.Append(ctx, a)
	if err == nil && a.Head != nil && len(a.Head.Open) > 0 {
		s.paused(a.Session, a.Head.Open[0].ID)
	}
	return err
}

// A decision on a run of a worker is taken that comes as soon as there is something to decide.
func TestADecisionThatComesAtOnceIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		memory, calls, decided := w.store, 0, 0
		build := func(store journal.Store) *agent.Agent {
			a, err := agent.New(agent.Config{Name: "a", Journal: store,
				Provider: providertest.Script(providertest.Call("risky", struct{}{}), providertest.Say("Done.")),
				Tools: []tools.Tool{tools.New(tools.Spec{Name: "risky", Risk: tools.High},
					func(context.Context, struct{}) (string, error) {
						calls++
						return "done", nil
					})}})
			require.NoError(t, err)
			return a
		}
		there := build(memory)
		store := &pausing{Store: memory, paused: func(session, id string) {
			require.NoError(t, there.Session(session).Decide(context.Background(), agent.Approve(id)))
			decided++
			time.Sleep(5 * time.Second)
		}}
		here := build(store)
		require.NoError(t, here.Enqueue(t.Context(), agent.Input{Session: "s", Key: "k", Prompt: "go"},
			agent.QueueOptions{}))
		_, stop := w.run(work.Config{Agents: []*agent.Agent{here}})
		defer stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, decided)
		require.Equal(t, 1, calls)
		res, err := here.Session("s").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, agent.Completed, res.Status, res.Reason)
	})
}
