package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// atEveryEvent plays each scene once for each of its events, or, unless -every is 1, for every
// second one, with and without a journal by turns, in a bubble that fails the test if a goroutine
// is left. interrupt gets the index of the event; it returns false if the run had no such event.
func atEveryEvent(t *testing.T, interrupt func(t *testing.T, sc *scene, st *stage, at int) bool) {
	for name, sc := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stride := min(*every, 2)
			for at, more := rand.IntN(stride), true; more; at += stride {
				var store journal.Store
				if at/stride%2 == 1 {
					store = &journal.MapStore{}
				}
				synctest.Test(t, func(t *testing.T) {
					defer func() {
						if t.Failed() {
							more = false
							t.Logf("at event %d", at)
						}
					}()
					more = interrupt(t, &sc, sc.stage(t, store), at)
				})
				require.Less(t, at, 200)
			}
		})
	}
}

func TestLeavingTheLoopAtAnyEventLeavesNothingBehind(t *testing.T) {
	atEveryEvent(t, func(t *testing.T, sc *scene, st *stage, at int) bool {
		i, reached, asked := 0, false, int32(0)
		for range st.agent.Stream(t.Context(), st.input) {
			if reached = i == at; reached {
				asked = st.model.calls.Load()
				break
			}
			i++
		}
		if !reached {
			return false
		}
		synctest.Wait()
		require.Equal(t, asked, st.model.calls.Load(), "the model isn't called for a consumer that has left")
		st.requireOnce(t)
		require.Zero(t, st.agent.Abandoned())
		requireOver(t, st)
		requireFree(t, st.agent, st.model, "s")
		return true
	})
}

func TestAPanicOfTheConsumerAtAnyEventLeavesNothingBehind(t *testing.T) {
	atEveryEvent(t, func(t *testing.T, sc *scene, st *stage, at int) bool {
		i, reached := 0, false
		boom := func() {
			for range st.agent.Stream(t.Context(), st.input) {
				if i == at {
					reached = true
					panic("boom")
				}
				i++
			}
		}
		func() {
			defer func() {
				if reached {
					require.Equal(t, "boom", recover(), "the consumer's panic is its own")
				}
			}()
			boom()
		}()
		if !reached {
			return false
		}
		st.requireOnce(t)
		requireOver(t, st)
		requireFree(t, st.agent, st.model, "s")
		return true
	})
}

func TestAConsumerWhoseGoroutineEndsLeavesNothingBehind(t *testing.T) {
	atEveryEvent(t, func(t *testing.T, sc *scene, st *stage, at int) bool {
		i, reached, ended := 0, false, make(chan struct{})
		go func() {
			defer close(ended)
			for range st.agent.Stream(context.Background(), st.input) {
				if reached = i == at; reached {
					runtime.Goexit()
				}
				i++
			}
		}()
		<-ended
		if !reached {
			return false
		}
		st.requireOnce(t)
		requireOver(t, st)
		requireFree(t, st.agent, st.model, "s")
		return true
	})
}

// requireOver fails the test if the log of a stage isn't sound, or says that a run continues that
// nobody drives.
func requireOver(t *testing.T, st *stage) {
	t.Helper()
	log := facts(t, st.agent, "s")
	requireSound(t, "s", log)
	m, err := machine.Replay("s", log...)
	require.NoError(t, err)
	require.NotEqual(t, agent.Running, m.State().Run.Status)
}

// interrupted ranges over a run, calls stop at one event, and returns the events and the error with
// which the run ended.
func interrupted(st *stage, ctx context.Context, at int, stop func()) (all []agent.Event, err error) {
	for ev, e := range st.agent.Stream(ctx, st.input) {
		if len(all) == at {
			stop()
		}
		if e != nil {
			err = e
		}
		all = append(all, ev)
	}
	return all, err
}

