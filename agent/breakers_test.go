package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

var errReset = fault.New(fault.Transient, "connection reset")

// A flaky tool fails while down says so.
type flaky struct {
	done effects
	down func(ran int) error
	ran  int
}

func (f *flaky) tool(spec tools.Spec) tools.Tool {
	return tools.New(spec, func(_ context.Context, in Number) (string, error) {
		f.ran++
		if err := f.down(f.ran); err != nil {
			return "", err
		}
		f.done.add(in.N)
		return fmt.Sprintf("done %d", in.N), nil
	})
}

// open opens a breaker, for 10 s.
func open(t *testing.T, b *circuit.Breaker) {
	t.Helper()
	for range 3 {
		p, err := b.Allow()
		require.NoError(t, err)
		p.Done(errReset)
	}
	require.Equal(t, circuit.Open, b.State())
}

func TestAnOpenBreakerRefusesACallBeforeItIsRecorded(t *testing.T) {
	for name, reply := range map[string][]providertest.Step{
		"one by one":   {call("work", 1), call("work", 2), call("work", 3), call("work", 4), say("Done.")},
		"in one reply": {calls("work", 1, 2, 3, 4), say("Done.")},
		"beside another tool": {call("work", 1), call("work", 2), calls("work", 3),
			providertest.Calls(providertest.CallSpec{Tool: "work", Input: Number{4}},
				providertest.CallSpec{Tool: "other", Input: Number{1}}), say("Done.")},
	} {
		for _, spec := range []tools.Spec{{Name: "work"}, {Name: "work", ReadOnly: true, NoRetries: true}} {
			t.Run(fmt.Sprintf("%s, read-only %v", name, spec.ReadOnly), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := flaky{down: func(int) error { return errReset }}
					var other effects
					cfg := agent.Config{Tools: []tools.Tool{f.tool(spec),
						other.tool(tools.Spec{Name: "other", ReadOnly: true})}}
					a, _ := scripted(t, cfg, append(slices.Clone(reply), call("work", 9), say("Still."))...)
					began := time.Now()
					all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
					require.NoError(t, err)
					want := 3
					if together := name == "in one reply" && spec.ReadOnly; together { // before any has failed
						want = 4
					}
					require.Equal(t, want, f.ran)
					started := map[string]bool{}
					for _, s := range of[*agent.ToolStarted](all) {
						started[s.Meta.Call] = true
					}
					notes := of[*agent.BreakerOpen](all)
					require.Len(t, notes, 4-want)
					for _, n := range notes {
						require.False(t, started[n.NoteMeta.Call], "nothing is recorded that could be in doubt")
						require.Equal(t, "work", n.Tool)
						require.Equal(t, "tool:work", n.Err.Name)
						require.Equal(t, began.Add(10*time.Second), n.Until)
					}
					refused := 0
					for i, ev := range all {
						f, ok := ev.(*agent.ToolFinished)
						if !ok || f.Result.Status != tools.Unavailable {
							continue
						}
						refused++
						require.Equal(t, fault.Degraded, f.Result.Class)
						require.True(t, f.Result.Error)
						require.Contains(t, f.Result.Text(),
							`"work" is temporarily unavailable, because calls like it have failed. Try again in 10s, or do something else.`)
						require.Zero(t, f.Took)
						before := false
						for _, ev := range all[:i] {
							n, ok := ev.(*agent.BreakerOpen)
							before = before || ok && n.NoteMeta.Call == f.Meta.Call
						}
						require.True(t, before, "the note comes before the result")
					}
					require.Len(t, notes, refused)
					require.Equal(t, "Done.", of[*agent.RunEnded](all)[0].Result.Text())
					requireSound(t, "s", facts(t, a, "s"))

					res := runInput(t, a, agent.Input{Session: "another", Prompt: "go"})
					require.Equal(t, want, f.ran, "all sessions share it")
					require.Equal(t, "Still.", res.Text())
				})
			})
		}
	}
}

