package approvals_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

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

// recovered lets the agent resume what it can, and returns how many sessions that were.
func (d *desk) recovered() int {
	d.t.Helper()
	n, err := d.a.Recover(d.t.Context(), agent.Recovery{Each: func(r agent.Recovered) {
		if r.Err != nil {
			d.t.Errorf("session %q: %v", r.Session, r.Err)
		}
	}})
	if err != nil {
		d.t.Error(err)
	}
	return n
}

func TestRecoverResumesWhatWasDecidedAfterItsProcessDied(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
	id := d.run("s")[0].ID
	require.Zero(t, d.recovered(), "nobody has decided")
	require.NoError(t, d.decide("s", agent.Approve(id)))
	d.restart(say("Done.")) // the process that took the decision died
	require.Equal(t, 1, d.recovered())
	require.Equal(t, []string{"home"}, d.done.done())
	h, err := d.Store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, h.Open)
	for range d.Store.Heads(t.Context(), journal.Filter{Open: true}) {
		require.Fail(t, "nothing is open")
	}
	require.Zero(t, d.recovered(), "once")
}

func TestRecoverPassesOverASessionThatAnotherProcessHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
		id := d.run("s")[0].ID
		_, err := d.Store.Lease(t.Context(), "s", "a process that dies", 30*time.Second)
		require.NoError(t, err)
		require.NoError(t, d.decide("s", agent.Approve(id)))
		require.Zero(t, d.recovered())
		require.Equal(t, 1, d.inbox("s"), "the decision waits in the journal")
		<-time.After(31 * time.Second)
		require.Equal(t, 1, d.recovered())
		require.Equal(t, []string{"home"}, d.done.done())
	})
}

func TestADecisionDuringARunIsTakenByThatRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, agent.Config{})
		d.cfg.Tools = []tools.Tool{d.done.slow(remove, 10*time.Second)}
		d.restart(calls("cms.remove", "a", "b"), say("Done."))
		p := d.run("s")
		approve := func(id string) {
			require.NoError(t, d.decide("s", agent.Approve(id)))
		}
		approve(p[0].ID)
		time.AfterFunc(5*time.Second, func() { approve(p[1].ID) })
		require.Equal(t, 1, d.recovered())
		require.Equal(t, []string{"a", "b"}, d.done.done())
		require.Zero(t, d.inbox("s"))
	})
}

func TestADecisionThatComesAsTheRunPausesIsTakenByTheNextRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, agent.Config{})
		var second string
		d.cfg.Hooks = []agent.Hooks{{AfterRun: func(ctx context.Context, res *agent.Result) error {
			id := second
			if id == "" || res.Status != agent.Paused {
				return nil
			}
			second = "" // the run has paused, and still holds the session
			return d.a.Session("s").Decide(ctx, agent.Approve(id))
		}}}
		d.restart(calls("cms.remove", "a", "b"), say("Done."))
		p := d.run("s")
		second = p[1].ID
		require.NoError(t, d.a.Session("s").Decide(t.Context(), agent.Approve(p[0].ID)))
		require.Equal(t, 1, d.recovered())
		require.Equal(t, []string{"a"}, d.done.done())
		require.Equal(t, 1, d.recovered())
		require.Equal(t, []string{"a", "b"}, d.done.done())
	})
}

// A host resumes sessions in one goroutine: when it starts, and after each decision.
func TestALoopOverRecoverResumesEachDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, agent.Config{})
		d.restart(providertest.Call("cms.remove", Page{"a"}), providertest.Call("cms.remove", Page{"b"}), say("Done."),
			say("Done."))
		ids := map[string]string{"s": d.run("s")[0].ID, "t": d.run("t")[0].ID}
		decided := make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for ctx.Err() == nil {
				d.recovered()
				select {
				case <-decided:
				case <-ctx.Done():
				}
			}
		}()
		for session, id := range ids {
			require.NoError(t, d.a.Session(session).Decide(t.Context(), agent.Approve(id)))
			select {
			case decided <- struct{}{}:
			default: // it will look anyway
			}
		}
		synctest.Wait()
		require.ElementsMatch(t, []string{"a", "b"}, d.done.done())
		cancel()
		<-ended
	})
}