func TestCancelingAtAnyEventEndsTheRun(t *testing.T) {
	cause := errors.New("the client hung up")
	for name, cancel := range map[string]func(a *agent.Agent, end context.CancelCauseFunc) error{
		"the context": func(_ *agent.Agent, end context.CancelCauseFunc) error { end(cause); return nil },
		"Cancel": func(a *agent.Agent, _ context.CancelCauseFunc) error {
			return a.Session("s").Cancel(context.Background())
		},
	} {
		t.Run(name, func(t *testing.T) {
			atEveryEvent(t, func(t *testing.T, sc *scene, st *stage, at int) bool {
				ctx, end := context.WithCancelCause(t.Context())
				defer end(nil)
				var asked int32
				began := time.Now()
				all, err := interrupted(st, ctx, at, func() {
					asked, began = st.model.calls.Load(), time.Now()
					require.NoError(t, cancel(st.agent, end))
				})
				if len(all) <= at {
					return false
				}
				require.Less(t, time.Since(began), time.Second, "it ends at once")
				require.Equal(t, asked, st.model.calls.Load(), "the model isn't called any more")
				res := lastResult(t, all)
				if _, over := all[at].(*agent.RunEnded); !over && all[at] != nil && res.Status == agent.Stopped &&
					res.Code == machine.CodeCanceled {
					if name == "the context" {
						require.ErrorIs(t, err, context.Canceled)
					} else {
						require.NoError(t, err)
					}
					var stop *agent.StopError
					require.ErrorAs(t, res.Err(), &stop)
					if name == "the context" {
						require.ErrorIs(t, res.Err(), cause)
					}
					require.Empty(t, res.Pending)
				} else {
					require.Contains(t, []agent.Status{agent.Completed, agent.Paused, agent.Failed, agent.Stopped},
						res.Status)
				}
				st.requireOnce(t)
				require.Zero(t, st.agent.Abandoned())
				requireSound(t, "s", facts(t, st.agent, "s"))
				requireFree(t, st.agent, st.model, "s")
				return true
			})
		})
	}
}

func lastResult(t testing.TB, all []agent.Event) *agent.Result {
	t.Helper()
	ends := of[*agent.RunEnded](all)
	require.NotEmpty(t, ends)
	require.NotNil(t, ends[len(ends)-1].Result)
	return ends[len(ends)-1].Result
}

func TestStoppingAtASafePointInterruptsNothing(t *testing.T) {
	atEveryEvent(t, func(t *testing.T, sc *scene, st *stage, at int) bool {
		all, _ := interrupted(st, t.Context(), at, func() { _ = st.agent.Session("s").Stop(context.Background()) })
		if len(all) <= at {
			return false
		}
		res := lastResult(t, all)
		for _, f := range of[*agent.ToolFinished](all) {
			if sc.hooks == nil {
				require.NotEqual(t, tools.Canceled, f.Result.Status)
			}
			require.NotEqual(t, tools.InDoubt, f.Result.Status)
		}
		if res.Code == machine.CodeHost {
			require.Equal(t, agent.Stopped, res.Status)
			var stop *agent.StopError
			require.ErrorAs(t, res.Err(), &stop)
			require.EqualError(t, res.Err(), "agent: the run was stopped by its host")
		}
		st.requireOnce(t)
		requireSound(t, "s", facts(t, st.agent, "s"))
		requireFree(t, st.agent, st.model, "s")
		return true
	})
}

