package work_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/tools"
)

// TestCrashesOfWorkersRepeatNothingAndLoseNothing kills processes that work on queued runs at
// random moments. This process queues the runs and approves what they wait for. In the middle it
// restarts PostgreSQL.
func TestCrashesOfWorkersRepeatNothingAndLoseNothing(t *testing.T) {
	for name, s := range newShared(t, *postgresly) {
		t.Run(name, s.crash)
	}
}

func (s *shared) crash(t *testing.T) {
	store := s.opened(t)
	a, err := s.agent(store, func() {})
	require.NoError(t, err)
	began, p := time.Now(), &processes{t: t, s: s, stop: make(chan struct{})}
	end := sync.OnceFunc(func() {
		close(p.stop)
		p.all.Wait()
	})
	defer end()
	p.all.Go(func() { p.approve(store) })
	for range *workers {
		p.all.Go(p.work)
	}
	restarted := false
	for n := range *runs { // as the workers die, so that there are some in progress
		s.enqueue(t, a, n)
		for p.killed.Load() < int64(n*(*kills) / *runs) && s.count(t, "ended") < n {
			<-time.After(10 * time.Millisecond)
		}
		if n == *runs/2 && s.dsn != "" {
			restarted = pgtest.Restart(t)
		}
	}
	complete := func() bool {
		return p.killed.Load() >= int64(*kills) && s.count(t, "ended") == *runs && nothingIsDue(t, store)
	}
	if !assert.Eventually(t, complete, *patience, 20*time.Millisecond, "some runs are lost") {
		for h, err := range store.Heads(t.Context(), journal.Filter{}) {
			if err != nil || !h.Due.IsZero() || h.Status != string(agent.Completed) {
				t.Logf("%s %s due %v owner %q until %v, %v", h.Session, h.Status, h.Due, h.Owner, h.Until, err)
			}
		}
		return
	}
	end()
	took := time.Since(began).Round(100 * time.Millisecond)
	s.check(t, a)
	t.Logf("%d processes killed, restarted: %t, %v", p.killed.Load(), restarted, took)
}

// enqueue queues a run, and then a copy of it. Each third is delayed.
func (s *shared) enqueue(t *testing.T, a *agent.Agent, n int) {
	t.Helper()
	name := fmt.Sprint("s-", n)
	var o agent.QueueOptions
	if o.Attempts = 3; n%3 == 0 {
		o.At = time.Now().Add(time.Duration(rand.IntN(500)) * time.Millisecond)
	}
	in := agent.Input{Session: name, Key: "first", Prompt: name, Priority: 50 + n%20}
	for range 2 {
		var err error
		for range 100 { // the server may just have been restarted
			if err = a.Enqueue(t.Context(), in, o); err == nil || errors.Is(err, agent.ErrDuplicate) {
				break
			}
			<-time.After(50 * time.Millisecond)
		}
		if !errors.Is(err, agent.ErrDuplicate) {
			require.NoError(t, err)
		}
	}
}

// nothingIsDue reports whether each run was started, and each end was recorded as delivered.
func nothingIsDue(t *testing.T, store journal.Store) bool {
	for h, err := range store.Heads(t.Context(), journal.Filter{}) {
		if err != nil || !h.Due.IsZero() || h.Status != string(agent.Completed) {
			return false
		}
	}
	return true
}

// Processes run workers again and again until stop is closed.
type processes struct {
	t      *testing.T
	s      *shared
	all    sync.WaitGroup
	stop   chan struct{}
	begun  atomic.Int64
	killed atomic.Int64
}

// work runs one worker after the other. They are killed after some lines, until enough were.
func (p *processes) work() {
	often := min(8, 2+2*effectsOfRun**runs/max(*kills, 1)) // so that there are lines for all of them
	for {
		lines := -1
		if p.begun.Add(1) <= int64(*kills) {
			lines = 1 + rand.IntN(often)
		}
		p.run(lines)
		select {
		case <-p.stop:
			return
		default:
		}
	}
}