func TestAgentsMayShareBreakersAndToolsMayHaveNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := circuit.NewSet(circuit.Tool())
		one, two := flaky{down: func(int) error { return errReset }}, flaky{down: func(int) error { return errReset }}
		cfg := agent.Config{Breakers: set,
			Tools: []tools.Tool{one.tool(tools.Spec{Name: "work", Resource: "network:cms"}),
				two.tool(tools.Spec{Name: "free", NoBreaker: true})}}
		script := []providertest.Step{calls("work", 1, 2), calls("free", 1, 2, 3), calls("free", 4), say("Done.")}
		a, _ := scripted(t, cfg, script...)
		b, _ := scripted(t, cfg, script...)
		run(t, a)
		require.Equal(t, 2, one.ran)
		run(t, b)
		require.Equal(t, 3, one.ran)
		require.Equal(t, 8, two.ran)
		require.Len(t, set.Snapshot(), 1)
		require.Equal(t, "network:cms", set.Snapshot()[0].Name)
	})
}

func TestACallThatIsTriedAgainSaysWhyAndUntilWhen(t *testing.T) {
	limited := fault.WithRetryAfter(fault.New(fault.RateLimited, "too many requests"), 7*time.Second)
	for _, quick := range []bool{false, true} { // on the goroutine of the run
		t.Run(fmt.Sprint("quick: ", quick), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const warm = 10
				f := flaky{down: func(ran int) error {
					return map[int]error{warm + 1: limited, warm + 2: errReset}[ran]
				}}
				a, _ := scripted(t, agent.Config{Limits: agent.Limits{Steps: 20},
					Tools: []tools.Tool{f.tool(tools.Spec{Name: "work", Idempotent: true, Inline: quick})}},
					calls("work", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), call("work", 11), say("Done."))
				var all []agent.Event
				for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
					require.NoError(t, err)
					if w, ok := ev.(*agent.Waiting); ok && w.Reason == provider.WaitRateLimited {
						require.Equal(t, 7*time.Second, time.Until(w.Until), "it is shown when the wait begins")
					}
					all = append(all, ev)
				}
				require.Equal(t, warm+3, f.ran)
				require.Equal(t, warm+1, f.done.all())
				waits := of[*agent.Waiting](all)
				require.Len(t, waits, 2)
				id := of[*agent.ToolStarted](all)[warm].Meta.Call
				for i, reason := range []provider.WaitReason{provider.WaitRateLimited, provider.WaitBackingOff} {
					require.Equal(t, id, waits[i].NoteMeta.Call)
					require.Equal(t, 2, waits[i].NoteMeta.Step)
					require.Equal(t, reason, waits[i].Reason)
					require.Equal(t, i+2, waits[i].Attempt)
					require.False(t, waits[i].Until.IsZero())
				}
				require.Equal(t, "retrying after a rate_limited failure", waits[0].Detail)
				finished := of[*agent.ToolFinished](all)
				require.Zero(t, finished[0].Attempts)
				require.Equal(t, 3, finished[warm].Attempts)
				require.Len(t, of[*agent.ToolStarted](all), warm+1,
					"a call is recorded once, however often it is tried")
				requireSound(t, "s", facts(t, a, "s"))
			})
		})
	}
}

func TestLeavingDuringTheWaitForARetryEndsIt(t *testing.T) {
	for _, quick := range []bool{false, true} {
		for _, panics := range []bool{false, true} {
			t.Run(fmt.Sprintf("quick: %v, panics: %v", quick, panics), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const warm = 10
					f := flaky{down: func(ran int) error {
						if ran > warm {
							return fault.WithRetryAfter(errReset, 30*time.Second)
						}
						return nil
					}}
					s := &swap{p: providertest.Script(calls("work", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), call("work", 11),
						say("Done."))}
					a := newAgent(t, agent.Config{Provider: s,
						Tools: []tools.Tool{f.tool(tools.Spec{Name: "work", Idempotent: true, Inline: quick})}})
					began := time.Now()
					leave := func() {
						for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
							if _, ok := ev.(*agent.Waiting); ok && panics {
								panic("the consumer")
							} else if ok {
								return
							}
						}
					}
					if panics {
						require.PanicsWithValue(t, "the consumer", leave)
					} else {
						leave()
					}
					require.Zero(t, time.Since(began))
					require.Equal(t, warm+1, f.ran)
					requireFree(t, a, s, "s")
				})
			})
		}
	}
}

