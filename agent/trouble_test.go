package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
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

func TestAFunctionOfTheMemoryThatPanicsEndsNothingButItself(t *testing.T) {
	for name, set := range map[string]func(*agent.Memory){
		"Context": func(m *agent.Memory) {
			m.Context = func(context.Context, agent.ContextInput) (memory.Context, error) { panic("oh") }
		},
		"Store": func(m *agent.Memory) {
			m.Steps = []memory.Step{{Strategy: memory.CutResults{Over: 100}}, {Strategy: memory.Slide{}}}
			m.Stores = func(string) memory.Store { return (*memory.MapStore)(nil) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			mem := small(memory.Step{Strategy: memory.Slide{}})
			set(mem)
			a, _ := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(800)},
				Limits: agent.Limits{Steps: 50}}, reads(12)...)
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
			require.NoError(t, err)
			require.NotEmpty(t, of[*agent.MemoryWarning](all))
			require.NotEmpty(t, of[*machine.Compacted](all))
			require.NotPanics(t, func() { _, err = a.Session("s").Compact(t.Context(), 0) })
			require.NoError(t, err)
		})
	}
}

func TestAContextIsRedactedAndItsHostKeepsItsOwn(t *testing.T) {
	own := []memory.Fetched{{Name: "name secret-7", Text: "text secret-7\xff"}}
	mem := small()
	mem.Context = func(context.Context, agent.ContextInput) (memory.Context, error) {
		return memory.Context{User: "user secret-7", Screen: "screen secret-7", Fetched: own}, nil
	}
	a, m := scripted(t, agent.Config{Memory: mem, Redact: func(s string) string {
		return strings.ReplaceAll(s, "secret-7", "[redacted]")
	},
		Compose: func(context.Context, agent.ComposeInput) (string, error) {
			return "rules \xff secret-7", nil
		}}, say("done"))
	run(t, a)
	req := m.Requests()[0]
	require.Equal(t, "rules \uFFFD [redacted]\n\nuser [redacted]", req.System)
	for _, want := range []string{"screen [redacted]", "name [redacted]", "text [redacted]\uFFFD"} {
		require.Contains(t, req.LastUserText(), want)
	}
	require.NotContains(t, asText(t, facts(t, a, "s")), "secret-7")
	mem.Context = func(context.Context, agent.ContextInput) (memory.Context, error) {
		return memory.Context{Fetched: own}, nil
	}
	a, m = scripted(t, agent.Config{Memory: mem}, say("done"))
	run(t, a)
	require.Contains(t, m.Requests()[0].LastUserText(), "text secret-7", "without a screen, too")
	require.Equal(t, []memory.Fetched{{Name: "name secret-7", Text: "text secret-7\xff"}}, own)
}

func TestAContextOfTenMegabytesIsAWarning(t *testing.T) {
	mem := small()
	mem.Context = func(context.Context, agent.ContextInput) (memory.Context, error) {
		return memory.Context{Screen: "page 42",
			Fetched: []memory.Fetched{{Name: "all", Text: strings.Repeat("x", 10<<20)}}}, nil
	}
	a, m := scripted(t, agent.Config{Memory: mem}, say("done"))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Contains(t, of[*agent.MemoryWarning](all)[0].Text, "PromptBytes")
	require.Equal(t, "go", m.Requests()[0].LastUserText())
	require.Less(t, len(asText(t, facts(t, a, "s"))), 10_000, "nor is it in the log")
}

func TestStoresThatPanicAreAnError(t *testing.T) {
	mem := small()
	bad := false
	mem.Stores = func(string) memory.Store {
		if bad {
			panic("oh")
		}
		return nil
	}
	a, _ := scripted(t, agent.Config{Memory: mem},
		providertest.Call("memory.read", map[string]any{"handle": "m-0123456789abcdef"}), say("none"))
	res := run(t, a)
	require.Equal(t, "none", res.Text(), "a session may have no Store")
	require.True(t, results(res)[0].Error)
	bad = true
	var failure error
	require.NotPanics(t, func() { _, failure = a.Session("s").Compact(t.Context(), 0) })
	require.ErrorContains(t, failure, "oh")
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "again"})
	require.ErrorContains(t, err, "oh")
}

