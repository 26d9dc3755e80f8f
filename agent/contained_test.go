package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// The tests in this file hold that what one part of a run does wrong, or too late, stays with that
// part.

func TestACallDoesntRunOnceItsRunWasCanceledDuringItsCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{slowCheck(&done, 3*time.Second)}}, calls("work", 1, 2))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		res, _ := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.Equal(t, agent.Stopped, res.Status)
		<-time.After(time.Minute)
		require.Zero(t, done.all())
	})
}

func TestAnErrorOfABareProviderIsntForgottenForWhatFollows(t *testing.T) {
	broken := errors.New("broken")
	a := newAgent(t, agent.Config{NoGuard: true,
		Provider: provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
			return func(yield func(provider.Chunk, error) bool) {
				_ = yield(provider.Start("m"), nil) && yield(provider.Text("half"), nil)
				if yield(provider.Chunk{}, broken) {
					yield(provider.End(provider.StopDone, provider.Usage{}), nil)
				}
			}
		})})
	_, err := a.Run(t.Context(), agent.Input{Prompt: "go"})
	require.ErrorIs(t, err, broken)
}

func TestEveryEndThatAStreamShowsHasItsResult(t *testing.T) {
	var done effects
	a, _ := scripted(t,
		agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways})}},
		call("ask", 1), say("on"))
	require.Equal(t, agent.Paused, run(t, a).Status)
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "again", Supersede: true}))
	require.NoError(t, err)
	ends := of[*agent.RunEnded](all)
	require.NotEmpty(t, ends)
	for _, end := range ends {
		require.NotNil(t, end.Result)
	}
}

func TestAPauseThatExpiredWhileNoProcessLivedCostsNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		store, left := &journal.MapStore{}, &journal.MapStore{}
		cfg := agent.Config{Journal: store, Tools: []tools.Tool{
			done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways, Expires: time.Minute})}}
		run(t, reopen(t, cfg, call("ask", 1)))
		cut(t, store, left, "run_ended")
		<-time.After(30 * 24 * time.Hour)
		cfg.Journal = left
		b := reopen(t, cfg, call("ask", 2), say("on"))
		res := runInput(t, b, agent.Continue("s"))
		require.Equal(t, agent.Paused, res.Status)
		res = runInput(t, b, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
		require.Equal(t, agent.Completed, res.Status, "%v", res.Err())
		require.Equal(t, 0, done.of(1))
		require.Equal(t, 1, done.of(2))
	})
}

// besideAPause holds a run whose one call asks for approval while the other does something to the
// run.
func besideAPause(t *testing.T, cfg agent.Config, do func(ctx context.Context, a *agent.Agent) error) *agent.Result {
	t.Helper()
	var done effects
	var a *agent.Agent
	work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
		return "x", do(ctx, a)
	})
	cfg.Tools = []tools.Tool{work, done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways})}
	a, _ = scripted(t, cfg, providertest.Calls(
		providertest.CallSpec{Tool: "ask", Input: Number{1}}, providertest.CallSpec{Tool: "work", Input: Number{1}}),
		say("on"))
	res := run(t, a)
	require.Zero(t, done.all())
	return res
}

func TestAStopIsntLostToAPause(t *testing.T) {
	res := besideAPause(t, agent.Config{}, func(ctx context.Context, a *agent.Agent) error {
		return a.Session("s").Stop(ctx)
	})
	require.Equal(t, agent.Stopped, res.Status)
}

// What another process asks for is posted when the run has paused already.
func TestAStopThatIsPostedTooLateForAPauseEndsTheRun(t *testing.T) {
	for code, end := range map[string]func(*agent.Session) error{
		machine.CodeHost:     func(s *agent.Session) error { return s.Stop(context.Background()) },
		machine.CodeCanceled: func(s *agent.Session) error { return s.Cancel(context.Background()) },
	} {
		t.Run(code, func(t *testing.T) {
			cfg := agent.Config{Journal: &journal.MapStore{}}
			late := &latePost{cfg.Journal, make(chan struct{}), make(chan struct{})}
			other, _ := scripted(t, agent.Config{Journal: late})
			ended := make(chan error)
			require.Equal(t, agent.Paused, besideAPause(t, cfg, func(context.Context, *agent.Agent) error {
				go func() { ended <- end(other.Session("s")) }()
				<-late.posting
				return nil
			}).Status)
			close(late.post)
			require.NoError(t, <-ended)
			next := agent.Continue("s")
			next.AcceptChanges = true // this process hasn't the tools
			_, err := other.Run(t.Context(), next)
			require.ErrorIs(t, err, agent.ErrNothingOpen)
			res, err := other.Session("s").Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, agent.Stopped, res.Status)
			require.Equal(t, code, res.Code)
		})
	}
}