func TestARunThatWasPausedByItsHostGoesOnWhereItWas(t *testing.T) {
	atEveryEvent(t, func(t *testing.T, sc *scene, st *stage, at int) bool {
		whole := sc.stage(t, nil)
		want, _ := events(whole.agent.Stream(t.Context(), whole.input))
		all, err := interrupted(st, t.Context(), at, func() { _ = st.agent.Session("s").Pause(context.Background()) })
		if len(all) <= at {
			return false
		}
		res := lastResult(t, all)
		if res.Code == machine.CodeHost {
			require.NoError(t, err)
			require.Equal(t, agent.Paused, res.Status)
			require.Error(t, res.Err())
			if _, perr := st.agent.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"}); true {
				var paused *agent.PausedError
				require.ErrorAs(t, perr, &paused)
			}
			more, _ := events(st.agent.Stream(t.Context(), agent.Continue("s")))
			res = lastResult(t, more)
		}
		expected := lastResult(t, want)
		require.Equal(t, expected.Status, res.Status)
		require.Equal(t, expected.Steps, res.Steps)
		require.Equal(t, expected.Text(), res.Text())
		require.Equal(t, whole.done.all(), st.done.all())
		require.Len(t, res.Pending, len(expected.Pending))
		requireSound(t, "s", facts(t, st.agent, "s"))
		return true
	})
}

func TestRunIsTheStreamCollected(t *testing.T) {
	for name, sc := range scenes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				streamed, ran := sc.stage(t, nil), sc.stage(t, nil)
				all, serr := events(streamed.agent.Stream(t.Context(), streamed.input))
				res, rerr := ran.agent.Run(t.Context(), ran.input)
				require.Equal(t, sc.fails, serr != nil)
				last := lastResult(t, all)
				if sc.fails {
					require.EqualError(t, rerr, serr.Error())
				}
				require.Equal(t, plainResult(last), plainResult(res))
				require.IsType(t, last.Err(), rerr)
				require.Equal(t, last.Status != agent.Completed, rerr != nil)
			})
		})
	}
}

// plainResult is a result without what differs from run to run.
func plainResult(r *agent.Result) string {
	var names []string
	for _, m := range r.Messages {
		names = append(names, string(m.Role)+": "+m.Text())
		for _, p := range m.Parts {
			if p.Result != nil {
				names = append(names, p.Result.Name+": "+p.Result.Text())
			}
		}
	}
	return fmt.Sprint(r.Session, r.Status, r.Code, r.Steps, r.Usage, r.Text(), r.ToolNames(), len(r.Pending), names)
}

func TestASilentProviderIsGivenUpAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := providertest.HangAfter(2, say("Well then"))
		a, model := scripted(t, agent.Config{}, hang, hang, hang, hang, hang, hang)
		began := time.Now()
		res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.Error(t, err)
		require.Equal(t, agent.Failed, res.Status)
		require.Equal(t, machine.CodeProvider, res.Code)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Greater(t, time.Since(began), 2*time.Minute)
		require.Less(t, time.Since(began), 30*time.Minute)
		require.LessOrEqual(t, len(model.Requests()), 5)
	})
}

func TestASilentProviderEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := scripted(t, agent.Config{}, providertest.HangAfter(3, say("I was about to")))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Equal(t, machine.CodeCanceled, res.Code)
		require.ErrorIs(t, res.Err(), context.DeadlineExceeded)
		require.Equal(t, "I was ", res.Text(), "partial text is kept")
		require.Equal(t, provider.RoleAssistant, res.Messages[1].Role)
	})
}

func TestAContextThatHasEndedBeginsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a, model := scripted(t, agent.Config{}, say("Hi."))
	res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
	require.Nil(t, res)
	require.ErrorIs(t, err, context.Canceled)
	model.AssertCalls(t, 0)
	require.Empty(t, facts(t, a, "s"))
}

// Whoever sees a pause may cancel at once, while the run is still about to pause.
func TestARunThatIsCanceledWhileItPausesIsOver(t *testing.T) {
	for at, more := 0, true; more; at++ {
		a, _, done := risky(t, agent.Config{Journal: &journal.MapStore{}}, calls("risky", 1), say("Done."))
		i := 0
		for range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "x"}) {
			if i == at {
				require.NoError(t, a.Session("s").Cancel(t.Context()))
			}
			i++
		}
		if more = i > at; !more {
			break
		}
		info, err := a.Session("s").Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, agent.Stopped, info.Status, "canceled at event %d of %d", at, i)
		require.Zero(t, info.Pending)
		require.Empty(t, done.all())
	}
}
