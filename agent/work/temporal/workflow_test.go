package temporal

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

func TestAnApprovalAfter48HoursLetsTheRunGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("transfer", 1))
		e := newEnv(t, of(a).do)
		e.RegisterDelayedCallback(func() {
			pending, err := a.Session("s").Pending(context.Background())
			require.NoError(t, err)
			require.Len(t, pending, 1)
			e.decide(a, agent.Approve(pending[0].ID))
		}, 48*time.Hour)
		began := e.Now()
		end, err := e.run(first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, Ended{Session: "s", Run: end.Run, Status: agent.Completed}, end)
		require.NotEmpty(t, end.Run)
		require.Equal(t, "All paid.", text(t, a))
		w.each(t, 1)
		require.Equal(t, 48*time.Hour, e.Now().Sub(began).Round(time.Minute))
		require.Less(t, e.events(), 200)
		require.Less(t, e.bytes(), 50_000)
		t.Log(e.events(), "events,", e.bytes(), "bytes")
	})
}

// TestADecisionWhoseSignalGotLostIsActedOn when the workflow looks by itself.
func TestADecisionWhoseSignalGotLostIsActedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("transfer", 1))
		e := newEnv(t, of(a).do)
		e.RegisterDelayedCallback(func() {
			pending, err := a.Session("s").Pending(context.Background())
			require.NoError(t, err)
			require.NoError(t, a.Session("s").Decide(context.Background(), agent.Approve(pending[0].ID)))
		}, time.Hour)
		began := e.Now()
		_, err := e.run(first, agent.Leg{})
		require.NoError(t, err)
		require.Less(t, e.Now().Sub(began), 3*time.Hour)
		w.each(t, 1)
	})
}

func TestWorkersThatAreKilledInMidActivityRepeatNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("pay", 20))
		e := newEnv(t, w.workersThatDie(t, 10, rand.New(rand.NewPCG(1, 2)), pays("pay", 20)))
		w.decides(e, a)
		end, err := e.run(first, agent.Leg{Steps: 5})
		require.NoError(t, err)
		require.Equal(t, agent.Completed, end.Status)
		require.Equal(t, "All paid.", text(t, a))
		require.Greater(t, w.kills, 5)
		w.each(t, 20)
	})
}

// TestALegThatFailsBeforeAnythingIsRecordedIsTriedAgain, and one that never can succeed isn't.
func TestALegThatFailsBeforeAnythingIsRecordedIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, tries := newWorld(), 0
		_, a := w.worker(t, pays("pay", 1))
		e := newEnv(t, func(ctx context.Context, args legArgs) (progress, error) {
			if tries++; tries < 4 {
				return legs{}.do(ctx, args) // a worker without the agent
			}
			return of(a).do(ctx, args)
		})
		_, err := e.run(first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, 4, tries)
		w.each(t, 1)
	})
	synctest.Test(t, func(t *testing.T) {
		w, tries := newWorld(), 0
		_, a := w.worker(t, pays("pay", 1))
		e := newEnv(t, func(ctx context.Context, args legArgs) (progress, error) {
			tries++
			return of(a).do(ctx, args)
		})
		in := first
		in.Mode = "unknown"
		_, err := e.run(in, agent.Leg{})
		var failed *sdk.ApplicationError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, "ArgError", failed.Type())
		require.True(t, failed.NonRetryable())
		require.Equal(t, 1, tries)
	})
}

func TestAWorkerThatStopsPausesItsLeg(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, stop := newWorld(), make(chan struct{})
		_, a := w.worker(t, pays("pay", 3))
		e := newEnv(t, of(a).do)
		e.SetWorkerStopChannel(stop)
		w.next(6, func() { close(stop) })
		_, err := e.run(first, agent.Leg{})
		require.NoError(t, err)
		require.NotZero(t, pauses(t, a, machine.CodeLeg))
		require.Equal(t, "All paid.", text(t, a))
		w.each(t, 3)
	})
}

func TestALegEndsBeforeTheTimeOfItsActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("slow", 1), slow(3*time.Hour))
		e := newEnv(t, of(a).do)
		began := time.Now()
		e.RegisterDelayedCallback(func() { // the call was cut off, and is in doubt
			pending, err := a.Session("s").Pending(context.Background())
			require.NoError(t, err)
			require.Len(t, pending, 1)
			require.Equal(t, agent.PauseInDoubt, pending[0].Kind)
			e.decide(a, agent.Answer(pending[0].ID, "done"))
		}, 4*time.Hour)
		_, err := e.run(first, agent.Leg{Time: time.Minute})
		require.NoError(t, err)
		require.Less(t, time.Since(began), 2*time.Hour)
		require.Equal(t, "All paid.", text(t, a))
	})
}

func TestAfter500LegsAWorkflowContinuesWithTheNamesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("pay", mostLegs+10))
		e := newEnv(t, of(a).do)
		_, err := e.run(first, agent.Leg{Steps: 1})
		var again *workflow.ContinueAsNewError
		require.ErrorAs(t, err, &again)
		var r Run
		require.NoError(t, e.counting.FromPayloads(again.Input, &r))
		require.Equal(t, Run{Agent: "clerk", Session: "s", Key: "first", Steps: 1, Time: legTime, Grace: legGrace}, r)
		require.Equal(t, mostLegs, e.legs)
		require.Less(t, e.events(), 10_240)

		end, err := newEnv(t, of(a).do).runAgain(r)
		require.NoError(t, err)
		require.Equal(t, agent.Completed, end.Status)
		w.each(t, mostLegs+10)
	})
}

