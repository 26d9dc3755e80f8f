package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// The tests in this file each stand for a way in which agent loops are known to go wrong.

func TestARetryNeitherRunsAToolTwiceNorDoublesText(t *testing.T) {
	answer := providertest.Reply(say("I will look it up for you."), call("work", 1))
	for name, failure := range map[string]providertest.Step{
		"429 before the answer":           providertest.Fail(fault.RateLimited),
		"429 with advice":                 providertest.Fail(fault.RateLimited, providertest.RetryAfter(3*time.Second)),
		"503 before the answer":           providertest.Fail(fault.Degraded),
		"503 right after the start":       providertest.FailAfter(1, answer, fault.Degraded),
		"503 in the text":                 providertest.FailAfter(4, answer, fault.Degraded),
		"503 in the arguments":            providertest.FailAfter(10, answer, fault.Degraded),
		"503 right before the end":        providertest.FailAfter(99, answer, fault.Degraded),
		"429 in the text":                 providertest.FailAfter(4, answer, fault.RateLimited),
		"a lost connection in the text":   providertest.FailAfter(5, answer, fault.Transient),
		"cut before any text":             providertest.Cut(1, answer),
		"cut in the text":                 providertest.Cut(4, answer),
		"cut in the arguments":            providertest.Cut(10, answer),
		"cut when all but the end is out": providertest.Cut(99, answer),
		"silence in the text":             providertest.HangAfter(4, answer),
		"silence before the answer":       providertest.Hang(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var done effects
				a, model := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
					failure, answer, failure, say("It is 3 °C in Oslo."))
				all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
				require.NoError(t, err)
				model.AssertDone(t)
				require.Equal(t, 1, done.all())
				ends := of[*agent.RunEnded](all)
				require.Len(t, ends, 1)
				res := ends[0].Result
				require.Equal(t, agent.Completed, res.Status)
				require.Equal(t, 2, res.Steps)
				require.Equal(t, "It is 3 °C in Oslo.", res.Text())
				require.Equal(t, res.Text(), shown(all), "what a consumer that honours Reset has on the screen")
				require.Equal(t, []string{"work"}, res.ToolNames())
				require.Len(t, of[*agent.ToolStarted](all), 1)
				requireSound(t, "s", facts(t, a, "s"))
				first := res.Messages[1]
				require.Equal(t, "I will look it up for you.", first.Text())
			})
		})
	}
}

func TestAToolsErrorReachesTheModelAndTheRunGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"plain":     {errors.New("no such city; try Oslo"), "no such city; try Oslo"},
		"wrapped":   {fmt.Errorf("weather: %w", context.DeadlineExceeded), "weather: context deadline exceeded"},
		"canceled":  {context.Canceled, "context canceled"},
		"empty":     {errors.New(""), "without saying why"},
		"permanent": {fault.New(fault.Permanent, "gone"), "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			fail := tools.New(tools.Spec{Name: "work"}, func(context.Context, Number) (string, error) {
				return "all is well", c.err
			})
			a, model := scripted(t, agent.Config{Tools: []tools.Tool{fail}}, call("work", 1), say("It failed."))
			res := run(t, a)
			require.Equal(t, agent.Completed, res.Status)
			require.Equal(t, "It failed.", res.Text())
			require.True(t, results(res)[0].Error)
			require.Equal(t, tools.Failed, finished(t, a, "s")[0].Status)
			model.AssertSaw(t, 1, providertest.ToolResultText("work", c.says))
			model.AssertDidNotSee(t, 1, providertest.ToolResultText("work", "all is well"))
		})
	}
}

func TestCallsOfAReplyThatWasCutNeverRun(t *testing.T) {
	for _, stop := range []provider.StopReason{provider.StopLength, provider.StopFiltered, provider.StopError,
		provider.StopPaused} {
		t.Run(string(stop), func(t *testing.T) {
			var done effects
			a, model := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
				providertest.Stop(stop, providertest.Reply(say("Now."), call("work", 1))), say("I see."))
			res := run(t, a)
			require.Zero(t, done.all())
			require.Equal(t, agent.Completed, res.Status)
			model.AssertSaw(t, 1, providertest.ToolResultText("work", "wasn't run"))
			require.Equal(t, tools.NotRun, finished(t, a, "s")[0].Status)
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
	t.Run("arguments that are no JSON", func(t *testing.T) {
		var done effects
		a, model := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
			providertest.Unfit(providertest.Call("work", `{"n": 1`)), say("I see."))
		run(t, a)
		require.Zero(t, done.all())
		model.AssertSaw(t, 1, providertest.ToolResultText("work", "JSON"))
		require.Equal(t, tools.Invalid, finished(t, a, "s")[0].Status)
	})
}

func TestResultsAreInCallOrderWhateverFinishesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, model := scripted(t,
			agent.Config{Tools: []tools.Tool{done.slow(tools.Spec{Name: "work", ParallelSafe: true})}},
			calls("work", 5, 4, 3, 2, 1), say("Done."))
		began := time.Now()
		res := run(t, a)
		require.Equal(t, 5*time.Second, time.Since(began).Truncate(time.Second), "they ran beside each other")
		for i, r := range results(res) {
			require.Equal(t, fmt.Sprintf("done %d", 5-i), r.Text())
		}
		var recorded []string
		for _, r := range finished(t, a, "s") {
			recorded = append(recorded, r.Text())
		}
		require.Equal(t, []string{"done 1", "done 2", "done 3", "done 4", "done 5"}, recorded,
			"the log has them as they finished")
		var sent []string
		for _, p := range model.Requests()[1].Messages[2].Parts {
			sent = append(sent, p.Result.Text())
		}
		require.Equal(t, []string{"done 5", "done 4", "done 3", "done 2", "done 1"}, sent)
	})
}

