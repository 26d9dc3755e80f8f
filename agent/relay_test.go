package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A relay is a chain of runs with all that memory records: context resets, checkpoints and
// compactions, with calls that have an effect between them.
type relay struct {
	done effects
}

func (r *relay) agent(t testing.TB, store journal.Store) *agent.Agent {
	mem := small(memory.Step{Strategy: memory.Slide{}})
	mem.Rules, mem.Keep = []memory.Rule{{When: memory.AtShare(.5), Target: .2}}, 1
	mem.ContextReset = noted()
	mem.ProgressNotes = []notes.Progress{notes.ProgressOf("c",
		func(_ context.Context, in *notes.Input) (int, error) { return in.Index, nil }, .2)}
	model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		n := 1
		for n < 12 && r.done.of(n) > 0 {
			n++
		}
		if n == 12 {
			return answer("Done."), nil
		}
		return callOf("work", Number{n}), nil
	})
	return newAgent(t,
		agent.Config{Provider: model, Memory: mem, Journal: store, Limits: agent.Limits{Steps: 40}, Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, in Number) (string, error) {
				r.done.add(in.N)
				if in.N == 5 || in.N == 9 {
					if err := agent.RequestContextReset(ctx); err != nil {
						return "", err
					}
				}
				return strings.Repeat("word ", 1_500), nil
			}),
		}})
}

// work continues in one process, as [plant.work] does.
func (r *relay) work(t *testing.T, store journal.Store) bool {
	a := r.agent(t, store)
	var in agent.Work = agent.Continue("s")
	for range 10 {
		res, err := a.Run(t.Context(), in)
		var nothing *agent.SessionError
		var paused *agent.PausedError
		answers := func(pending []agent.Pause) agent.Work {
			var ds []agent.Decision
			for _, p := range pending {
				var in Number
				require.NoError(t, json.Unmarshal(p.Call.Input, &in))
				if ds = append(ds, agent.Approve(p.ID)); r.done.of(in.N) > 0 {
					ds[len(ds)-1] = agent.Answer(p.ID, "it did happen")
				}
			}
			return agent.Resume("s", ds...)
		}
		switch {
		case errors.Is(err, agent.ErrNothingOpen) && errors.As(err, &nothing) && nothing.Status != "":
			return true
		case errors.Is(err, agent.ErrNothingOpen):
			in = agent.Input{Session: "s", Prompt: "go"}
		case errors.As(err, &paused):
			in = answers(paused.Pending)
		case err != nil:
			w, ok := store.(*weak)
			require.True(t, ok && w.dead(), "%v", err)
			return false
		case res.Status == agent.Paused:
			in = answers(res.Pending)
		default:
			return true
		}
	}
	require.Fail(t, "the run doesn't come to an end")
	return false
}

func (r *relay) requireDone(t *testing.T, store journal.Store) {
	log := facts(t, r.agent(t, store), "s")
	requireSound(t, "s", log)
	m, err := machine.Replay("s", log...)
	require.NoError(t, err)
	s := m.State()
	require.Equal(t, agent.Completed, s.Run.Status)
	require.Equal(t, "Done.", s.Messages[len(s.Messages)-1].Text())
	for n := range 11 {
		require.Equal(t, 1, r.done.of(n+1), "the effect of %d", n+1)
	}
}

var every = flag.Int("every", 16,
	"a chain of runs is broken off, left and forked at one of so many points, from a random one on; 1: at each")

func TestACrashAtAnyAppendOfAChainRepeatsNothing(t *testing.T) {
	for name, kept := range map[string]bool{"before the append is kept": false, "after the append is kept": true} {
		t.Run(name, func(t *testing.T) {
			crashes := rand.IntN(*every)
			for more := true; more; {
				synctest.Test(t, func(t *testing.T) {
					var r relay
					store := &weak{Store: &journal.MapStore{}, at: crashes + 1, kept: kept, err: death, lasts: true}
					over := r.work(t, store)
					if more = store.dead(); more {
						crashes += *every
					}
					if !over {
						<-time.After(time.Minute)
						require.True(t, r.work(t, store.Store), "crash %d", crashes)
					}
					r.requireDone(t, store.Store)
					all := facts(t, r.agent(t, store.Store), "s")
					kinds := make(map[string]int)
					for _, f := range all {
						kinds[fmt.Sprintf("%T", f)]++
					}
					require.GreaterOrEqual(t, kinds["*machine.RunStarted"], 2)
					require.Positive(t, kinds["*machine.Compacted"])
					require.Positive(t, kinds["*machine.NoteWritten"])
				})
			}
			require.Greater(t, crashes, 40)
		})
	}
}

func TestAChainIsForkedExportedAndPrunedAtAnyFact(t *testing.T) {
	store := &journal.MapStore{}
	var r relay
	require.True(t, r.work(t, store))
	r.requireDone(t, store)
	a := r.agent(t, store)
	log := facts(t, a, "s")
	first := rand.IntN(*every)
	for i, f := range log {
		if i%*every != first {
			continue
		}
		name := fmt.Sprint("copy ", i)
		err := a.Session("s").Fork(t.Context(), name, f.Envelope().Seq)
		require.NoError(t, err, "fact %d", i)
		requireSound(t, name, facts(t, a, name))
		res := runInput(t, a, agent.Input{Session: name, Prompt: "and now?"})
		require.Equal(t, "Done.", res.Text(), "fact %d", i)
		_, err = a.Session(name).Trace(t.Context())
		require.NoError(t, err)
		if i%5 != 0 {
			continue
		}
		_, err = a.Session(name).Prune(t.Context())
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, a.Session(name).Export(t.Context(), &out))
		require.NoError(t, a.Session(name+" again").Import(t.Context(), &out))
		before, after := machineOf(t, a, name).State(), machineOf(t, a, name+" again").State()
		require.Equal(t, asText(t, before.Messages), asText(t, after.Messages))
		require.Equal(t, before.Notes, after.Notes)
		require.Equal(t, before.Run.ContextReset, after.Run.ContextReset)
		require.Equal(t, "Done.", runInput(t, a, agent.Input{Session: name + " again", Prompt: "and now?"}).Text())
	}
}