// run runs a process to its end. A negative number of lines spares it until stop is closed.
func (p *processes) run(lines int) {
	process, ended := roletest.Start(p.t, "worker", p.s.dir, p.s.dsn), make(chan struct{})
	defer close(ended)
	p.all.Go(func() {
		select {
		case <-p.stop:
			_ = process.In.Close()
		case <-ended:
		}
	})
	if lines >= 0 { // should there be less to do
		defer time.AfterFunc(time.Second, func() { _ = process.Process.Kill() }).Stop()
	}
	for n := 0; n != lines && process.Line() != ""; n++ {
	}
	if lines >= 0 {
		select {
		case <-time.After(time.Duration(rand.IntN(8000)) * time.Microsecond):
		case <-p.stop:
		}
		_ = process.Process.Kill()
	}
	for process.Line() != "" {
	}
	if err := process.Wait(); err != nil && process.ProcessState.ExitCode() == -1 {
		p.killed.Add(1)
	} else if err != nil {
		p.t.Errorf("a worker has failed: %v", err)
	}
}

// approve approves what runs wait for, with an agent that has no tools, until stop is closed.
func (p *processes) approve(store journal.Store) {
	a, err := agent.New(agent.Config{Name: "writer", Journal: store, Provider: p.s.model()})
	if err != nil {
		p.t.Error(err)
		return
	}
	for {
		for info, err := range a.Sessions(p.t.Context(), agent.SessionFilter{Status: agent.Paused}) {
			if err != nil { // the server is restarted
				break
			}
			pending, err := a.Session(info.Session).Pending(p.t.Context())
			if err != nil {
				break
			}
			for _, pause := range pending {
				err := a.Session(info.Session).Decide(p.t.Context(), agent.Approve(pause.ID).By("ann"))
				if refused := (*agent.DecisionError)(nil); err != nil && p.s.dsn == "" && !errors.As(err, &refused) {
					p.t.Error(err)
				}
			}
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-p.stop:
			return
		}
	}
}

// check requires that all runs have completed, none was started twice, no effect happened twice,
// none is missing, and each end was told under one key.
func (s *shared) check(t *testing.T, a *agent.Agent) {
	t.Helper()
	effects, ended := s.rows(t, "effects"), s.rows(t, "ended")
	require.Empty(t, repeated(effects), "effects happened twice")
	require.Len(t, ended, *runs)
	copies := 0
	for key, lines := range ended {
		require.NotContains(t, lines, "failed", key)
		copies += len(lines) - 1
	}
	var all tally
	for n := range *runs {
		name := fmt.Sprint("s-", n)
		facts, err := a.Session(name).Facts(context.Background())
		require.NoError(t, err)
		one := tallied(t, name, facts)
		require.Equal(t, 1, one.runs, name)
		require.Equal(t, 1+one.failures, one.starts, "%s was started more than once", name)
		require.Equal(t, 1, one.delivered, name)
		require.Equal(t, effectsOfRun, one.succeeded+one.inDoubt, name)
		require.Contains(t, ended, fmt.Sprint(name, "@", one.start))
		all.succeeded, all.inDoubt = all.succeeded+one.succeeded, all.inDoubt+one.inDoubt
		all.failures, all.legs = all.failures+one.failures, all.legs+one.legs
	}
	require.GreaterOrEqual(t, len(effects), all.succeeded, "effects are missing")
	require.LessOrEqual(t, len(effects), all.succeeded+all.inDoubt)
	t.Logf("%d runs, %d effects, %d calls in doubt, %d attempts failed, %d legs, %d copies of ends", *runs,
		len(effects), all.inDoubt, all.failures, all.legs, copies)
}

// A tally is what the log of a session says.
type tally struct {
	runs, starts, failures, legs, delivered, succeeded, inDoubt int

	start uint64 // of the run
}

// tallied folds a log.
func tallied(t *testing.T, session string, facts []machine.Fact) (n tally) {
	t.Helper()
	for i, f := range facts {
		before, err := machine.Replay(session, facts[:i]...)
		require.NoError(t, err)
		switch f := f.(type) {
		case *agent.RunStarted:
			n.runs, n.start = n.runs+1, f.Seq
		case *machine.Delivered:
			n.delivered++
		case *agent.RunEnded:
			switch f.Code {
			case machine.CodeQueued:
				n.failures++
			case machine.CodeLeg:
				n.legs++
			}
		case *agent.ToolFinished:
			if f.Result.Status == tools.OK {
				n.succeeded++
			} else {
				n.inDoubt++
			}
		case *machine.Continued:
			if r := before.State().Run; r.IsQueued() {
				require.False(t, f.Time.Before(r.Queue.At), "%s was started before its time", session)
				n.starts++
			}
		}
	}
	m, err := machine.Replay(session, facts...)
	require.NoError(t, err)
	require.Equal(t, agent.Completed, m.State().Run.Status, session)
	require.Empty(t, m.State().Ends, session)
	return n
}
