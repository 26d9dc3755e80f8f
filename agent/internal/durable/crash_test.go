package durable

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/roletest"
)

var kills = flag.Int("kills", 2, "how many processes TestCrashesRepeatNothing kills, at least")

var roles = roletest.Roles{"host": host, "person": person, "program": program}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m)
}

// open opens the store under test.
func open(dir string) (*sqlite.Store, error) {
	return sqlite.Open(filepath.Join(dir, "runs.db"), sqlite.Config{})
}

// TestCrashesRepeatNothing kills processes while they run calls, while the tools of a source
// change, while calls are resumed with answers, and while readers watch.
func TestCrashesRepeatNothing(t *testing.T) {
	halves := []string{"one", "other"} // most of the time is spent waiting for leases
	if *kills < 4 {
		halves = halves[:1]
	}
	each := (*kills + len(halves) - 1) / len(halves)
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			t.Parallel()
			var all tally
			covered := func() bool { return all.changes > 0 && all.resumed > 0 } // with few kills, by chance
			for sessions := 1; all.kills < each || sessions == 1 || !covered() && sessions < 10; sessions++ {
				all.add(crashAndResume(t, min(each, 40))) // often enough: its runs may end
			}
			t.Logf("%+v", all)
			require.NotZero(t, all.changes, "no source has changed")
			require.NotZero(t, all.resumed, "no call was resumed")
		})
	}
}

// crashAndResume kills the processes that work on one session until its runs are complete, or most
// were killed, and returns what came of it.
func crashAndResume(t *testing.T, most int) tally {
	dir := t.TempDir()
	w, err := OpenWorld(dir)
	require.NoError(t, err)
	defer w.Close()
	watching := startReader(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	persons := make(chan int)
	go func() { persons <- killPersons(ctx, dir) }()
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		change(ctx, w)
	}()
	killed := 0
	for left := most; !hosted(t, dir, left > 0); left-- {
		killed++
	}
	stop()
	<-changed
	t.Logf("%d persons were killed", <-persons)
	n := check(t, dir, watching)
	n.kills = killed
	return n
}

// hosted runs a host to its end, and returns true, or stops it after some events: with SIGKILL, or
// each third time with SIGTERM.
func hosted(t *testing.T, dir string, kill bool) (done bool) {
	p := roletest.Start(t, "host", dir)
	for n := rand.IntN(30); !kill || n > 0; n-- {
		if p.Line() == "" {
			require.NoError(t, p.Wait())
			return true
		}
	}
	<-time.After(time.Duration(rand.IntN(3000)) * time.Microsecond)
	asked := rand.IntN(3) == 0
	if asked {
		_ = p.Process.Signal(syscall.SIGTERM)
	} else {
		_ = p.Process.Kill()
	}
	for p.Line() != "" {
	}
	err := p.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && asked {
		require.Contains(t, []int{terminated, -1}, exit.ExitCode(), "-1: before it had a handler for the signal")
	}
	return err == nil // it was faster
}

// killPersons lets one person after the other decide, and kills each after some decisions. It
// returns how many it has killed.
func killPersons(ctx context.Context, dir string) (killed int) {
	for ; ctx.Err() == nil; killed++ {
		cmd := roletest.Command(ctx, "person", dir)
		cmd.Stderr = os.Stderr
		if cmd.Start() != nil {
			return killed
		}
		select {
		case <-time.After(time.Duration(500+rand.IntN(3500)) * time.Millisecond):
		case <-ctx.Done():
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return killed
}

// change changes the tools on the shelf again and again.
func change(ctx context.Context, w *World) {
	for w.Change() == nil {
		select {
		case <-time.After(time.Duration(rand.IntN(400)) * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}