func TestCompactingByHandCountsTheComposedText(t *testing.T) {
	mem := small()
	broken := false
	cfg := agent.Config{Memory: mem, Compose: func(context.Context, agent.ComposeInput) (string, error) {
		if broken {
			return "", errors.New("the file is broken")
		}
		return strings.Repeat("rule ", 2_000), nil
	}}
	a, _ := scripted(t, cfg, say("hi"))
	run(t, a)
	report, err := a.Session("s").Compact(t.Context(), 0)
	require.NoError(t, err)
	require.Greater(t, report.Before, 2_000)
	broken = true
	_, err = a.Session("s").Compact(t.Context(), 0)
	require.ErrorContains(t, err, "the file is broken")
}

func TestASummaryIsBookedThoughCompactingByHandFails(t *testing.T) {
	n := 0
	p := expensive(func() (*provider.Response, error) { return answer("in short"), nil }, func(int) *provider.Response {
		if n++; n > 8 {
			return answer("done")
		}
		return callOf("read", Number{n})
	})
	mem := small(memory.Step{Strategy: summariser(t, p)})
	large := 0
	a := newAgent(t,
		agent.Config{Provider: p, Memory: mem, Tools: []tools.Tool{reading(300)}, Limits: agent.Limits{Steps: 50},
			Compose: func(context.Context, agent.ComposeInput) (string, error) {
				return strings.Repeat("rule ", large), nil
			}})
	used := run(t, a).Usage.Total()
	large = 20_000
	_, err := a.Session("s").Compact(t.Context(), 0)
	require.ErrorIs(t, err, memory.ErrContextTooLarge)
	log := facts(t, a, "s")
	requireSound(t, "s", log)
	require.Equal(t, used+1_000, machineOf(t, a, "s").State().Run.Usage.Total())
	require.Equal(t, "without effect", log[len(log)-1].(*machine.Compacted).Report.Trigger)
}

func TestASummaryThatComesToNothingIsBooked(t *testing.T) {
	p := expensive(func() (*provider.Response, error) {
		return answer(strings.Repeat("word ", 3_000)), nil
	}, func(n int) *provider.Response {
		if n > 18 {
			return answer("done")
		}
		return callOf("read", Number{n})
	})
	mem := small(memory.Step{Strategy: summariser(t, p)})
	mem.Rules = []memory.Rule{{When: memory.AtShare(.4)}}
	a := newAgent(t,
		agent.Config{Provider: p, Memory: mem, Tools: []tools.Tool{reading(300)}, Limits: agent.Limits{Steps: 50}})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	compacted := of[*machine.Compacted](all)
	require.Len(t, compacted, 1)
	require.Empty(t, compacted[0].Spans, "it only costs")
	require.Equal(t, int64(19*10+1_000), of[*agent.RunEnded](all)[0].Result.Usage.Total())
}

func TestWhatWentWrongWithASummaryIsRedacted(t *testing.T) {
	s := summariser(t, providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		return nil, errors.New("no access with secret-7")
	}))
	a, _ := scripted(t, agent.Config{Memory: small(memory.Step{Strategy: s}, memory.Step{Strategy: memory.Slide{}}),
		Tools: []tools.Tool{reading(800)}, Limits: agent.Limits{Steps: 50},
		Redact: func(s string) string { return strings.ReplaceAll(s, "secret-7", "[redacted]") }}, reads(12)...)
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Contains(t, asText(t, of[*machine.Compacted](all)), "no access with [redacted]")
	require.Contains(t, of[*agent.MemoryWarning](all)[0].Text, "no access with [redacted]")
	require.NotContains(t, asText(t, all), "secret-7")
}

func TestARunThatItsProcessLeftIsNotCompactedByHand(t *testing.T) {
	store := &journal.MapStore{}
	build := func(store journal.Store) *agent.Agent {
		return reopen(t, agent.Config{Memory: small(), Journal: store, Tools: []tools.Tool{reading(10)}}, reads(5)...)
	}
	_, err := build(&weak{Store: store, at: 8, err: death, lasts: true}).Run(t.Context(),
		agent.Input{Session: "s", Prompt: "go"})
	require.Error(t, err)
	a := build(store)
	_, err = a.Session("s").Compact(t.Context(), 0)
	require.ErrorIs(t, err, agent.ErrBusy)
	require.Equal(t, agent.Completed, runInput(t, a, agent.Continue("s")).Status)
	_, err = a.Session("s").Compact(t.Context(), 0)
	require.NoError(t, err)
}

