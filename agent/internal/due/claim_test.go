package due_test

import (
	"context"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/due"
)

// TestWhatWaitsElsewhereIsClaimedInItsTurn: one at a time, each as soon as one can be driven, by
// its place among the others.
func TestWhatWaitsElsewhereIsClaimedInItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		waiting := []string{"q1", "q2", "q3", "q4"}
		listed := map[string]int{"high": 9, "low": 1}
		var drives []string
		claims, fails := 0, 1
		l := due.New(due.Config{Interval: time.Hour, Parallel: 1,
			List: func(context.Context) iter.Seq2[due.Item, error] {
				return func(yield func(due.Item, error) bool) {
					mu.Lock()
					defer mu.Unlock()
					if len(waiting) > 0 && !yield(due.Item{Priority: 5}, nil) {
						return
					}
					for name, priority := range listed {
						if !yield(due.Item{Session: name, Priority: priority}, nil) {
							return
						}
					}
				}
			},
			Claim: func(context.Context) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				if claims++; claims == 3 && fails > 0 {
					fails--
					return "", errBroken
				}
				name := waiting[0]
				waiting = waiting[1:]
				return name, nil
			},
			Drive: func(_ context.Context, name string) error {
				<-time.After(time.Second)
				mu.Lock()
				defer mu.Unlock()
				drives = append(drives, name)
				delete(listed, name)
				return nil
			}})
		l.Start(t.Context())
		defer l.Stop()
		<-time.After(time.Minute)
		mu.Lock()
		require.Equal(t, []string{"high", "q1", "q2", "low"}, drives, "after a claim that failed, the next search is due")
		mu.Unlock()
		<-time.After(time.Hour)
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, []string{"high", "q1", "q2", "low", "q3", "q4"}, drives)
		require.Equal(t, 5, claims)
	})
}

func TestAClaimOfWhatIsDrivenIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		claims, drives, back := 0, 0, 0
		l := due.New(due.Config{Interval: time.Second, Parallel: 2,
			List: func(context.Context) iter.Seq2[due.Item, error] {
				return func(yield func(due.Item, error) bool) {
					mu.Lock()
					defer mu.Unlock()
					if claims < 2 {
						yield(due.Item{}, nil)
					}
				}
			},
			Claim: func(context.Context) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				claims++
				return "s", nil
			},
			PutBack: func(_ context.Context, session string) {
				mu.Lock()
				defer mu.Unlock()
				require.Equal(t, "s", session)
				back++
			},
			Drive: func(context.Context, string) error {
				mu.Lock()
				drives++
				mu.Unlock()
				<-time.After(time.Minute)
				return nil
			}})
		l.Start(t.Context())
		defer l.Stop()
		<-time.After(30 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, []int{2, 1, 1}, []int{claims, drives, back})
	})
}
