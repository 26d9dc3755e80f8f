package durable

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/file"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/roletest"
)

var roles = roletest.Roles{"work": work, "program": program}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m)
}

// open opens the store under test.
func open(kind, dir string) (journal.Store, func() error, error) {
	switch kind {
	case "sqlite":
		s, err := sqlite.Open(filepath.Join(dir, "runs.db"))
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	case "file":
		s, err := file.Open(filepath.Join(dir, "runs"))
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}
	return nil, nil, fmt.Errorf("there is no store %q", kind)
}

// work begins a run, or resumes it, to its end.
func work(args []string) error {
	kind, dir := args[0], args[1]
	w, err := OpenWorld(dir)
	if err != nil {
		return err
	}
	defer w.Close()
	store, closed, err := open(kind, dir)
	if err != nil {
		return err
	}
	defer closed()
	_, err = Worker(context.Background(), w, store)
	return err
}

// wanted is how many processes are killed for each store.
const wanted = 110

func TestCrashesRepeatNothing(t *testing.T) {
	for _, kind := range []string{"sqlite", "file"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			kills, runs := 0, 0
			rng := rand.New(rand.NewPCG(1, uint64(len(kind))))
			longest := 300 * time.Millisecond // grows until a good part of the kills falls into the work
			for kills < wanted {
				kills += crashAndResume(t, kind, rng, &longest)
				runs++
			}
			t.Logf("%s: %d processes were killed in %d runs", kind, kills, runs)
		})
	}
}

// crashAndResume kills the processes of one run until one reaches its end, and returns how many it killed.
func crashAndResume(t *testing.T, kind string, rng *rand.Rand, longest *time.Duration) (kills int) {
	dir := t.TempDir()
	var watching *reader
	if kind == "sqlite" { // only one process may have a file store
		watching = startReader(t, kind, dir)
	}
	for {
		cmd := roletest.Command(context.Background(), "work", kind, dir)
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		if kills == 40 { // often enough: it may end
			require.NoError(t, <-done)
			break
		}
		timer := time.NewTimer(time.Duration(rng.Int64N(int64(*longest))))
		select {
		case err := <-done:
			timer.Stop()
			require.NoError(t, err)
			*longest = max(*longest/2, 50*time.Millisecond)
		case <-timer.C:
			_ = cmd.Process.Kill()
			if err := <-done; err == nil { // it was faster
				break
			}
			kills++
			continue
		}
		break
	}
	check(t, kind, dir, watching)
	return kills
}

// check looks at what is left of a run that is complete: no effect is there twice, each that its call reports is there, and a reader has got
// each fact. A
// call that reports none was stopped because its process couldn't keep its lease.
func check(t *testing.T, kind, dir string, watching *reader) {
	w, err := OpenWorld(dir)
	require.NoError(t, err)
	defer w.Close()
	store, closed, err := open(kind, dir)
	require.NoError(t, err)
	defer closed()
	a, err := NewAgent(w, store)
	require.NoError(t, err)
	facts, err := a.Session(Session).Facts(t.Context())
	require.NoError(t, err)
	if watching != nil {
		watching.requireAll(t, facts)
	}
	m, err := machine.Replay(Session, facts...)
	require.NoError(t, err)
	require.Equal(t, agent.Completed, m.State().Run.Status)
	require.Equal(t, Steps+1, m.State().Run.Step)

	results := 0
	for _, f := range facts {
		end, ok := f.(agent.ToolFinished)
		if !ok {
			continue
		}
		results++
		var in Order
		require.NoError(t, json.Unmarshal(end.Call.Input, &in))
		least := 1
		if !end.Result.Status.Good() {
			least = 0
			t.Logf("order %d: %s", in.N, end.Result.Status)
		}
		if end.Call.Name == "mark" {
			times, err := w.Mark(in.N)
			require.NoError(t, err)
			require.GreaterOrEqual(t, times, least, "mark %d", in.N)
			continue
		}
		paid, err := w.Paid(in.N)
		require.NoError(t, err)
		require.GreaterOrEqual(t, paid, least, "order %d", in.N)
		require.LessOrEqual(t, paid, 1, "order %d was paid twice", in.N)
	}
	require.Equal(t, 4*Steps, results, "each call has one result")
}