func TestACallThatIsLeftBehindEndsItsProbe(t *testing.T) {
	for name, c := range map[string]struct {
		cancel bool
		state  circuit.State
	}{
		"at its time limit":         {false, circuit.Open},
		"when its run was canceled": {true, circuit.HalfOpen},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := circuit.NewSet(circuit.Tool())
				b := set.Get("tool:deaf")
				open(t, b)
				<-time.After(10 * time.Second)
				var done effects
				release := make(chan struct{})
				a, _ := scripted(t, agent.Config{Breakers: set, InDoubt: agent.TellInDoubt,
					Tools: []tools.Tool{deaf(&done, tools.Spec{Name: "deaf", Timeout: 10 * time.Second}, release)}},
					call("deaf", 1), say("Done."))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel {
					defer time.AfterFunc(time.Second, cancel).Stop()
				}
				_, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
				require.ErrorIs(t, err, ctx.Err())
				require.Equal(t, 1, a.Abandoned())
				now := b.Snapshot()
				require.Equal(t, c.state, now.State)
				require.Zero(t, now.Probes)
				close(release)
				synctest.Wait()
				require.Zero(t, a.Abandoned())
				require.Equal(t, now, b.Snapshot(), "what it returned counts for nothing")
			})
		})
	}
}

func TestACallThatIsNotRunAfterAllEndsItsProbe(t *testing.T) {
	for name, leave := range map[string]func(){"leaves": func() {}, "panics": func() { panic("the consumer") }} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := circuit.NewSet(circuit.Tool())
				open(t, set.Get("tool:work"))
				<-time.After(10 * time.Second)
				var done effects
				a, _ := scripted(t, agent.Config{Breakers: set,
					Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}, call("work", 1), say("Done."))
				func() {
					defer func() { _ = recover() }()
					for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
						if _, ok := ev.(*agent.ToolStarted); ok {
							leave()
							return
						}
					}
				}()
				require.Zero(t, done.all())
				now := set.Get("tool:work").Snapshot()
				require.Equal(t, circuit.HalfOpen, now.State)
				require.Zero(t, now.Probes)
			})
		})
	}
}

func TestACallWhoseRunEndsBeforeItIsRecordedEndsItsProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := circuit.Tool()
		cfg.ClosesAfter = 2
		set := circuit.NewSet(cfg)
		open(t, set.Get("tool:work"))
		<-time.After(10 * time.Second)
		ran := 0
		work := tools.Func[Number, string]{Spec: tools.Spec{Name: "work", ParallelSafe: true},
			Check: func(context.Context, Number) error { <-time.After(3 * time.Second); return nil },
			Run:   func(context.Context, Number) (string, error) { ran++; return "", nil }}
		a, _ := scripted(t, agent.Config{Breakers: set, Tools: []tools.Tool{work}}, calls("work", 1, 2))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		<-time.After(time.Minute)
		require.Zero(t, ran)
		now := set.Get("tool:work").Snapshot()
		require.Equal(t, circuit.HalfOpen, now.State)
		require.Zero(t, now.Probes)
	})
}

