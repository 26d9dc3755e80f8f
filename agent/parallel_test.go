package agent_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestWhatOneCallDoesLosesNoneOfTheOthersResults(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		first  func(context.Context) error
		status tools.Status
		abort  bool
	}{
		"fails":   {func(context.Context) error { return boom }, tools.Failed, false},
		"panics":  {func(context.Context) error { panic(boom) }, tools.Failed, false},
		"goexits": {func(context.Context) error { runtime.Goexit(); return nil }, tools.Failed, false},
		"aborts":  {func(context.Context) error { return nil }, tools.OK, true},
	} {
		for _, at := range []int{1, 2, 3} { // before, beside and after the others
			t.Run(fmt.Sprintf("%s after %d s", name, at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var done effects
					bad := tools.New(tools.Spec{Name: "bad", ParallelSafe: true},
						func(ctx context.Context, in Number) (string, error) {
							if err := wait(ctx, time.Duration(at)*time.Second-time.Millisecond); err != nil {
								return "", err
							}
							return "bad", c.first(ctx)
						})
					cfg := agent.Config{Tools: []tools.Tool{bad,
						done.slow(tools.Spec{Name: "slow", ParallelSafe: true})}}
					if c.abort {
						cfg.Hooks = []agent.Hooks{
							{AfterTool: func(_ context.Context, call *agent.ToolCall, _ *agent.ToolResult) error {
								if call.Name == "bad" {
									return agent.Abort(boom)
								}
								return nil
							}}}
					}
					a, _ := scripted(t, cfg, providertest.Calls(
						providertest.CallSpec{Tool: "slow", Input: Number{1}},
						providertest.CallSpec{Tool: "bad", Input: Number{9}},
						providertest.CallSpec{Tool: "slow", Input: Number{2}},
						providertest.CallSpec{Tool: "slow", Input: Number{3}}), say("Done."))
					res := run(t, a)
					got := results(res)
					require.Len(t, got, 4)
					require.Len(t, finished(t, a, "s"), 4)
					for i, n := range []int{1, 0, 2, 3} {
						if n == 0 {
							continue
						}
						if c.abort && n >= at {
							require.Zero(t, done.of(n))
							require.True(t, got[i].Error)
							continue
						}
						require.Equal(t, fmt.Sprintf("done %d", n), got[i].Text())
						require.Equal(t, 1, done.of(n))
					}
					if c.abort {
						require.ErrorIs(t, res.Err(), boom)
					} else {
						require.Equal(t, "Done.", res.Text())
					}
					for _, f := range facts(t, a, "s") {
						if f, ok := f.(*agent.ToolFinished); ok && f.Call.Name == "bad" {
							require.Equal(t, c.status, f.Result.Status)
						}
					}
					requireSound(t, "s", facts(t, a, "s"))
				})
			})
		}
	}
}

func TestNoMoreCallsRunAtATimeThanTheCapAllows(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 0, -1} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var now, most atomic.Int32
				work := tools.New(tools.Spec{Name: "work", ReadOnly: true},
					func(ctx context.Context, in Number) (string, error) {
						n := now.Add(1)
						for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
						}
						defer now.Add(-1)
						return "ok", wait(ctx, time.Second)
					})
				a, _ := scripted(t, agent.Config{Tools: []tools.Tool{work}, Limits: agent.Limits{ParallelCalls: limit}},
					calls("work", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), say("Done."))
				began := time.Now()
				require.Equal(t, "Done.", run(t, a).Text())
				want := map[int]int32{1: 1, 2: 2, 3: 3, 0: 8, -1: 12}[limit]
				require.Equal(t, want, most.Load())
				require.Equal(t, time.Duration((12+want-1)/want)*time.Second, time.Since(began).Truncate(time.Second))
			})
		})
	}
}

func TestABarrierRunsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		spec := func(name string, parallel bool) tools.Tool {
			return tools.New(tools.Spec{Name: name, ParallelSafe: parallel},
				func(ctx context.Context, in Number) (string, error) {
					others := running.Add(1) - 1
					defer running.Add(-1)
					if err := wait(ctx, time.Second); err != nil {
						return "", err
					}
					if others = max(others, running.Load()-1); !parallel && others > 0 {
						return "", errors.New("not alone")
					}
					return "ok", nil
				})
		}
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{spec("beside", true), spec("alone", false)}},
			providertest.Calls(
				providertest.CallSpec{Tool: "beside", Input: Number{1}},
				providertest.CallSpec{Tool: "beside", Input: Number{2}},
				providertest.CallSpec{Tool: "alone", Input: Number{3}},
				providertest.CallSpec{Tool: "alone", Input: Number{4}},
				providertest.CallSpec{Tool: "beside", Input: Number{5}},
				providertest.CallSpec{Tool: "beside", Input: Number{6}}), say("Done."))
		began := time.Now()
		for _, r := range results(run(t, a)) {
			require.Equal(t, "ok", r.Text())
		}
		require.Equal(t, 4*time.Second, time.Since(began).Truncate(time.Second))
	})
}

// deaf returns a tool that ignores its context until release is closed, and then reports success.
func deaf(done *effects, spec tools.Spec, release chan struct{}) tools.Tool {
	return tools.New(spec, func(_ context.Context, in Number) (string, error) {
		<-release
		done.add(in.N)
		return "late", nil
	})
}

func TestACallThatIgnoresItsTimeLimitIsLeftBehind(t *testing.T) {
	for name, c := range map[string]struct {
		spec    tools.Spec
		inDoubt agent.InDoubt
		status  tools.Status // empty: the run pauses
	}{
		"one that may be repeated": {tools.Spec{Name: "deaf", Idempotent: true, Timeout: 10 * time.Second},
			agent.AskInDoubt, tools.TimedOut},
		"one that may not": {tools.Spec{Name: "deaf", Timeout: 10 * time.Second}, agent.AskInDoubt, ""},
		"one that may not, told": {tools.Spec{Name: "deaf", Timeout: 10 * time.Second}, agent.TellInDoubt,
			tools.InDoubt},
		"by default": {tools.Spec{Name: "deaf", ReadOnly: true}, agent.AskInDoubt, tools.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var done effects
				after := 0
				release := make(chan struct{})
				a, model := scripted(t, agent.Config{Journal: &journal.MapStore{}, InDoubt: c.inDoubt,
					Tools: []tools.Tool{deaf(&done, c.spec, release)},
					Hooks: []agent.Hooks{{AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
						after++
						return nil
					}}}},
					call("deaf", 1), say("Done."))
				began := time.Now()
				res := run(t, a)
				limit := c.spec.Timeout
				if limit == 0 {
					limit = tools.DefaultTimeout
				}
				require.Equal(t, limit+5*time.Second, time.Since(began))
				require.Equal(t, 1, a.Abandoned())
				if c.status == "" {
					require.Equal(t, agent.Paused, res.Status)
					require.Equal(t, agent.PauseInDoubt, res.Pending[0].Kind)
				} else {
					require.Equal(t, "Done.", res.Text())
					require.Equal(t, c.status, finished(t, a, "s")[0].Status)
				}
				log := len(facts(t, a, "s"))
				close(release)
				synctest.Wait()
				require.Zero(t, a.Abandoned())
				require.Equal(t, 1, done.all(), "it did return")
				require.Len(t, facts(t, a, "s"), log, "its late result is dropped")
				if c.status == "" {
					res = runInput(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, "it happened")))
					require.Equal(t, "Done.", res.Text())
					require.Equal(t, 1, done.all())
				}
				require.Equal(t, 1, after)
				model.AssertDidNotSee(t, 1, providertest.ToolResultText("deaf", "late"))
				requireSound(t, "s", facts(t, a, "s"))
			})
		})
	}
}

