package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A warehouse is changed in two halves. Its effects are found by the key of the call.
type warehouse struct {
	made   map[string]int // how many halves of it there are, by key
	undone []string       // the calls that Undo was called for: the input, and the output if there was one
}

func newWarehouse() *warehouse { return &warehouse{made: make(map[string]int)} }

// tool returns a tool whose calls 2 to 4 end after the first half: 2 fails, 3 panics, 4 takes too
// long. 5 does both halves, but isn't confirmed.
func (w *warehouse) tool(spec tools.Spec) tools.Tool {
	spec.Timeout = time.Second
	undo := func(ctx context.Context, in Number, out *Number) error {
		if c, ok := tools.CallOf(ctx); !ok || c.Name != spec.Name || c.Session != "s" || c.Fence == 0 {
			return errors.New("the context has no call")
		}
		delete(w.made, tools.IdempotencyKey(ctx))
		if out == nil {
			w.undone = append(w.undone, fmt.Sprint(in.N))
		} else {
			w.undone = append(w.undone, fmt.Sprint(in.N, " ", out.N))
		}
		return nil
	}
	return tools.Func[Number, *Number]{Spec: spec, Undo: undo,
		Run: func(ctx context.Context, in Number) (*Number, error) {
			w.made[tools.IdempotencyKey(ctx)]++
			switch in.N {
			case 2:
				return nil, errors.New("no")
			case 3:
				panic("oh")
			case 4:
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			w.made[tools.IdempotencyKey(ctx)]++
			return &Number{in.N * 100}, nil
		},
		Verify: func(_ context.Context, in Number, out *Number) error {
			if in.N == 5 {
				return errors.New("it isn't there")
			}
			return nil
		},
	}
}

func TestACallWithoutAResultIsUndoneIfItsToolSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWarehouse()
		a, model := scripted(t,
			agent.Config{Tools: []tools.Tool{w.tool(tools.Spec{Name: "put", UndoFailed: true}),
				w.tool(tools.Spec{Name: "careful"})}},
			calls("put", 1, 2, 3, 4, 5), call("careful", 2), say("Done."), say("I see."))
		run(t, a)
		require.Len(t, w.made, 6)
		got, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
		require.Nil(t, got.Failed)
		require.Equal(t, []string{"5", "4", "3", "2", "1 100"}, w.undone, "those without a result get no output")
		require.Len(t, got.Undone, 5)
		require.Len(t, got.Impossible, 1)
		require.Equal(t, "careful", got.Impossible[0].Call.Name)
		require.Contains(t, got.Impossible[0].Why, "failed")
		require.Len(t, w.made, 1)

		again, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
		require.Empty(t, again.Undone)
		require.Len(t, w.undone, 5, "nothing is undone twice")
		run(t, a)
		reqs := model.Requests()
		require.Contains(t, undoNotes(reqs[len(reqs)-1]),
			"Undone:\n- put {\"n\":5}\n- put {\"n\":4}\n- put {\"n\":3}\n- put {\"n\":2}\n- put {\"n\":1}")
		requireSound(t, "s", facts(t, a, "s"))
	})
}

// undoNotes returns the messages of a request that report undone calls to the model.
func undoNotes(req *provider.Request) (notes string) {
	for _, m := range req.Messages {
		if m.Role == provider.RoleUser && strings.Contains(m.Text(), "taken back") {
			notes += m.Text() + "\n"
		}
	}
	return notes
}

// TestACallInDoubtIsUndoneIfItsToolSaysSo lets a process die while a tool runs. What becomes of the
// call is then decided in several ways.
func TestACallInDoubtIsUndoneIfItsToolSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(id string) agent.Decision // nil: the model is told
		status tools.Status
	}{
		"told":     {nil, tools.InDoubt},
		"rejected": {func(id string) agent.Decision { return agent.Reject(id, "leave it") }, tools.Rejected},
		"answered": {func(id string) agent.Decision { return agent.Answer(id, "it is there") }, tools.Answered},
	} {
		for _, says := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " ", says), func(t *testing.T) {
				w, store := newWarehouse(), &journal.MapStore{}
				cfg := agent.Config{Tools: []tools.Tool{w.tool(tools.Spec{Name: "put", UndoFailed: says})}}
				if c.decide == nil {
					cfg.InDoubt = agent.TellInDoubt
				}
				for at := 1; len(w.made) == 0; at++ { // it dies at the first append after the tool has run
					store = &journal.MapStore{}
					cfg.Journal = &weak{Store: store, at: at, err: death, lasts: true}
					_, _ = reopen(t, cfg, call("put", 1), say("Done.")).Run(t.Context(),
						agent.Input{Session: "s", Prompt: "go"})
				}
				cfg.Journal = store
				a := reopen(t, cfg, say("Done."))
				res := runInput(t, a, agent.Continue("s"))
				if c.decide != nil {
					require.Equal(t, agent.PauseInDoubt, res.Pending[0].Kind)
					res = runInput(t, a, agent.Resume("s", c.decide(res.Pending[0].ID)))
				}
				require.Equal(t, agent.Completed, res.Status)
				require.Equal(t, c.status, finished(t, a, "s")[0].Status)
				require.Len(t, w.made, 1)

				got, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
				require.NoError(t, err)
				if !says {
					require.Empty(t, got.Undone)
					require.Len(t, got.Impossible, 1)
					require.Contains(t, got.Impossible[0].Why, string(c.status))
					require.Error(t, got.Err(), "it may still be in effect")
					return
				}
				require.NoError(t, got.Err())
				require.Len(t, got.Undone, 1)
				require.Empty(t, w.made)
				require.Equal(t, []string{"1"}, w.undone)
				requireSound(t, "s", facts(t, a, "s"))
			})
		}
	}
}

// TestAProcessMayDieWhileFailedCallsAreUndone lets a process die at each append of an undo; another
// one undoes the rest.
func TestAProcessMayDieWhileFailedCallsAreUndone(t *testing.T) {
	deaths := 0
	for _, kept := range []bool{false, true} {
		for at, more := 1, true; more; at++ {
			w, store := newWarehouse(), &journal.MapStore{}
			cfg := agent.Config{Journal: store, Tools: []tools.Tool{w.tool(tools.Spec{Name: "put", UndoFailed: true})}}
			run(t, reopen(t, cfg, calls("put", 2, 1), call("put", 3), say("Done.")))
			require.Len(t, w.made, 3)

			dying := &weak{Store: store, at: at, kept: kept, err: death, lasts: true}
			cfg.Journal = dying
			first, err := reopen(t, cfg).Session("s").Undo(t.Context(), agent.Rollback{})
			if more = dying.dead(); more {
				require.Error(t, err)
				deaths++
			}
			before := len(w.undone)
			cfg.Journal = store
			a, model := scripted(t, cfg, say("I see."))
			second, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
			require.NoError(t, err)
			require.Empty(t, w.made, "all is undone")
			twice := len(w.undone) - 3
			require.LessOrEqual(t, twice, 1, "at most the call whose undo wasn't recorded is undone again")
			if kept || !more {
				require.Zero(t, twice)
			}
			require.Len(t, second.Undone, len(w.undone)-before)
			if first != nil {
				require.Empty(t, first.Impossible)
			}
			run(t, a)
			for n := 1; n <= 3; n++ {
				require.Equal(t, 1, strings.Count(undoNotes(model.Requests()[0]), fmt.Sprintf(`put {"n":%d}`, n)),
					"append %d", at)
			}
			requireSound(t, "s", facts(t, a, "s"))
		}
	}
	require.Equal(t, 2*(3+1), deaths, "three calls and the message are appended")
}
