package due_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/due"
)

func TestASessionThatFailsIsTriedLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("bad", "good")
		w.drive = func(_ context.Context, session string) error {
			if session == "bad" {
				return errBroken
			}
			return nil
		}
		w.run(t, time.Second, 4)
		w.pass(24 * time.Hour)
		require.Len(t, w.at["good"], 1)
		at := w.at["bad"]
		for i, base := 1, time.Second; i < len(at); i, base = i+1, min(2*base, 16*time.Second) {
			require.WithinRange(t, w.began.Add(at[i]), w.began.Add(at[i-1]+base),
				w.began.Add(at[i-1]+base*3/2+time.Second), "after failure %d", i)
		}
		require.Greater(t, len(at), 3600-8)
		require.Equal(t, len(at), w.logged())
		require.Contains(t, w.log.String(), "session=bad failures=3 ")
	})
}

func TestTimesAfterFailuresDifferBetweenProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(map[time.Duration]bool)
		for range 5 {
			w := newWorld("s")
			w.drive = func(context.Context, string) error { return errBroken }
			l := w.run(t, time.Millisecond, 1)
			w.pass(2 * time.Second)
			l.Stop() // nothing reads and writes the world at a time
			seen[w.at["s"][len(w.at["s"])-1]] = true
		}
		require.Greater(t, len(seen), 1)
	})
}

// TestAnIntervalLongerThanTheLongestWaitIsKept: failures never make searches or drives more
// frequent.
func TestAnIntervalLongerThanTheLongestWaitIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s")
		w.drive = func(context.Context, string) error { return errBroken }
		w.run(t, time.Hour, 1)
		w.pass(10*time.Hour + time.Minute)
		require.Len(t, w.searches, 11)
		require.Len(t, w.at["s"], 6, "each second search finds it")
	})
}

func TestASuccessEndsTheWaitAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		l := due.New(due.Config{List: func(context.Context) iter.Seq2[due.Item, error] {
			return func(yield func(due.Item, error) bool) { yield(due.Item{Session: "s"}, nil) }
		}, Drive: func(context.Context, string) error {
			if n++; n%6 == 0 {
				return nil // and it is due again
			}
			return errBroken
		}})
		l.Start(t.Context())
		sleep(10 * time.Minute)
		l.Stop()
		require.Greater(t, n, 60)
	})
}

func TestASessionThatIsNotDueAnyMoreHasItsFailuresForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s")
		w.drive = func(context.Context, string) error { return errBroken }
		w.run(t, time.Second, 1)
		w.pass(5 * time.Minute)
		w.remove("s")
		w.pass(10 * time.Minute)
		w.add("s")
		before := len(w.at["s"])
		w.pass(10 * time.Second)
		require.GreaterOrEqual(t, len(w.at["s"]), before+3)
	})
}

func TestFailuresOfASessionThatIsNotListedWhileItIsDrivenCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s")
		w.drive = func(context.Context, string) error {
			w.remove("s")
			sleep(10 * time.Second)
			w.add("s")
			return errBroken
		}
		w.run(t, time.Second, 2)
		w.pass(time.Hour)
		require.Less(t, len(w.at["s"]), 200)
	})
}

func TestASearchThatDoesNotSeeAllForgetsNoFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s")
		w.drive = func(context.Context, string) error { return errBroken }
		w.run(t, time.Second, 1)
		w.pass(5 * time.Minute)
		w.fail("", errBroken)
		w.pass(10 * time.Minute)
		w.fail("", nil)
		before := len(w.at["s"])
		w.pass(2 * time.Minute)
		require.LessOrEqual(t, len(w.at["s"]), before+8)
		require.Greater(t, len(w.at["s"]), before)
	})
}

func TestAPokeEndsTheWaitAfterFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s", "other")
		w.drive = func(context.Context, string) error { return errBroken }
		l := w.run(t, time.Minute, 2)
		w.pass(10 * time.Second)
		l.Poke("s")
		synctest.Wait()
		require.Equal(t, []time.Duration{0, 10 * time.Second}, w.at["s"])
		require.Len(t, w.at["other"], 1)
	})
}

func TestASessionThatIsLeftForLaterIsNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s")
		w.drive = func(context.Context, string) error { return due.ErrLater }
		w.run(t, time.Second, 1)
		w.pass(time.Minute)
		require.Less(t, len(w.at["s"]), 35, "each second or third search drives it")
		require.Greater(t, len(w.at["s"]), 18)
		require.Zero(t, w.logged())
	})
}

func TestASessionThatCannotBeListedAffectsNoOtherAndIsLoggedLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("good")
		w.fail("bad", errBroken)
		w.run(t, time.Second, 1)
		w.pass(time.Minute)
		require.Equal(t, []string{"good"}, w.drives)
		require.Less(t, w.logged(), 8)
		require.Greater(t, w.logged(), 4)
	})
}
