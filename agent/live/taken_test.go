package live_test

import (
	"context"
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

// A decision that comes as soon as there is something to decide is taken: by the hub that runs the
// session, by its agent, and by another process; of the session's own calls and of those of
// subagents.
func TestADecisionThatComesAtOnceIsTaken(t *testing.T) {
	for door, decide := range map[string]func(here, there *live.Hub, d agent.Decision) error{
		"the hub": func(here, _ *live.Hub, d agent.Decision) error {
			_, err := here.Decide(context.Background(), "s", d)
			return err
		},
		"its agent": func(here, _ *live.Hub, d agent.Decision) error {
			return here.Agent().Session("s").Decide(context.Background(), d)
		},
		"another hub": func(_, there *live.Hub, d agent.Decision) error {
			_, err := there.Decide(context.Background(), "s", d)
			return err
		},
		"another process": func(_, there *live.Hub, d agent.Decision) error {
			return there.Agent().Session("s").Decide(context.Background(), d)
		},
	} {
		for _, nested := range []bool{false, true} {
			name := door
			if nested {
				name += ", of a subagent"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					calls, decided := 0, 0
					memory := &journal.MapStore{}
					store := &pausing{Store: memory}
					hub := func(store journal.Store) *live.Hub {
						cfg := agent.Config{Name: "a", Journal: store, Tools: []tools.Tool{risky(&calls)},
							Provider: providertest.Script(providertest.Call("risky", Number{1}),
								providertest.Say("Done."))}
						if nested {
							cfg.Name = "child"
							child := newAgent(t, cfg)
							cfg.Tools = []tools.Tool{agent.AsTool(child, tools.Spec{Name: "child"})}
							cfg.Name, cfg.Provider = "a", providertest.Script(providertest.Call("child",
								agent.Task{Task: "go"}),
								providertest.Say("Done."))
						}
						return newHub(t, live.Config{Agent: newAgent(t, cfg)})
					}
					here, there := hub(store), hub(memory)
					store.paused = func(session, id string) {
						if session != "s" {
							return
						}
						pending, err := there.Agent().Session("s").Pending(context.Background())
						require.NoError(t, err)
						require.Len(t, pending, 1)
						require.NoError(t, decide(here, there, agent.Approve(pending[0].ID)))
						decided++
						time.Sleep(5 * time.Second)
					}
					start(t, here)
					time.Sleep(time.Minute)
					synctest.Wait()
					require.Equal(t, 1, decided)
					require.Equal(t, 1, calls)
					res, err := here.Agent().Session("s").Result(t.Context())
					require.NoError(t, err)
					require.Equal(t, agent.Completed, res.Status, res.Reason)
					here.Close()
					there.Close()
				})
			})
		}
	}
}

// An input that would supersede what was decided, and what nobody has taken yet, comes after that.
func TestAnInputComesAfterADecisionThatNobodyHasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		a := newAgent(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{risky(&n)}},
			providertest.Call("risky", Number{1}), providertest.Say("Done."), providertest.Say("Else."))
		h := newHub(t, live.Config{Agent: a, Recover: -1}) // nothing else resumes it
		<-start(t, h).Done
		pending, err := a.Session("s").Pending(t.Context())
		require.NoError(t, err)
		require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(pending[0].ID)))
		_, err = h.Send(t.Context(), agent.Input{Session: "s", Prompt: "else", Supersede: true})
		require.NoError(t, err)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 1, n)
		require.Equal(t, 1, timesSaid(t, a, "else"))
		require.NoError(t, h.Close())
	})
}
