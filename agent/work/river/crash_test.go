package river_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	pawlriver "github.com/pawlkit/pawl/agent/work/river"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/tools"
)

// decide is a process without tools that approves what runs wait for, until its input ends. It dies
// after each third decision or so, before it wakes the session.
func decide(args []string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	w, err := openWorld(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	defer w.Close()
	a, err := agent.New(agent.Config{Name: "writer", Provider: model(), Journal: w.store})
	if err != nil {
		return err
	}
	c, err := river.NewClient(riverpgxv5.New(w.pool), &river.Config{Logger: quiet})
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	for ctx.Err() == nil {
		for info, err := range a.Sessions(ctx, agent.SessionFilter{Status: agent.Paused}) {
			if err != nil {
				break
			}
			pending, err := a.Session(info.Session).Pending(ctx)
			if err != nil {
				break
			}
			for _, p := range pending {
				var refused *agent.DecisionError // it was decided before, and the run hasn't been resumed yet
				if err := a.Session(info.Session).Decide(ctx, agent.Approve(p.ID).By("ann")); errors.As(err, &refused) {
					continue
				} else if err != nil {
					return err
				}
				fmt.Println("decided")
				if rand.IntN(3) == 0 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				}
				if err := pawlriver.Wake(ctx, c, info.Session); err != nil {
					return err
				}
			}
		}
		<-time.After(20 * time.Millisecond)
	}
	return nil
}

// TestKillsRepeatNothingAndLoseNothing kills two workers, and whoever decides, while runs are in
// progress, and the process that looks for missing legs now and then.
func TestKillsRepeatNothingAndLoseNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began := time.Now()
	var killed, died atomic.Int64
	var all sync.WaitGroup
	stop := make(chan struct{})
	process := func(role string, lines func() int, count *atomic.Int64) {
		for p := roletest.Start(t, role, w.dsn, w.schema); ; p = roletest.Start(t, role, w.dsn, w.schema) {
			end := lines()
			ended := make(chan struct{})
			go func() {
				select {
				case <-stop:
					_ = p.In.Close()
				case <-ended:
				}
			}()
			for n := 0; (end < 0 || n < end) && p.Line() != ""; n++ {
			}
			if end >= 0 {
				<-time.After(time.Duration(rand.IntN(5000)) * time.Microsecond)
				_ = p.Process.Kill()
			}
			for p.Line() != "" {
			}
			close(ended)
			if p.Wait() == nil {
				return
			}
			count.Add(1)
		}
	}
	left := atomic.Int64{}
	left.Store(int64(*kills))
	victim := func() int { // how many effects it has before it is killed; -1: it isn't
		if left.Add(-1) < 0 {
			return -1
		}
		return rand.IntN(12)
	}
	spared := func() int { return -1 }
	all.Go(func() { process("worker", victim, &killed) })
	all.Go(func() { process("worker", victim, &killed) })
	all.Go(func() { process("person", spared, &died) })
	all.Go(func() { process("keeper", spared, new(atomic.Int64)) })
	c := w.client(t)
	for n := range *runs { // as the workers die, so that there are some in progress
		w.enqueue(t, c, "s-"+strconv.Itoa(n))
		for killed.Load() < int64(n*(*kills) / *runs) && w.count(t, "SELECT count(*) FROM ended") < n {
			<-time.After(10 * time.Millisecond)
		}
	}
	require.Eventually(t, func() bool { return w.count(t, "SELECT count(*) FROM ended") == *runs },
		3*time.Minute, 50*time.Millisecond, "some runs are lost")
	close(stop)
	all.Wait()
	w.checkEffects(t)
	t.Logf("%d runs, %d workers killed, %d times who decided died, %d copies of ends, %v", *runs, killed.Load(),
		died.Load(), w.count(t, "SELECT sum(times) FROM ended")-*runs, time.Since(began).Round(time.Second))
}

// checkEffects requires that all runs are completed, no effect happened twice, and none is missing.
func (w *world) checkEffects(t *testing.T) {
	t.Helper()
	require.Zero(t, w.count(t, "SELECT count(*) FROM effects WHERE times > 1"), "effects happened twice")
	require.Equal(t, *runs, w.count(t, "SELECT count(*) FROM ended WHERE status = 'completed'"))
	a, err := w.agent(agent.Config{}, func() {})
	require.NoError(t, err)
	completed, succeeded, inDoubt := 0, 0, 0
	for h, err := range w.store.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		require.Equal(t, string(agent.Completed), h.Status, h.Session)
		completed++
		facts, err := a.Session(h.Session).Facts(t.Context())
		require.NoError(t, err)
		for _, f := range facts {
			if f, ok := f.(*agent.ToolFinished); ok {
				if f.Result.Status == tools.OK {
					succeeded++
				} else {
					inDoubt++
				}
			}
		}
	}
	require.Equal(t, *runs, completed)
	require.Equal(t, *runs*effectsOfRun, succeeded+inDoubt)
	effects := w.count(t, "SELECT count(*) FROM effects")
	require.GreaterOrEqual(t, effects, succeeded)
	require.LessOrEqual(t, effects, succeeded+inDoubt)
	t.Logf("%d effects, %d calls in doubt", effects, inDoubt)
}