func TestAStreamWhoseReaderLeavesStopsCallingTheModel(t *testing.T) {
	var asked, pulled atomic.Int32
	endless := provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
		asked.Add(1)
		return func(yield func(provider.Chunk, error) bool) {
			if !yield(provider.Start("m"), nil) {
				return
			}
			for {
				pulled.Add(1)
				if !yield(provider.Text("and "), nil) {
					return
				}
			}
		}
	})
	a := newAgent(t, agent.Config{Provider: endless})
	for ev, err := range a.Stream(t.Context(), agent.Input{Prompt: "go"}) {
		require.NoError(t, err)
		if _, ok := ev.(*agent.TextDelta); ok {
			break
		}
	}
	require.EqualValues(t, 1, asked.Load())
	require.EqualValues(t, 1, pulled.Load())
}

func TestNoResultHoldsAStackTrace(t *testing.T) {
	boom := map[string]func(){
		"a panic with a text": func() { panic("index out of range [7]") },
		"a panic with nil":    func() { panic(nil) },
		//lint:ignore SA5000 the panic is what is tested
		"a nil map":            func() { var m map[string]int; m["a"] = 1 },
		"an error as a panic":  func() { panic(errors.New("bad")) },
		"the goroutine's end":  func() { runtime.Goexit() },
		"a panic in an error":  func() { panic(panicky{}) },
		"a panic in a routine": func() { defer func() { panic(recover()) }(); panic("deep") },
	}
	for name, fn := range boom {
		t.Run(name, func(t *testing.T) {
			work := tools.New(tools.Spec{Name: "work"}, func(context.Context, Number) (string, error) {
				fn()
				return "", nil
			})
			a, model := scripted(t, agent.Config{Tools: []tools.Tool{work}}, call("work", 1), say("I see."))
			res := run(t, a)
			require.Equal(t, agent.Completed, res.Status)
			got := finished(t, a, "s")[0]
			require.Equal(t, tools.Failed, got.Status)
			for _, trace := range []string{"goroutine ", ".go:", "runtime.", "panic"} {
				require.NotContains(t, got.Text(), trace)
				require.NotContains(t, got.Cause, ".go:")
			}
			model.AssertSaw(t, 1, providertest.ToolResultText("work", "internal error"))
		})
	}
}

type panicky struct{}

func (panicky) Error() string { return "panicky" }

func TestToolsAreOfferedInTheOrderOfTheConfiguration(t *testing.T) {
	var list []tools.Tool
	var names []string
	var done effects
	for i := range 20 {
		names = append(names, fmt.Sprintf("tool%d", (i*7)%20))
		list = append(list, done.tool(tools.Spec{Name: names[i]}))
	}
	var schemas []string
	for range 100 {
		a, model := scripted(t, agent.Config{Tools: list}, say("Hi."))
		run(t, a)
		model.AssertTools(t, 0, names...)
		var all strings.Builder
		for _, tool := range model.Requests()[0].Tools {
			all.Write(tool.Schema)
		}
		schemas = append(schemas, all.String())
		require.Equal(t, schemas[0], all.String(), "a request is stable to the byte")
	}
}

