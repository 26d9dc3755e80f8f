package approvals_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// outcomes collects what a Resumer tells.
type outcomes struct {
	mu  sync.Mutex
	all []agent.Recovered
}

func (o *outcomes) add(r agent.Recovered) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, r)
}

func (o *outcomes) get() []agent.Recovered {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]agent.Recovered(nil), o.all...)
}

// slow is a tool that takes a time and then has its effect.
func (e *effects) slow(spec tools.Spec, d time.Duration) tools.Tool {
	return tools.New(spec, func(ctx context.Context, in Page) (string, error) {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(d):
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.ids = append(e.ids, in.ID)
		return "ok", nil
	})
}

func TestAResumerGoesOnWithWhatWasDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out outcomes
		r := approvals.NewResumer(approvals.ResumerConfig{Each: out.add})
		d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
		d.hcfg.OnDecided = r.Decided
		d.restart(call("cms.remove", "home"), say("Done."))
		id := d.run("s")[0].ID
		status, _, _ := d.decide("ann", body("s", id, "approve"))
		require.Equal(t, 200, status)
		synctest.Wait()
		require.Equal(t, []string{"home"}, d.done.done())
		require.Len(t, out.get(), 1)
		require.Equal(t, "Done.", out.get()[0].Result.Text())

		require.NoError(t, r.Go(d.a, "s"), "nothing is open there")
		require.NoError(t, r.Close(t.Context()))
		require.NoError(t, r.Close(t.Context()))
		require.Len(t, out.get(), 1)
		require.ErrorIs(t, r.Go(d.a, "s"), approvals.ErrClosed)
		r.Decided(t.Context(), approvals.Decided{Agent: d.a, Session: "s"})
		require.ErrorIs(t, out.get()[1].Err, approvals.ErrClosed)
	})
}

func TestAResumerDrivesOnlySoManyRunsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out outcomes
		r := approvals.NewResumer(approvals.ResumerConfig{Parallel: 2, Queue: 3, Each: out.add})
		d := newDesk(t, agent.Config{})
		d.cfg.Tools = []tools.Tool{d.done.slow(remove, 10*time.Second)}
		var steps []providertest.Step
		for i := range 6 {
			steps = append(steps, call("cms.remove", fmt.Sprint(i)))
		}
		d.restart(append(steps, say("Done."), say("Done."), say("Done."), say("Done."), say("Done."))...)
		for i := range 6 {
			id := d.run(fmt.Sprint("s-", i))[0].ID
			require.NoError(t, d.a.Session(fmt.Sprint("s-", i)).Decide(t.Context(), agent.Approve(id)))
		}
		for i := range 6 {
			err := r.Go(d.a, fmt.Sprint("s-", i))
			if i == 5 {
				require.ErrorIs(t, err, approvals.ErrQueueFull)
				continue
			}
			require.NoError(t, err)
			require.NoError(t, r.Go(d.a, fmt.Sprint("s-", i)), "twice is once more")
		}
		for i := 1; i <= 3; i++ {
			<-time.After(10*time.Second + time.Millisecond)
			synctest.Wait()
			require.Len(t, d.done.done(), min(2*i, 5))
		}
		require.NoError(t, r.Close(t.Context()))
		require.Len(t, out.get(), 5)
	})
}

func TestAResumerLooksAgainAtASessionThatIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out outcomes
		r := approvals.NewResumer(approvals.ResumerConfig{Each: out.add})
		d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
		id := d.run("s")[0].ID
		lease, err := d.store.Lease(t.Context(), "s", "a process that dies", 30*time.Second)
		require.NoError(t, err)
		require.NotZero(t, lease.Fence)
		require.NoError(t, d.a.Session("s").Decide(t.Context(), agent.Approve(id)))
		require.NoError(t, r.Go(d.a, "s"))
		<-time.After(20 * time.Second)
		require.Empty(t, d.done.done())
		<-time.After(12 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"home"}, d.done.done())
		require.Len(t, out.get(), 1)

		for range 8 { // somebody has it for good
			lease, err = d.store.Lease(t.Context(), "s", "another", time.Hour)
			require.NoError(t, err)
		}
		require.NoError(t, r.Go(d.a, "s"))
		<-time.After(2 * time.Minute)
		var busy *agent.BusyError
		require.ErrorAs(t, out.get()[1].Err, &busy)
		require.NoError(t, r.Go(d.a, "s"))
		<-time.After(500 * time.Millisecond)
		require.NoError(t, r.Close(t.Context()), "one that waits for another try holds nothing up")
	})
}

func TestADecisionDuringARunIsLookedAtAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := approvals.NewResumer(approvals.ResumerConfig{})
		d := newDesk(t, agent.Config{})
		d.cfg.Tools = []tools.Tool{d.done.slow(remove, 10*time.Second)}
		d.restart(calls("cms.remove", "a", "b"), say("Done."))
		p := d.run("s")
		for _, p := range p {
			require.NoError(t, d.a.Session("s").Decide(t.Context(), agent.Approve(p.ID)))
			require.NoError(t, r.Go(d.a, "s"))
			<-time.After(5 * time.Second)
		}
		<-time.After(time.Minute)
		require.Equal(t, []string{"a", "b"}, d.done.done())
		require.NoError(t, r.Close(t.Context()))
	})
}

func TestClosingAResumerWaitsAndThenStopsWhatRuns(t *testing.T) {
	for name, c := range map[string]struct {
		patience time.Duration
		drain    bool
		status   agent.Status
		done     int
	}{"it waits": {time.Minute, false, agent.Completed, 1}, "it stops": {time.Second, false, agent.Stopped, 0}, "it was drained": {time.Minute, true, agent.Paused, 1}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out outcomes
				r := approvals.NewResumer(approvals.ResumerConfig{Each: out.add, Parallel: 1})
				d := newDesk(t, agent.Config{})
				d.cfg.Tools = []tools.Tool{d.done.slow(remove, 10*time.Second)}
				d.restart(call("cms.remove", "a"), call("cms.remove", "b"), say("Done."))
				for _, s := range []string{"s", "later"} {
					require.NoError(t, d.a.Session(s).Decide(t.Context(), agent.Approve(d.run(s)[0].ID)))
				}
				require.NoError(t, r.Go(d.a, "s"))
				require.NoError(t, r.Go(d.a, "later"))
				<-time.After(time.Second)
				gone := errors.New("the process ends")
				ctx, cancel := context.WithTimeoutCause(t.Context(), c.patience, gone)
				defer cancel()
				if c.drain {
					require.NoError(t, d.a.Drain(ctx))
				}
				err := r.Close(ctx)
				if c.status == agent.Stopped {
					require.ErrorIs(t, err, gone)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, c.status, out.get()[0].Result.Status)
				require.Len(t, d.done.done(), c.done)
				require.Equal(t, 1, d.inbox("later"), "what wasn't taken up waits in the journal")
			})
		})
	}
}

// What a resumer doesn't get to isn't lost: a scan resumes it.
func TestWhatAResumerNeverGotToIsRecovered(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
	id := d.run("s")[0].ID
	status, _, _ := d.decide("ann", body("s", id, "approve"))
	require.Equal(t, 200, status)
	d.restart(say("Done.")) // the process that took it died
	n, err := d.a.Recover(t.Context(), agent.Recovery{})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, []string{"home"}, d.done.done())
	h, err := d.store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, h.Open)
	for range d.store.Heads(t.Context(), journal.Filter{Open: true}) {
		require.Fail(t, "nothing is open")
	}
}

func TestADecisionThatComesAsTheRunPausesIsLookedAtAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := approvals.NewResumer(approvals.ResumerConfig{})
		d := newDesk(t, agent.Config{})
		var second string
		d.cfg.Hooks = []agent.Hooks{{AfterRun: func(ctx context.Context, res *agent.Result) error {
			if id := second; id != "" && res.Status == agent.Paused { // it has paused, and still holds the session
				second = ""
				if err := d.a.Session("s").Decide(ctx, agent.Approve(id)); err != nil {
					return err
				}
				return r.Go(d.a, "s")
			}
			return nil
		}}}
		d.restart(calls("cms.remove", "a", "b"), say("Done."))
		p := d.run("s")
		second = p[1].ID
		require.NoError(t, d.a.Session("s").Decide(t.Context(), agent.Approve(p[0].ID)))
		require.NoError(t, r.Go(d.a, "s"))
		synctest.Wait()
		require.Equal(t, []string{"a", "b"}, d.done.done())
		require.NoError(t, r.Close(t.Context()))
	})
}