func TestACallInDoubtThatABreakerRefusesStaysInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, left := &journal.MapStore{}, &journal.MapStore{}
		set := circuit.NewSet(circuit.Tool())
		f := flaky{down: func(int) error { return nil }}
		cfg := agent.Config{Journal: store, Breakers: set,
			Tools: []tools.Tool{f.tool(tools.Spec{Name: "work", Idempotent: true})}}
		run(t, reopen(t, cfg, call("work", 1), say("Done.")))
		cut(t, store, left, "tool_finished")
		open(t, set.Get("tool:work"))
		cfg.Journal = left
		b := reopen(t, cfg, say("On."))
		res := runInput(t, b, agent.Continue("s"))
		require.Equal(t, "On.", res.Text())
		require.Equal(t, 1, f.ran)
		got := finished(t, b, "s")[0]
		require.Equal(t, tools.InDoubt, got.Status)
		require.Contains(t, got.Text(), "It was started before, and it is not known whether it had its effect then.")
		requireSound(t, "s", facts(t, b, "s"))
	})
}

func TestALongProbeClosesTheBreakerOfAnAgentsOwn(t *testing.T) {
	for name, spec := range map[string]tools.Spec{
		"by its time limit": {Name: "long", ParallelSafe: true, Timeout: 10 * time.Minute},
		"by its progress":   {Name: "long", ParallelSafe: true, Progress: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ran atomic.Int32
				long := tools.New(spec, func(ctx context.Context, _ Number) (string, error) {
					if ran.Add(1) <= 3 {
						return "", errReset
					}
					for range 27 {
						tools.Progress(ctx, tools.ProgressReport{})
						if err := wait(ctx, 20*time.Second); err != nil {
							return "", err
						}
					}
					return "ok", nil
				})
				pause := tools.New(tools.Spec{Name: "pause"}, func(ctx context.Context, _ Number) (string, error) {
					return "ok", wait(ctx, 10*time.Second)
				})
				a, _ := scripted(t, agent.Config{Tools: []tools.Tool{long, pause}},
					call("long", 1), call("long", 2), call("long", 3), call("pause", 1), call("long", 4),
					calls("long", 5, 6), say("Done."))
				require.Equal(t, "Done.", run(t, a).Text())
				require.EqualValues(t, 6, ran.Load(), "one call was let pass to try; after it, all are")
			})
		})
	}
}

func TestAnAgentThatIsAToolIsNeitherTriedAgainNorStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := func() providertest.Step { return providertest.Fail(fault.Degraded) }
		child := providertest.Script(down(), down(), down(), down(), say("At last."))
		c := newAgent(t, agent.Config{Name: "child", Provider: child, NoGuard: true})
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{agent.AsTool(c, tools.Spec{Description: "does it"})}},
			task("child", "1"), task("child", "2"), task("child", "3"), task("child", "4"), task("child", "5"),
			say("Done."))
		res := run(t, a)
		child.AssertCalls(t, 5)
		require.Equal(t, "Done.", res.Text())
		require.Equal(t, tools.OK, finished(t, a, "s")[4].Status)
	})
}

func TestWhatATriedCallSaysIsForTheModelToRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := flaky{down: func(int) error { return errors.Join(errReset, errors.New("at page 3")) }}
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{f.tool(tools.Spec{Name: "look", ReadOnly: true})}},
			call("look", 1), say("Done."))
		res := run(t, a)
		require.Equal(t, "connection reset\nat page 3 (tried 3 times)", results(res)[0].Text())
	})
}

func TestAPanicOfWhoWatchesABreakerIsNoBusinessOfItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, told := circuit.Tool(), 0
		cfg.OnChange = func(circuit.Change) { told++; panic("on change") }
		tool := tools.New(tools.Spec{Name: "work", ParallelSafe: true},
			func(_ context.Context, in Number) (string, error) {
				if in.N < 4 {
					return "", fault.New(fault.Transient, "down")
				}
				return "done", nil
			})
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tool}, Breakers: circuit.NewSet(cfg)},
			calls("work", 1, 2, 3), say("on"), calls("work", 4, 5), say("on"))
		require.Equal(t, agent.Completed, run(t, a).Status)
		<-time.After(time.Minute) // it lets a probe pass
		res := run(t, a)
		require.Equal(t, agent.Completed, res.Status)
		require.Equal(t, "done", results(res)[0].Text())
		require.GreaterOrEqual(t, told, 2)
	})
}
