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

// Processes run roles again and again until stop is closed.
type processes struct {
	t    *testing.T
	w    *world
	all  sync.WaitGroup
	stop chan struct{}
}

// start runs a role. when says after how many lines each of its processes is killed, and how long
// after that; a negative number of lines spares it. The processes that were killed, or that killed
// themselves, are counted.
func (p *processes) start(role string, when func() (lines int, delay time.Duration)) *atomic.Int64 {
	killed := new(atomic.Int64)
	p.all.Go(func() {
		for {
			if lines, delay := when(); p.run(role, lines, delay) != nil {
				killed.Add(1)
			}
			select {
			case <-p.stop:
				return
			default:
			}
		}
	})
	return killed
}

// run runs a process to its end. If it isn't killed, it ends when stop is closed.
func (p *processes) run(role string, lines int, delay time.Duration) error {
	process, ended := roletest.Start(p.t, role, p.w.dsn, p.w.schema), make(chan struct{})
	defer close(ended)
	p.all.Go(func() {
		select {
		case <-p.stop:
			_ = process.In.Close()
		case <-ended:
		}
	})
	for n := 0; n != lines && process.Line() != ""; n++ {
	}
	if lines >= 0 {
		select {
		case <-time.After(delay):
		case <-p.stop:
		}
		_ = process.Process.Kill()
	}
	for process.Line() != "" {
	}
	return process.Wait()
}

// TestKillsRepeatNothingAndLoseNothing kills two workers while runs are in progress, after some
// effects. Who decides dies, too. With many kills, so does the process that looks for missing legs,
// River's leader, after 20 to 40 s; it takes up to 15 s until there is another.
func TestKillsRepeatNothingAndLoseNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	began, p := time.Now(), &processes{t: t, w: w, stop: make(chan struct{})}
	end := sync.OnceFunc(func() {
		close(p.stop)
		p.all.Wait()
	})
	defer end()
	var begun atomic.Int64
	spared := func() (int, time.Duration) { return -1, 0 }
	often := min(12, 1+2*effectsOfRun**runs/max(*kills, 1)) // so that there are effects for all of them
	victim := func() (int, time.Duration) {
		if begun.Add(1) > int64(*kills) {
			return spared()
		}
		return rand.IntN(often), time.Duration(rand.IntN(5000)) * time.Microsecond
	}
	leader := spared
	if *kills >= 100 {
		leader = func() (int, time.Duration) { return 1, 20*time.Second + time.Duration(rand.IntN(20))*time.Second }
	}
	persons, leaders := p.start("person", spared), p.start("keeper", leader)
	first, second := p.start("worker", victim), p.start("worker", victim)
	c := w.client(t)
	for n := range *runs { // as the workers die, so that there are some in progress
		w.enqueue(t, c, "s-"+strconv.Itoa(n))
		for first.Load()+second.Load() < int64(n*(*kills) / *runs) && w.count(t, "SELECT count(*) FROM ended") < n {
			<-time.After(10 * time.Millisecond)
		}
	}
	require.Eventually(t, func() bool { return w.count(t, "SELECT count(*) FROM ended") == *runs },
		3*time.Minute, 50*time.Millisecond, "some runs are lost")
	end()
	w.checkEffects(t)
	t.Logf("%d runs, %d workers and %d leaders killed, %d times who decided died, %d copies of ends, %v", *runs,
		first.Load()+second.Load(), leaders.Load(), persons.Load(),
		w.count(t, "SELECT sum(times) FROM ended")-*runs, time.Since(began).Round(time.Second))
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