func TestACompactionKeepsTheInputOfTheRunAndCountsTheComposedText(t *testing.T) {
	var a *agent.Agent
	read := tools.New(tools.Spec{Name: "read", ReadOnly: true}, func(ctx context.Context, in Number) (string, error) {
		if in.N == 1 {
			if _, err := a.Session("s").Steer(ctx, "be quick"); err != nil {
				return "", err
			}
		}
		return fmt.Sprint(in.N) + strings.Repeat(" word", 300), nil
	})
	mem := small(memory.Step{Strategy: memory.Slide{}})
	mem.Rules = []memory.Rule{{When: memory.AtTokens(5_000), Target: .1}}
	a, m := unmeasured(t, agent.Config{Memory: mem, Tools: []tools.Tool{read}, Limits: agent.Limits{Steps: 50},
		Compose: func(context.Context, agent.ComposeInput) (string, error) {
			return strings.Repeat("rule ", 2_000), nil
		}}, append([]providertest.Step{say("hi")}, reads(12)...)...)
	runInput(t, a, agent.Input{Session: "s", Prompt: "hello"})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "the task"}))
	require.NoError(t, err)
	compacted := of[*machine.Compacted](all)
	require.NotEmpty(t, compacted)
	require.LessOrEqual(t, compacted[0].Step, 10, "2,000 tokens of rules, and 3,000 of results")
	text := asText(t, m.Requests()[12].Messages)
	for _, want := range []string{"hello", "the task", "be quick"} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, `"n\":2`)
}

func TestASummaryIsRedactedBeforeAnyModelSeesIt(t *testing.T) {
	for _, screen := range []string{"", "page 42"} {
		s := summariser(t, providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			return answer("the token is secret-7"), nil
		}))
		mem := small(memory.Step{Strategy: s})
		mem.Context = func(context.Context, agent.ContextInput) (memory.Context, error) {
			return memory.Context{Screen: screen}, nil
		}
		a, m := scripted(t,
			agent.Config{Memory: mem, Tools: []tools.Tool{reading(800)}, Limits: agent.Limits{Steps: 50},
				Redact: func(s string) string {
					return strings.ReplaceAll(s, "secret-7", "[redacted, as all that is secret is]")
				}}, reads(20)...)
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		require.NotEmpty(t, of[*machine.Compacted](all))
		require.NotContains(t, asText(t, all), "secret-7")
		for i, req := range m.Requests() {
			require.NotContains(t, asText(t, req.Messages), "secret-7", "request %d", i)
			require.Equal(t, screen != "", strings.Contains(asText(t, req.Messages), "page 42"))
		}
	}
}

func TestTheContextIsntResetInTheMiddleOfAnAnswer(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	mem.ContextReset.At = .1
	long := strings.Repeat("half ", 1_500)
	a, m := unmeasured(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(1)}},
		providertest.Stop(provider.StopPaused, say(long)), providertest.Reply(say("and half"), call("read", 1)),
		say("done"))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Contains(t, asText(t, m.Requests()[1].Messages), "half half", "the provider continues with what it said")
	require.Len(t, of[*agent.RunStarted](all), 2)
	require.Len(t, m.Requests()[2].Messages, 1)
}

func TestReplayKnowsTheComposedTextOfEachStep(t *testing.T) {
	version := 1
	edit := tools.New(tools.Spec{Name: "edit"}, func(_ context.Context, in Number) (string, error) {
		version = in.N
		return "ok", nil
	})
	a, m := scripted(t, agent.Config{Compose: func(context.Context, agent.ComposeInput) (string, error) {
		return fmt.Sprint("v", version), nil
	}, Tools: []tools.Tool{edit},
		Hooks: []agent.Hooks{{BeforeStep: func(_ context.Context, s *agent.Step) error {
			if s.N == 2 {
				s.System += " of a hook"
			}
			return nil
		}}},
	}, call("edit", 1), call("edit", 1), call("edit", 2), call("edit", 2), say("done"))
	run(t, a)
	steps, err := a.Session("s").Trace(t.Context())
	require.NoError(t, err)
	for i, req := range m.Requests() {
		require.Equal(t, req.System, steps[i].System, "step %d", i+1)
	}
}