func TestACanceledRunLeavesADeafCallBehindInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		release := make(chan struct{})
		defer close(release)
		a, _ := scripted(t,
			agent.Config{Limits: agent.Limits{ParallelCalls: 1},
				Tools: []tools.Tool{deaf(&done, tools.Spec{Name: "deaf", ParallelSafe: true}, release)}},
			calls("deaf", 1, 2, 3))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 6*time.Second, time.Since(began))
		require.Equal(t, machine.CodeCanceled, res.Code)
		require.Equal(t, 1, a.Abandoned())
		var got []tools.Status
		for _, r := range finished(t, a, "s") {
			got = append(got, r.Status)
		}
		require.Equal(t, []tools.Status{tools.InDoubt, tools.NotRun, tools.NotRun}, got)
	})
}

func TestACallThatWasLeftBehindCantTouchTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, errs := make(chan struct{}), make(chan error, 2)
		bad := tools.New(tools.Spec{Name: "bad", ReadOnly: true, Timeout: time.Second},
			func(ctx context.Context, _ Number) (string, error) {
				<-release
				errs <- agent.SetPhase(ctx, "late")
				errs <- agent.SwitchMode(ctx, "other", "late")
				return "", nil
			})
		a, _ := scripted(t, agent.Config{Modes: []agent.Mode{{Name: "one"}, {Name: "other"}}, Tools: []tools.Tool{bad}},
			call("bad", 1), providertest.Slow(time.Second, say("Done and done.")))
		for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			require.NoError(t, err)
			if ev, ok := ev.(*agent.StepStarted); ok && ev.Step == 2 {
				close(release)
			}
		}
		require.Error(t, <-errs)
		require.Error(t, <-errs)
		for _, f := range facts(t, a, "s") {
			require.NotContains(t, fmt.Sprintf("%T", f), "Changed")
		}
	})
}

func TestProgressIsShownAndMovesTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		work := tools.New(tools.Spec{Name: "work", Progress: true, Timeout: 20 * time.Second},
			func(ctx context.Context, _ Number) (string, error) {
				for i := range 10 {
					tools.Progress(ctx, tools.ProgressReport{Text: "working", Done: float64(i) / 10})
					if err := wait(ctx, 15*time.Second); err != nil {
						return "", err
					}
				}
				return "ok", nil
			})
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{work}}, call("work", 1), say("Done."))
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		notes := of[*agent.Progress](all)
		require.Len(t, notes, 10)
		require.Equal(t, 0.9, notes[9].Done)
		require.Equal(t, of[*agent.ToolStarted](all)[0].Meta.Call, notes[0].NoteMeta.Call)
		require.Equal(t, tools.OK, of[*agent.ToolFinished](all)[0].Result.Status)
	})
}

func TestACallReadsItsStateWhileAnotherCallEmits(t *testing.T) {
	emit := tools.New(tools.Spec{Name: "emit", ParallelSafe: true},
		func(ctx context.Context, _ Number) (string, error) {
			for range 100 {
				if err := agent.Emit(ctx, "n", 1); err != nil {
					return "", err
				}
			}
			return "ok", nil
		})
	var calls []providertest.CallSpec
	for i := range 20 {
		calls = append(calls, providertest.CallSpec{Tool: "emit", Input: Number{i}})
	}
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{emit}}, providertest.Calls(calls...), say("Done."))
	require.Equal(t, "Done.", run(t, a).Text())
}

func TestChecksOfCallsBesideEachOtherTakeTheirTimeBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		slow := tools.Func[Number, string]{Spec: tools.Spec{Name: "slow", ParallelSafe: true},
			Check: func(context.Context, Number) error { <-time.After(time.Second); return nil },
			Run:   func(_ context.Context, in Number) (string, error) { done.add(in.N); return "", nil }}
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{slow}}, calls("slow", 1, 2, 3), say("Done."))
		began := time.Now()
		run(t, a)
		require.Equal(t, 3, done.all())
		require.Less(t, time.Since(began), 2*time.Second)
	})
}
