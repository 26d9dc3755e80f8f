package due_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/due"
)

var errBroken = errors.New("broken")

func TestWhatIsDueIsDrivenByPriorityAndThenByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for _, it := range []due.Item{{Session: "late", Since: w.began},
			{Session: "early", Since: w.began.Add(-time.Hour)},
			{Session: "people", Priority: 1, Since: w.began.Add(time.Minute)}, {Session: "b", Priority: -3},
			{Session: "a", Priority: -3}} {
			w.due[it.Session] = it
		}
		w.run(t, time.Hour, 1)
		w.pass(time.Minute)
		require.Equal(t, []string{"people", "early", "late", "a", "b"}, w.drives)
		require.Len(t, w.searches, 1)
		require.Equal(t, 4*time.Second, w.at["b"][0], "each as soon as the one before it has ended")
	})
}

func TestSearchesAreMadeAtIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.run(t, 10*time.Second, 4)
		w.pass(25 * time.Second)
		w.add("s")
		w.pass(10 * time.Second)
		require.Equal(t, []time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second}, w.searches)
		require.Equal(t, map[string][]time.Duration{"s": {30 * time.Second}}, w.at)
	})
}

func TestNoMoreAreDrivenAtATimeThanAllowedAndThenThereIsNoSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("a", "b", "c", "d", "e")
		w.drive = func(context.Context, string) error {
			sleep(time.Minute)
			return nil
		}
		w.run(t, time.Second, 2)
		w.pass(59 * time.Second)
		require.Len(t, w.drives, 2)
		require.Len(t, w.searches, 1)
		w.add("A") // is found before the rest of the queue is driven
		w.pass(2 * time.Minute)
		require.ElementsMatch(t, []string{"a", "b"}, w.drives[:2])
		require.ElementsMatch(t, []string{"A", "c"}, w.drives[2:4])
		require.ElementsMatch(t, []string{"d", "e"}, w.drives[4:])
		require.Equal(t, 2, w.most)
		w.pass(10 * time.Second)
		require.Equal(t, []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute}, w.searches[:4])
	})
}

func TestTheDefaultsAreOneSecondAndEight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for i := range 20 {
			w.add(fmt.Sprint(i))
		}
		w.drive = func(context.Context, string) error {
			sleep(700 * time.Millisecond)
			return nil
		}
		l := due.New(due.Config{List: w.list, Drive: w.driveOne})
		l.Start(t.Context())
		w.pass(3500 * time.Millisecond)
		l.Stop()
		require.Len(t, w.drives, 20)
		require.Equal(t, 8, w.most)
		require.Equal(t, []time.Duration{0, 1400 * time.Millisecond, 2400 * time.Millisecond, 3400 * time.Millisecond},
			w.searches, "when all are busy, the search waits until one isn't")
	})
}

func TestASessionThatIsListedWhileItIsDrivenIsNotDrivenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s")
		w.drive = func(context.Context, string) error {
			sleep(time.Minute)
			return nil
		}
		l := w.run(t, time.Second, 4)
		w.pass(30 * time.Second)
		l.Poke("s")
		w.pass(time.Minute)
		require.Equal(t, []string{"s"}, w.drives)
		require.False(t, w.twice)
		require.Greater(t, len(w.searches), 80)
	})
}

func TestAPokeMakesASearchAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		l := w.run(t, time.Hour, 4)
		w.pass(time.Minute)
		w.add("s", "t")
		l.Poke("s")
		l.Poke("t")
		synctest.Wait()
		require.ElementsMatch(t, []string{"s", "t"}, w.drives)
		w.pass(time.Hour - time.Second)
		n := len(w.searches)
		require.LessOrEqual(t, n, 3)
		w.pass(time.Minute)
		require.Len(t, w.searches, n+1, "the interval begins after the last search")
	})
}

func TestWhatIsPostedToASessionAtTheEndOfItsDriveIsFoundAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s")
		again := true
		w.drive = func(context.Context, string) error {
			sleep(time.Minute)
			if again {
				again = false
				return due.ErrLater // it stays due
			}
			return nil
		}
		l := w.run(t, time.Hour, 4)
		w.pass(30 * time.Second)
		l.Poke("s")
		w.pass(5 * time.Minute)
		require.Equal(t, []time.Duration{0, time.Minute}, w.at["s"])
		require.Len(t, w.searches, 3)
	})
}

func TestASearchTakesAThousandAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		yielded, driven := 0, 0
		l := due.New(due.Config{Parallel: 1, Interval: time.Hour,
			List: func(context.Context) iter.Seq2[due.Item, error] {
				return func(yield func(due.Item, error) bool) {
					for yielded = 1; yield(due.Item{Session: fmt.Sprint(yielded)}, nil); yielded++ {
					}
				}
			},
			Drive: func(context.Context, string) error {
				driven++
				return nil
			}})
		l.Start(t.Context())
		synctest.Wait()
		l.Stop()
		require.Equal(t, []int{1000, 1000}, []int{yielded, driven})
	})
}