func TestTwoRunsOfOneSessionDontRace(t *testing.T) {
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			running, release := make(chan struct{}), make(chan struct{})
			wait := tools.New(tools.Spec{Name: "wait"}, func(context.Context, Number) (string, error) {
				close(running)
				<-release
				return "ok", nil
			})
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{wait}, Journal: store()}, call("wait", 1),
				say("First."))
			var wg sync.WaitGroup
			wg.Go(func() {
				res, err := a.Run(context.Background(), agent.Input{Session: "s", Prompt: "go"})
				if err != nil || res.Text() != "First." {
					t.Errorf("the first run: %v", err)
				}
			})
			<-running
			for _, in := range []agent.Work{agent.Input{Session: "s", Prompt: "go"},
				agent.Input{Session: "s", Prompt: "go", Supersede: true},
				agent.Continue("s"), agent.Resume("s", agent.Approve("p"))} {
				res, err := a.Run(t.Context(), in)
				var busy *agent.SessionError
				require.ErrorIs(t, err, agent.ErrBusy)
				require.ErrorAs(t, err, &busy)
				require.Equal(t, "s", busy.Session)
				require.Nil(t, res)
			}
			close(release)
			wg.Wait()
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestSessionsOfOneAgentRunBesideEachOther(t *testing.T) {
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			const sessions = 16
			var met sync.WaitGroup // every run waits in its tool for all others
			met.Add(sessions)
			meet := tools.New(tools.Spec{Name: "meet"}, func(context.Context, Number) (string, error) {
				met.Done()
				met.Wait()
				return "met", nil
			})
			model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
				if len(req.Messages) == 1 {
					return call("meet", 1).Response(), nil
				}
				return say("You said " + req.LastUserText()).Response(), nil
			})
			a := newAgent(t, agent.Config{Provider: model, Tools: []tools.Tool{meet}, Journal: store()})
			var wg sync.WaitGroup
			for i := range sessions {
				wg.Go(func() {
					text := fmt.Sprintf("hello %d", i)
					res, err := a.Run(context.Background(), agent.Input{Session: fmt.Sprint(i), Prompt: text})
					if err != nil || res.Text() != "You said "+text {
						t.Errorf("run %d: %v, %v", i, res, err)
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestNoLoopIsWithoutACap(t *testing.T) {
	n := 0
	for name, reply := range map[string]func() *provider.Response{
		"a model that always calls":           func() *provider.Response { n++; return call("work", n).Response() },
		"a model that calls what isn't there": func() *provider.Response { n++; return call("missing", n).Response() },
		"a model that never fits the schema": func() *provider.Response {
			n++
			return providertest.Call("work", n).Response()
		},
		"a provider that always pauses": func() *provider.Response {
			r := say("on").Response()
			r.Stop = provider.StopPaused
			return r
		},
		"calls that are cut, always": func() *provider.Response {
			r := call("work", 1).Response()
			r.Stop = provider.StopLength
			return r
		},
		"a model that calls the same for ever": func() *provider.Response { return call("work", 1).Response() },
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			model := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
				asked.Add(1)
				return reply(), nil
			})
			var done effects
			a := newAgent(t, agent.Config{Provider: model, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}})
			res := run(t, a)
			var limit *agent.LimitError
			require.ErrorAs(t, res.Err(), &limit)
			require.Equal(t, agent.Stopped, res.Status)
			require.Equal(t, machine.CodeLimit, res.Code)
			require.LessOrEqual(t, asked.Load(), int32(13))
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestAValueOutsideOfAnEnumIsNeverExecuted(t *testing.T) {
	var done effects
	a, model := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{
		Name: "work", Schema: []byte(`{"properties":{"n":{"enum":[1,2]}}}`)})}},
		providertest.Unfit(call("work", 3)), call("work", 2), say("Done."))
	run(t, a)
	require.Zero(t, done.of(3))
	require.Equal(t, 1, done.of(2))
	require.Equal(t, tools.Invalid, finished(t, a, "s")[0].Status)
	model.AssertSaw(t, 1, providertest.ToolResultText("work", "1"))
}

func TestAForcedChoiceIsMetOnce(t *testing.T) {
	for name, choice := range map[string]provider.ToolChoice{
		"a tool": {Mode: provider.ChooseTool, Tool: "work"}, "any tool": {Mode: provider.ChooseRequired},
	} {
		t.Run(name, func(t *testing.T) {
			var done effects
			var forced []provider.ToolChoice
			model := providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
				forced = append(forced, req.ToolChoice)
				if req.ToolChoice.Mode != provider.ChooseAuto {
					return call("work", len(forced)).Response(), nil // a model has no way not to
				}
				return say("Done.").Response(), nil
			})
			a := newAgent(t, agent.Config{Provider: model, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}})
			res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", ToolChoice: choice})
			require.Equal(t, agent.Completed, res.Status)
			require.Equal(t, []provider.ToolChoice{choice, {}}, forced)
			require.Equal(t, 1, done.all())
		})
	}
}

func TestAProvidersIDThatWasSeenBeforeIsAnotherCall(t *testing.T) {
	for name, id := range map[string]string{"the same": "call_1", "none": ""} {
		t.Run(name, func(t *testing.T) {
			var done effects
			a, model := scripted(t,
				agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", ParallelSafe: true})}},
				providertest.WithIDs(calls("work", 1, 2), id),
				providertest.WithIDs(calls("work", 3, 4), id),
				say("Done."))
			res := run(t, a)
			require.Equal(t, agent.Completed, res.Status)
			for n := 1; n <= 4; n++ {
				require.Equal(t, 1, done.of(n))
			}
			ids := map[string]bool{}
			for _, m := range model.Requests()[2].Messages {
				for _, c := range m.Calls() {
					require.Equal(t, id, c.ProviderID)
					require.NotEmpty(t, c.ID)
					ids[c.ID] = true
				}
			}
			require.Len(t, ids, 4)
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}
