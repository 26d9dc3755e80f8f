package agent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestAStopMakesNoFurtherAttemptAtAModelCall(t *testing.T) {
	for name, elsewhere := range map[string]bool{"of this process": false, "of another": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				a, model := scripted(t, agent.Config{Journal: store}, providertest.Hang(), providertest.Hang(),
					say("late"))
				b := a
				if elsewhere {
					b, _ = scripted(t, agent.Config{Journal: store})
				}
				began := time.Now()
				stopped := make(chan error, 1)
				go func() {
					<-time.After(time.Second)
					stopped <- b.Session("s").Stop(t.Context())
				}()
				res := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
				require.NoError(t, <-stopped)
				require.Equal(t, agent.Stopped, res.Status)
				require.Equal(t, machine.CodeHost, res.Code)
				require.Equal(t, 2*time.Minute, time.Since(began).Round(time.Second),
					"the attempt in progress may answer")
				model.AssertCalls(t, 1)
			})
		})
	}
}

func TestAStopEndsTheWaitBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := providertest.Fail(fault.Degraded)
		a, model := scripted(t, agent.Config{Journal: &journal.MapStore{}}, fails, fails, fails)
		began := time.Now()
		stopped := make(chan error, 1)
		go func() {
			<-time.After(time.Second) // the first retry comes after 5 s
			stopped <- a.Session("s").Stop(t.Context())
		}()
		res := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
		require.NoError(t, <-stopped)
		require.Equal(t, agent.Stopped, res.Status, "rather than failed")
		require.Equal(t, time.Second, time.Since(began))
		model.AssertCalls(t, 1)
	})
}

func TestAStopEndsTheAttemptsOfASubagent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		child, inner := scripted(t, agent.Config{}, providertest.Hang(), providertest.Hang())
		a, model := scripted(t, agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Name: "child"})}},
			providertest.Call("child", agent.Task{Task: "do it"}), say("Done."))
		go func() {
			<-time.After(time.Second)
			_ = a.Session("s").Stop(t.Context())
		}()
		began := time.Now()
		res := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
		require.Equal(t, agent.Stopped, res.Status)
		require.Equal(t, 2*time.Minute, time.Since(began).Round(time.Second))
		inner.AssertCalls(t, 1)
		model.AssertCalls(t, 1)
	})
}

// A stop is one for all model calls of a run: those that write summaries and notes, too. What isn't
// written then leaves the conversation as it is.
func TestAStopMakesNoFurtherAttemptAtASummaryOrANote(t *testing.T) {
	hangs := func(t *testing.T) (provider.Provider, *providertest.Model) {
		m := providertest.Script(providertest.Hang(), providertest.Hang(), providertest.Hang(), providertest.Hang())
		g, err := guard.New(m, guard.Config{FirstChunk: 10 * time.Second})
		require.NoError(t, err)
		return g, m
	}
	for name, memoryOf := range map[string]func(t *testing.T, p provider.Provider) *agent.Memory{
		"a summary": func(t *testing.T, p provider.Provider) *agent.Memory {
			return small(memory.Step{Strategy: summariser(t, p)}, memory.Step{Strategy: memory.Slide{}})
		},
		"a note": func(t *testing.T, p provider.Provider) *agent.Memory {
			m := small()
			m.ProgressNotes = []notes.Progress{notes.ProgressOf("progress", notes.ByModel[notes.ResetNote](p, ""), .3)}
			return m
		},
		"a context reset": func(t *testing.T, p provider.Provider) *agent.Memory {
			m := small()
			m.ContextReset = &notes.ContextReset{At: .3, Write: notes.ByModel[notes.ResetNote](p, "")}
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, hung := hangs(t)
				a, _ := scripted(t, agent.Config{Memory: memoryOf(t, p), Tools: []tools.Tool{reading(800)},
					Limits: agent.Limits{Steps: 50}, Journal: &journal.MapStore{}}, reads(20)...)
				stopped := make(chan error, 1)
				go func() {
					<-time.After(5 * time.Second)
					stopped <- a.Session("s").Stop(t.Context())
				}()
				began := time.Now()
				res := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
				require.NoError(t, <-stopped)
				require.Equal(t, []any{agent.Stopped, machine.CodeHost}, []any{res.Status, res.Code}, res.Reason)
				require.Equal(t, 10*time.Second, time.Since(began), "the attempt in progress may answer")
				hung.AssertCalls(t, 1)
				log := facts(t, a, "s")
				requireSound(t, "s", log)
				require.NotContains(t, asText(t, log), "progress", "no note")
				for _, f := range log {
					if c, ok := f.(*machine.Compacted); ok {
						require.Empty(t, c.Spans, "the conversation is as it was")
					}
				}
			})
		})
	}
}