func TestAListThatFailsIsLoggedAndAskedAgainAfterTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s")
		w.fail("", errBroken)
		w.run(t, 10*time.Second, 4)
		w.pass(15 * time.Second)
		require.Len(t, w.searches, 2)
		require.Equal(t, 2, w.logged())
		require.Contains(t, w.log.String(), "broken")
		require.Empty(t, w.drives)
		w.fail("", nil)
		w.pass(10 * time.Second)
		require.Equal(t, []string{"s"}, w.drives)
	})
}

func TestStopEndsTheSearchAndWaitsForWhatIsDriven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("a", "b", "c")
		w.drive = func(ctx context.Context, _ string) error {
			sleep(time.Minute)
			return ctx.Err()
		}
		l := w.run(t, time.Second, 2)
		w.pass(10 * time.Second)
		l.Stop()
		require.Equal(t, time.Minute, time.Since(w.began))
		require.ElementsMatch(t, []string{"a", "b"}, w.drives)
		require.NotContains(t, w.due, "a", "it wasn't interrupted")
	})
}

func TestTheEndOfTheContextStopsSearchesAndDrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("a", "b", "c")
		w.drive = func(ctx context.Context, _ string) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		ctx, cancel := context.WithCancel(t.Context())
		l := w.loop(time.Second, 2)
		l.Start(ctx)
		w.pass(10 * time.Second)
		cancel()
		synctest.Wait()
		l.Stop()
		require.ElementsMatch(t, []string{"a", "b"}, w.drives)
		require.Zero(t, w.logged(), "the end of the context is no failure")
	})
}

func TestStopInterruptsAListThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		l := due.New(due.Config{Drive: w.driveOne, List: func(ctx context.Context) iter.Seq2[due.Item, error] {
			return func(yield func(due.Item, error) bool) {
				<-ctx.Done()
				yield(due.Item{}, ctx.Err())
			}
		}})
		l.Start(t.Context())
		synctest.Wait()
		l.Stop()
	})
}

func TestStartAndStopMayBeCalledInAnyOrder(t *testing.T) {
	calls := map[string]func(*due.Loop, context.Context){
		"start": func(l *due.Loop, ctx context.Context) { l.Start(ctx) },
		"stop":  func(l *due.Loop, _ context.Context) { l.Stop() },
		"poke":  func(l *due.Loop, _ context.Context) { l.Poke("s") },
	}
	for _, order := range [][]string{{"stop", "start"}, {"stop", "stop", "start", "poke"}, {"poke", "stop"},
		{"poke", "start", "start", "stop", "stop"}, {"start", "stop", "start", "poke"}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("s")
				l := w.loop(time.Second, 4)
				for _, name := range order {
					calls[name](l, t.Context())
				}
				w.pass(time.Hour)
				require.LessOrEqual(t, len(w.searches), 1, "it stays stopped")
				if order[0] == "stop" {
					require.Empty(t, w.searches)
				}
			})
		})
	}
}

// Sessions fail, succeed, become due again and are poked at random, and the Loop keeps its
// promises.
func TestUnderARandomLoadNothingIsDrivenTwiceOrForgotten(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			rng := rand.New(rand.NewPCG(seed, 0))
			random := func(n int) int {
				mu.Lock()
				defer mu.Unlock()
				return rng.IntN(n)
			}
			w := newWorld()
			w.drive = func(context.Context, string) error {
				sleep(time.Duration(random(5000)) * time.Millisecond)
				if random(3) == 0 {
					return errBroken
				}
				return nil
			}
			l := w.run(t, time.Second, 5)
			for range 500 {
				s := fmt.Sprint(random(20))
				if w.add(s); random(2) == 0 {
					l.Poke(s)
				}
				sleep(time.Duration(random(2000)) * time.Millisecond)
			}
			w.pass(2 * time.Hour)
			l.Stop()
			require.Empty(t, w.due)
			require.False(t, w.twice)
			require.Equal(t, 5, w.most)
		})
	}
}

func TestPokesThatComeFasterThanASearchEndsDontKeepSessionsFromBeingDriven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s")
		list := func(ctx context.Context) iter.Seq2[due.Item, error] {
			sleep(time.Second)
			return w.list(ctx)
		}
		l := due.New(due.Config{List: list, Drive: w.driveOne})
		l.Start(t.Context())
		for range 100 {
			l.Poke("another")
			w.pass(100 * time.Millisecond)
		}
		l.Stop()
		require.Equal(t, []string{"s"}, w.drives)
	})
}

func TestASessionThatEndsTheGoroutineThatDrivesItHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("s", "t")
		w.drive = func(_ context.Context, session string) error {
			if session == "s" {
				runtime.Goexit()
			}
			return nil
		}
		l := w.run(t, time.Second, 1)
		w.pass(10 * time.Second)
		l.Stop()
		require.Len(t, w.at["t"], 1)
		require.Greater(t, len(w.at["s"]), 1, "it is tried again")
		require.Contains(t, w.log.String(), "ended its goroutine")
	})
}