// TestASignalBeforeAWorkflowContinuesAsNewIsntLost: a decision is in the inbox, and the request to
// go on is followed first.
func TestASignalBeforeAWorkflowContinuesAsNewIsntLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("pay", 5))
		var e *env
		e = newEnv(t, func(ctx context.Context, args legArgs) (progress, error) {
			e.SetContinueAsNewSuggested(true)
			return of(a).do(ctx, args)
		})
		w.next(4, func() { _ = a.Session("s").Pause(context.Background()) })
		e.RegisterDelayedCallback(func() {
			require.NoError(t, Continue(context.Background(), caller{e: e}, "s"))
		}, 10*time.Second)
		_, err := e.run(first, agent.Leg{Steps: 2})
		var again *workflow.ContinueAsNewError
		require.ErrorAs(t, err, &again)
	})
}

func TestARunThatItsHostHasPausedWaitsForContinue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("pay", 3))
		e := newEnv(t, of(a).do)
		w.next(4, func() { _ = a.Session("s").Pause(context.Background()) })
		e.RegisterDelayedCallback(func() {
			status, code := endedCode(t, a)
			require.Equal(t, agent.Paused, status)
			require.Equal(t, machine.CodeHost, code)
			require.NoError(t, Continue(context.Background(), caller{e: e}, "s"))
		}, 24*time.Hour)
		_, err := e.run(first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, "All paid.", text(t, a))
		w.each(t, 3)
	})
}

// TestAnotherProcessThatHasTheSessionIsWaitedFor, without an error.
func TestAnotherProcessThatHasTheSessionIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, other := w.worker(t, pays("slow", 1), slow(10*time.Second))
		_, a := w.worker(t, pays("slow", 1), slow(10*time.Second))
		done := make(chan error)
		go func() {
			_, err := other.Run(context.Background(), first)
			done <- err
		}()
		synctest.Wait()
		failed := 0
		e := newEnv(t, func(ctx context.Context, args legArgs) (progress, error) {
			out, err := of(a).do(ctx, args)
			if err != nil {
				failed++
			}
			time.Sleep(out.After)
			return out, err
		})
		end, err := e.run(first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, agent.Completed, end.Status)
		require.Zero(t, failed)
		require.NoError(t, <-done)
	})
}

// canceled runs a workflow that is canceled at a time, and returns the details of its end.
func canceled(t *testing.T, e *env, after time.Duration) Ended {
	e.RegisterDelayedCallback(func() {
		require.NoError(t, Cancel(context.Background(), caller{e: e}, "s"))
	}, after)
	_, err := e.run(first, agent.Leg{})
	var ended *sdk.CanceledError
	require.ErrorAs(t, err, &ended)
	var end Ended
	require.NoError(t, ended.Details(&end))
	return end
}

func TestCancelEndsARunThatWaits(t *testing.T) {
	for name, reply := range map[string]step{
		"for an approval": pays("transfer", 1),
		"for its host":    pays("pay", 2),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				_, a := w.worker(t, reply)
				if name == "for its host" {
					w.next(4, func() { _ = a.Session("s").Pause(context.Background()) })
				}
				e := newEnv(t, of(a).do)
				end := canceled(t, e, 48*time.Hour)
				require.Equal(t, agent.Stopped, end.Status)
				require.Equal(t, machine.CodeCanceled, end.Code)
				status, code := endedCode(t, a)
				require.Equal(t, agent.Stopped, status)
				require.Equal(t, machine.CodeCanceled, code)
				pending, err := a.Session("s").Pending(context.Background())
				require.NoError(t, err)
				require.Empty(t, pending)
				require.Zero(t, w.paid[`{"n":1}`])
				_, err = a.Run(context.Background(), agent.Continue("s"))
				require.ErrorIs(t, err, agent.ErrNothingOpen)
			})
		})
	}
}

// TestCancelEndsARunInProgress, in this worker and in another.
func TestCancelEndsARunInProgress(t *testing.T) {
	for name, sameProcess := range map[string]bool{"here": true, "elsewhere": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				_, a := w.worker(t, pays("pay", 1000))
				_, b := w.worker(t, pays("pay", 1000))
				if sameProcess {
					b = a
				}
				e := newEnv(t, func(ctx context.Context, args legArgs) (progress, error) {
					if args.Cancel {
						out, err := of(b).do(ctx, args)
						time.Sleep(out.After)
						return out, err
					}
					return of(a).do(ctx, args)
				})
				w.next(20, func() { go e.CancelWorkflow() })
				_, err := e.run(first, agent.Leg{})
				require.True(t, sdk.IsCanceledError(err), "%v", err)
				synctest.Wait()
				status, _ := endedCode(t, a)
				require.Equal(t, agent.Stopped, status)
				require.Less(t, len(w.paid), 100)
			})
		})
	}
}

func TestCancelBeforeARunHasBegunStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, waits := newWorld(), make(chan struct{})
		_, a := w.worker(t, pays("pay", 1))
		e := newEnv(t, func(ctx context.Context, args legArgs) (progress, error) {
			if !args.Cancel { // no worker comes
				<-waits
				return progress{}, nil
			}
			defer close(waits)
			return of(a).do(ctx, args)
		})
		require.Equal(t, Ended{Session: "s", Status: agent.Stopped, Code: machine.CodeCanceled},
			canceled(t, e, time.Hour))
		_, err := a.Session("s").Result(context.Background())
		require.ErrorIs(t, err, agent.ErrNothingOpen)
	})
}

func TestCancelAfterTheEndOfTheRunLeavesItAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		_, a := w.worker(t, pays("pay", 1))
		_, err := a.Run(context.Background(), first)
		require.NoError(t, err)
		e := newEnv(t, of(a).do)
		e.RegisterDelayedCallback(e.CancelWorkflow, 0)
		end, err := e.run(first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, agent.Completed, end.Status)
	})
}