func TestSessionsThatShareStrategiesCompactBesideEachOther(t *testing.T) {
	s := summariser(t, providertest.Func(keepsFacts))
	store := &memory.MapStore{}
	mem := small(memory.DefaultSteps(s)...)
	mem.Store = store
	mem.ProgressNotes = []notes.Progress{notes.ProgressOf("c",
		func(_ context.Context, in *notes.Input) (string, error) { return in.Transcript(100), nil })}
	mem.ContextReset = noted()
	mem.Rules = []memory.Rule{{When: memory.AtShare(.7)}}
	a := newAgent(t, agent.Config{Memory: mem, Tools: []tools.Tool{reading(800)}, Limits: agent.Limits{Steps: 50},
		Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			if req.Labels.Step > 20 {
				return answer("done"), nil
			}
			return callOf("read", Number{req.Labels.Step}), nil
		})})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			res, err := a.Run(context.Background(), agent.Input{Session: fmt.Sprint(i), Prompt: "go"})
			if err != nil || res.Status != agent.Completed {
				t.Errorf("session %d: %v %v", i, res, err)
			}
			if _, err := a.Session(fmt.Sprint(i)).Compact(context.Background(), 0); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestCallsBesideEachOtherAskForOneContextReset(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	next := tools.New(tools.Spec{Name: "next", ParallelSafe: true},
		func(ctx context.Context, in Number) (string, error) { return "ok", agent.RequestContextReset(ctx) })
	a, _ := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{next}}, calls("next", 1, 2, 3, 4, 5, 6),
		say("done"))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Len(t, of[*agent.RunStarted](all), 2)
}

func TestACallThatWasLeftBehindHandsNothingOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := small()
		mem.ContextReset = noted()
		free, late := make(chan struct{}), make(chan error, 1)
		stuck := tools.New(tools.Spec{Name: "stuck", ReadOnly: true, Timeout: time.Second},
			func(ctx context.Context, in Number) (string, error) {
				<-free
				late <- agent.RequestContextReset(ctx)
				return "", nil
			})
		then := tools.New(tools.Spec{Name: "then"}, func(context.Context, Number) (string, error) {
			close(free)
			return fmt.Sprint(<-late), nil
		})
		a, _ := scripted(t, agent.Config{Memory: mem, Tools: []tools.Tool{stuck, then}}, call("stuck", 1),
			call("then", 1), say("done"))
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		require.Len(t, of[*agent.RunStarted](all), 1)
		require.NotContains(t, asText(t, of[*agent.ToolFinished](all)), "<nil>")
	})
}

func TestAChildThatWaitsForAnApprovalAndHandsItsWorkOffGoesOnInEveryProcess(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	build := func(steps, childSteps []providertest.Step) *agent.Agent {
		mem := small()
		mem.ContextReset = noted()
		child := reopen(t,
			agent.Config{Name: "child", Memory: mem, Limits: agent.Limits{Tokens: 900}, Tools: []tools.Tool{
				done.tool(tools.Spec{Name: "risky", Approval: tools.AskAlways}), handing("next",
					func(context.Context, Number) (string, error) { return "ok", nil })}}, childSteps...)
		return reopen(t, agent.Config{Journal: store,
			Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Name: "child", Description: "works"})}}, steps...)
	}
	a := build([]providertest.Step{providertest.Call("child", map[string]any{"task": "do it"})},
		[]providertest.Step{call("next", 1), call("risky", 1)})
	res := run(t, a)
	require.Equal(t, agent.Paused, res.Status)
	require.Len(t, res.Pending, 1)

	b := build(nil, []providertest.Step{call("next", 2), call("risky", 2)})
	res = runInput(t, b, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.Equal(t, agent.Paused, res.Status)
	require.Equal(t, 1, done.of(1))

	c := build([]providertest.Step{say("thanks")}, []providertest.Step{say("all done")})
	res = runInput(t, c, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.Equal(t, "thanks", res.Text())
	require.Equal(t, 1, done.of(2))
	require.Contains(t, results(res)[0].Parts[0].Text, "all done")
	pruned, err := c.Session("s").Prune(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, pruned.Sessions)
}

// A thief is a store whose lease somebody else takes as soon as it is to be renewed.
type thief struct{ journal.Store }

func (s thief) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if err := s.Release(ctx, l); err == nil {
		if other, err := s.Lease(ctx, l.Session, "other", ttl); err == nil {
			_ = s.Release(ctx, other)
		}
	}
	return s.Store.Renew(ctx, l, ttl)
}