func TestASwitchOfTheModeIsntLostToAPause(t *testing.T) {
	res := besideAPause(t, agent.Config{Modes: []agent.Mode{{Name: "one"}, {Name: "two"}}},
		func(ctx context.Context, a *agent.Agent) error { return a.Session("s").SetMode(ctx, "two") })
	require.Equal(t, agent.Paused, res.Status)
	require.Equal(t, "two", res.Mode)
}

func TestAReceiptNeverNamesAStepThatNeverCame(t *testing.T) {
	var done effects
	a, model := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})},
		StopWhen: []stop.Condition{stop.AfterTool("work")}}, call("work", 1), say("on"))
	var receipt *agent.Receipt
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		if _, ok := ev.(*agent.ToolFinished); ok {
			receipt, err = a.Session("s").Steer(t.Context(), "hello")
			require.NoError(t, err)
		}
	}
	step, err := receipt.Wait(t.Context())
	require.ErrorContains(t, err, "before the message could be delivered")
	require.Zero(t, step)
	require.Len(t, model.Requests(), 1)
}

func TestNoProgressIsShownAfterItsResult(t *testing.T) {
	work := tools.New(tools.Spec{Name: "work", Progress: true}, func(ctx context.Context, _ Number) (string, error) {
		tools.Progress(ctx, tools.ProgressReport{Text: "half", Done: .5})
		return "x", nil
	})
	for range 50 {
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{work}}, call("work", 1), say("on"))
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		over := false
		for _, ev := range all {
			switch ev.(type) {
			case *agent.ToolFinished:
				over = true
			case *agent.Progress:
				require.False(t, over)
			}
		}
		require.True(t, over)
	}
}

func TestASessionThatAnotherAgentRunsIsntForgotten(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("on"))
	b, _ := scripted(t, agent.Config{Journal: store})
	steps := 0
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		if _, ok := ev.(*agent.StepStarted); ok {
			steps++
			require.ErrorIs(t, b.Session("s").Delete(t.Context()), agent.ErrBusy)
		}
	}
	require.Equal(t, 1, steps)
	require.NoError(t, b.Session("s").Delete(t.Context()))
}

func TestCallsRepeatedWithinOneReplyAreCutShort(t *testing.T) {
	var done effects
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
		calls("work", make([]int, 30)...), say("on"))
	res := run(t, a)
	require.LessOrEqual(t, done.all(), 5)
	var limit *agent.LimitError
	require.ErrorAs(t, res.Err(), &limit)
	require.Equal(t, machine.LimitRepeats, limit.Limit)
}

func TestAnUnnamedSessionLeavesNothingInTheJournal(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("on"))
	runInput(t, a, agent.Input{Prompt: "go"})
	for h, err := range store.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		require.Fail(t, "kept", "%s %s", h.Session, h.Status)
	}
}

func TestMediaThatAToolGoesOnUsingStaysAsItWasGiven(t *testing.T) {
	buf := []byte{1}
	work := tools.New(tools.Spec{Name: "work"}, func(_ context.Context, in Number) (tools.Result, error) {
		buf[0] = byte(in.N)
		return tools.Result{Parts: []provider.Part{provider.MediaPart(provider.Media{Type: "image/png", Data: buf})}},
			nil
	})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{work}, Journal: &journal.MapStore{}}, call("work", 7),
		call("work", 8), say("on"))
	res := run(t, a)
	m, err := machine.Replay("s", facts(t, a, "s")...)
	require.NoError(t, err)
	kept, err := json.Marshal(m.State().Messages)
	require.NoError(t, err)
	held, err := json.Marshal(res.Messages)
	require.NoError(t, err)
	require.JSONEq(t, string(kept), string(held))
}

