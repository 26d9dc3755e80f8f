package agent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// kept returns a journal with a log that a process which died has left.
func kept(t *testing.T, log []agent.Fact) journal.Store {
	t.Helper()
	store := &journal.MapStore{}
	var recs []journal.Record
	for _, f := range log {
		rec, err := machine.Encode(f)
		require.NoError(t, err)
		recs = append(recs, rec)
	}
	lease, err := store.Lease(t.Context(), "s", "dead", time.Second)
	require.NoError(t, err)
	require.NoError(t, store.Append(t.Context(),
		journal.Append{Session: "s", Fence: lease.Fence, Records: recs, Head: &journal.HeadUpdate{Status: "running"}}))
	require.NoError(t, store.Release(t.Context(), lease))
	return store
}

func TestARequestForAContextResetOutlivesAPauseAndItsProcess(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	next := handing("next", func(context.Context, Number) (string, error) { return "ok", nil })
	gate := tools.New(tools.Spec{Name: "gate", Approval: tools.AskAlways},
		func(context.Context, Number) (string, error) { return "passed", nil })
	cfg := agent.Config{Memory: mem, Tools: []tools.Tool{next, gate}, InDoubt: agent.TellInDoubt,
		Journal: &journal.MapStore{}}
	a, m := scripted(t, cfg, call("next", 1), call("next", 2), say("done"))
	require.Equal(t, agent.Completed, run(t, a).Status)
	m.AssertDone(t)
	log, asked, died := facts(t, a, "s"), 0, 0
	for i, f := range log {
		if _, ok := f.(*machine.ContextResetRequested); ok {
			asked++
		}
		if asked != 1 {
			continue
		}
		if _, off := f.(*machine.NoteWritten); off { // in one append with the run that continues
			break
		}
		died++
		cfg.Journal = kept(t, log[:i+1])
		b, m := scripted(t, cfg, say("done"))
		require.Equal(t, "done", runInput(t, b, agent.Continue("s")).Text())
		require.Contains(t, m.Requests()[0].LastUserText(), "Context reset 1.", "died after fact %d", i+1)
		requireSound(t, "s", facts(t, b, "s"))
	}
	require.Equal(t, 2, died, "before and after the result of the call")

	cfg.Journal = &journal.MapStore{}
	a, _ = scripted(t, cfg, providertest.Calls(providertest.CallSpec{Tool: "next", Input: Number{1}},
		providertest.CallSpec{Tool: "gate", Input: Number{2}}))
	res := run(t, a)
	require.Equal(t, agent.Paused, res.Status)
	b, m := scripted(t, cfg, say("done"))
	runInput(t, b, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.Contains(t, m.Requests()[0].LastUserText(), "Context reset 1.")
}

func TestARequestForAContextResetIsAnsweredOnceWhateverTheAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		most   int
		fails  bool
		starts int
		notes  int // tried
	}{
		"context reset":       {most: 9, starts: 3, notes: 2},
		"the chain is at end": {most: 1, starts: 2, notes: 1},
		"no note":             {most: 9, fails: true, starts: 1, notes: 2},
	} {
		t.Run(name, func(t *testing.T) {
			written := 0
			mem := small()
			mem.ContextReset = &notes.ContextReset{Most: c.most, Tries: 1,
				Write: func(context.Context, *notes.Input) (n notes.ResetNote, err error) {
					if written++; c.fails {
						err = errors.New("down")
					}
					return n, err
				}}
			next := handing("next", func(context.Context, Number) (string, error) { return "ok", nil })
			a, m := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{next, reading(10)}},
				call("next", 1), call("read", 1), call("read", 2), call("next", 2), call("read", 3), call("read", 4),
				say("done"))
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
			require.NoError(t, err)
			m.AssertDone(t)
			require.Len(t, of[*machine.ContextResetRequested](all), 2)
			require.Len(t, of[*agent.RunStarted](all), c.starts)
			require.Equal(t, c.notes, written)
			answers := of[*machine.NoteWritten](all)
			require.Len(t, answers, 2, "what came of each is recorded")
			for i, f := range answers {
				require.Equal(t, i+1 >= c.starts, f.Error != "")
			}
			require.Len(t, of[*agent.MemoryWarning](all), 3-c.starts)
			require.False(t, machineOf(t, a, "s").State().Run.ContextResetDue)
		})
	}
}

func TestAHookMayAskForAContextResetBeforeTheFirstStep(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	a, m := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(10)}, Hooks: []agent.Hooks{{
		BeforeStep: func(ctx context.Context, s *agent.Step) error {
			if s.N == 1 {
				return agent.RequestContextReset(ctx)
			}
			return nil
		},
	}}}, call("read", 1), say("done"))
	run(t, a)
	require.Contains(t, m.Requests()[1].LastUserText(), "Context reset 1.")
	requireSound(t, "s", facts(t, a, "s"))
}