func TestALeaseThatIsLostWhileSomethingIsWrittenLeavesTheLogToAnother(t *testing.T) {
	wait := func(ctx context.Context) error {
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
		return context.Cause(ctx)
	}
	for name, set := range map[string]func(*agent.Memory){
		"the note of a context reset": func(m *agent.Memory) {
			m.ContextReset = &notes.ContextReset{
				Write: func(ctx context.Context, in *notes.Input) (notes.ResetNote, error) {
					in.Book(provider.Usage{Input: 10}, 0)
					return notes.ResetNote{}, wait(ctx)
				}}
		},
		"a checkpoint": func(m *agent.Memory) {
			m.ProgressNotes = []notes.Progress{notes.ProgressOf("c",
				func(ctx context.Context, in *notes.Input) (int, error) {
					in.Book(provider.Usage{Input: 10}, 0)
					return 1, wait(ctx)
				})}
		},
		"a context": func(m *agent.Memory) {
			m.Context = func(ctx context.Context, _ agent.ContextInput) (memory.Context, error) {
				return memory.Context{}, wait(ctx)
			}
		},
		"a summary": func(m *agent.Memory) {
			m.Steps = []memory.Step{
				{Strategy: summariser(t,
					providertest.Func(func(ctx context.Context, _ *provider.Request) (*provider.Response, error) {
						return nil, wait(ctx)
					}))}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				mem := small(memory.Step{Strategy: memory.Slide{}})
				set(mem)
				cfg := agent.Config{Memory: mem, Journal: thief{store}, Tools: []tools.Tool{reading(800)},
					Limits: agent.Limits{Steps: 50}}
				a, _ := scripted(t, cfg, reads(20)...)
				_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
				require.ErrorIs(t, err, agent.ErrBusy)
				requireSound(t, "s", facts(t, a, "s"))
				cfg.Journal, cfg.Memory = store, small(memory.Step{Strategy: memory.Slide{}})
				b := reopen(t, cfg, say("went on"))
				require.Equal(t, "went on", runInput(t, b, agent.Continue("s")).Text())
				requireSound(t, "s", facts(t, b, "s"))
			})
		})
	}
}

func TestContextIsToldWhatThePersonSaidLastAndNothingElse(t *testing.T) {
	var texts []string
	var a *agent.Agent
	mem := small()
	mem.ContextReset = noted()
	mem.Context = func(_ context.Context, in agent.ContextInput) (memory.Context, error) {
		texts = append(texts, in.Text)
		return memory.Context{}, nil
	}
	said := tools.New(tools.Spec{Name: "said"}, func(ctx context.Context, in Number) (string, error) {
		_, err := a.Session("s").Steer(ctx, "be quick")
		return "ok", err
	})
	ok := func(context.Context, Number) (string, error) { return "ok", nil }
	a, _ = scripted(t,
		agent.Config{Memory: mem, Tools: []tools.Tool{said, handing("next", ok)},
			Hooks: []agent.Hooks{{BeforeStep: func(context.Context, *agent.Step) error {
				return agent.Warn("mind the gap")
			}}}},
		call("next", 1), call("said", 1), call("next", 1), say("done"))
	run(t, a)
	require.Equal(t, []string{"go", "go", "be quick", "be quick"}, texts)
}

func TestAWarningIsToldOnceThoughTheCallIsMadeAgain(t *testing.T) {
	for _, screen := range []string{"", "page 42"} {
		store := &journal.MapStore{}
		mem := small()
		mem.Context = func(context.Context, agent.ContextInput) (memory.Context, error) {
			return memory.Context{Screen: screen}, nil
		}
		var sent []*provider.Request
		build := func(store journal.Store) *agent.Agent {
			return newAgent(t, agent.Config{Memory: mem, Journal: store, Tools: []tools.Tool{reading(1)},
				Hooks: []agent.Hooks{{BeforeStep: func(_ context.Context, s *agent.Step) error {
					s.System += "!"
					return agent.Warn(fmt.Sprintf("mind gap %d.", s.N))
				}}},
				Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
					sent = append(sent, req)
					if len(sent) == 1 {
						return callOf("read", Number{1}), nil
					}
					return answer("done"), nil
				})})
		}
		w := &weak{Store: store, at: 6, err: death, lasts: true}
		_, err := build(w).Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.Error(t, err)
		require.Len(t, sent, 2)
		res := runInput(t, build(store), agent.Continue("s"))
		require.Equal(t, "done", res.Text())
		require.Len(t, sent, 3)
		for _, req := range sent[1:] {
			require.Equal(t, 1, strings.Count(asText(t, req.Messages), "mind gap 2."))
		}
	}
}