func TestAHookOfARunWithinARunReachesItsOwnRunAlone(t *testing.T) {
	var late error
	child := newAgent(t, agent.Config{Provider: providertest.Script(say("c")), Hooks: []agent.Hooks{{Name: "h",
		AfterRun: func(ctx context.Context, _ *agent.Result) error {
			late = agent.SetPhase(ctx, "of the child")
			return nil
		}}}})
	work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
		_, err := child.Run(ctx, agent.Input{Prompt: "go"})
		return "x", err
	})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{work}}, call("work", 1), say("on"))
	res := run(t, a)
	require.Equal(t, "on", res.Text())
	require.Empty(t, res.Phase)
	require.False(t, results(res)[0].Error)
	require.Error(t, late, "the run of the hook is over")
}

// costly is a provider whose model has a price.
type costly struct{ provider.Provider }

func (costly) Info() provider.ModelInfo {
	return provider.ModelInfo{Prices: &provider.Prices{Input: provider.USD, Output: provider.USD}}
}

func TestAReplyThatAHookAbortsIsStillPaidFor(t *testing.T) {
	p := costly{chunked(provider.Start("m"), provider.Text("x"),
		provider.End(provider.StopDone, provider.Usage{Input: 1e6, Output: 1e6}))}
	a := newAgent(t, agent.Config{Provider: p, Hooks: []agent.Hooks{{Name: "h",
		AfterStep: func(context.Context, *agent.Step, *provider.Response) error {
			return agent.Abort(errors.New("no"))
		}}}})
	res, err := a.Run(t.Context(), agent.Input{Prompt: "go"})
	require.ErrorAs(t, err, new(*agent.AbortError))
	require.Equal(t, agent.Stopped, res.Status)
	require.EqualValues(t, 2e6, res.Usage.Total())
	require.NotZero(t, res.Cost)
}

// apart holds a run on a goroutine of its own, and fails the test unless it returns within a minute
// of the bubble.
func apart(t *testing.T, a *agent.Agent) (res *agent.Result, err error) {
	t.Helper()
	err = errors.New("the goroutine of the run has ended")
	done := make(chan struct{})
	go func() {
		defer close(done)
		res, err = a.Run(context.Background(), agent.Input{Session: "s", Prompt: "go"})
	}()
	select {
	case <-done:
		return res, err
	case <-time.After(time.Minute):
		require.FailNow(t, "the run hangs")
		return nil, nil
	}
}

func TestAHookThatEndsItsGoroutineHangsNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t,
			agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}, Hooks: []agent.Hooks{{Name: "h",
				AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
					runtime.Goexit()
					return nil
				}}}}, call("work", 1), say("on"))
		res, err := apart(t, a)
		require.NoError(t, err)
		require.Equal(t, "on", res.Text())
		require.Equal(t, 1, done.all())
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestAPolicyThatEndsItsGoroutineHangsNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		var asked atomic.Int32
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", ParallelSafe: true})},
			Policies: []tools.Policy{
				func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
					if asked.Add(1) == 3 { // right before the first execution
						runtime.Goexit()
					}
					return tools.Verdict{}
				}}}, calls("work", 1, 2), say("on"))
		res, err := apart(t, a)
		require.NoError(t, err)
		require.Equal(t, "on", res.Text())
		require.Equal(t, 1, done.all(), "the other call ran")
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestAHookThatHangsHoldsNoCanceledRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t,
			agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}, Hooks: []agent.Hooks{{Name: "h",
				AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
					<-time.After(time.Hour)
					return nil
				}}}}, call("work", 1), say("on"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, agent.Stopped, res.Status)
		require.Less(t, time.Since(began), time.Minute)
		<-time.After(3 * time.Hour)
	})
}

func TestAResultThatRedactingFailsOnIsWithheldFromTheModel(t *testing.T) {
	var done effects
	a, _ := scripted(t,
		agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}, Redact: func(s string) string {
			if strings.Contains(s, "done") {
				panic("no")
			}
			return s
		}}, call("work", 1), say("on"))
	require.Equal(t, "on", run(t, a).Text())
	require.Contains(t, finished(t, a, "s")[0].Text(), "withheld")
}

func TestRedactingThatFailsAsAStreamIsLeftHoldsNoSession(t *testing.T) {
	var on atomic.Bool
	a, _ := scripted(t, agent.Config{Redact: func(s string) string {
		if on.Load() {
			panic("no")
		}
		return s
	}}, say("on"), say("on"))
	require.NotPanics(t, func() {
		for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			if _, ok := ev.(*agent.StepStarted); ok {
				on.Store(true)
				break
			}
		}
	})
	on.Store(false)
	require.Equal(t, agent.Completed, runInput(t, a, agent.Input{Session: "s", Prompt: "go", Supersede: true}).Status)
}