func TestCheckpointsComeAtAQuarterHalfAndThreeQuartersAndNotAgainInAnotherProcess(t *testing.T) {
	store := &journal.MapStore{}
	var shares []float64
	build := func(steps ...providertest.Step) *agent.Agent {
		mem := small()
		mem.Rules = []memory.Rule{}
		mem.ProgressNotes = []notes.Progress{notes.ProgressOf("",
			func(_ context.Context, in *notes.Input) (int, error) {
				shares = append(shares, in.Share)
				return 1, nil
			})}
		ask := tools.New(tools.Spec{Name: "ask", Approval: tools.AskAlways},
			func(context.Context, Number) (string, error) { return "ok", nil })
		a, _ := unmeasured(t, agent.Config{Memory: mem, Journal: store, Tools: []tools.Tool{reading(800), ask},
			Limits: agent.Limits{Steps: 50}}, steps...)
		return a
	}
	res := run(t, build(call("read", 1), call("read", 2), call("read", 3), call("read", 4), call("ask", 1)))
	require.Len(t, shares, 2)
	res = runInput(t, build(call("read", 5), call("read", 6), call("read", 7), call("read", 8), say("done")),
		agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.Equal(t, agent.Completed, res.Status)
	require.Len(t, shares, 3, "%v", shares)
	for i, at := range []float64{.25, .5, .75} {
		require.GreaterOrEqual(t, shares[i], at)
		require.Less(t, shares[i], at+.15)
	}
	found, err := notes.Read[int](facts(t, build(), "s"), "checkpoint")
	require.NoError(t, err)
	require.Len(t, found, 3)
}

func TestANoteThatALogCannotKeepIsAWarning(t *testing.T) {
	for name, note := range map[string]string{
		"no JSON":         `{"a":`,
		"nothing":         "",
		"nested too deep": strings.Repeat("[", 2_000) + strings.Repeat("]", 2_000),
		"too long":        `"` + strings.Repeat("x", 65<<10) + `"`,
	} {
		mem := small()
		mem.ProgressNotes = []notes.Progress{{At: []float64{.0001},
			Write: func(context.Context, *notes.Input) (json.RawMessage, error) {
				return json.RawMessage(note), nil
			}}}
		a, _ := scripted(t, agent.Config{Memory: mem, Journal: &journal.MapStore{}}, say("done"))
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err, name)
		require.NotEmpty(t, of[*agent.MemoryWarning](all), name)
		require.NotEmpty(t, of[*machine.NoteWritten](all)[0].Error, name)
		require.Empty(t, of[*machine.NoteWritten](all)[0].Note, name)
		requireSound(t, "s", facts(t, a, "s"))
	}
}

func TestWhyThereIsNoNoteIsRedacted(t *testing.T) {
	fail := func(context.Context, *notes.Input) (notes.ResetNote, error) {
		return notes.ResetNote{}, errors.New("no access with secret-7\xff")
	}
	mem := small()
	mem.ContextReset = &notes.ContextReset{Write: fail}
	mem.ProgressNotes = []notes.Progress{notes.ProgressOf("c", fail, .0001)}
	a, _ := scripted(t, agent.Config{Memory: mem, Redact: func(s string) string {
		return strings.ReplaceAll(s, "secret-7", "[redacted]")
	},
		Tools: []tools.Tool{handing("next", func(context.Context, Number) (string, error) { return "ok", nil })}},
		call("next", 1), say("done"))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Len(t, of[*machine.NoteWritten](all), 2)
	for _, f := range of[*machine.NoteWritten](all) {
		require.Equal(t, "no access with [redacted]\uFFFD", f.Error)
	}
	require.NotContains(t, asText(t, all), "secret-7")
}

func TestTheWindowIsThatOfTheModelAndAToolThatReadsBackMayBeOnesOwn(t *testing.T) {
	read := tools.New(tools.Spec{Name: memory.ReadTool().Name, Description: "one's own", ReadOnly: true},
		func(context.Context, Number) (string, error) { return "one's own", nil })
	list := []tools.Tool{reading(800), read, nil}[:2]
	a := newAgent(t, agent.Config{Provider: informed{12_000, providertest.Script(reads(14)...)},
		Limits: agent.Limits{Steps: 50}, Tools: list,
		Memory: &agent.Memory{Config: memory.Config{Store: &memory.MapStore{}}}})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Equal(t, 12_000-4_096, of[*machine.Compacted](all)[0].Report.Budget)
	require.Equal(t, 2, a.Tools().Len())
	other := newAgent(t, agent.Config{Provider: providertest.Script(), Tools: list[:1],
		Memory: &agent.Memory{Config: memory.Config{Store: &memory.MapStore{}}}})
	require.Equal(t, 2, other.Tools().Len())
	d, err := list[1].Define()
	require.NoError(t, err)
	require.Equal(t, "one's own", d.Spec().Description, "what was given isn't written over")
}
