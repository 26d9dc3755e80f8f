package abandon_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/abandon"
)

// how is what happened to a function.
type how struct {
	returned bool
	took     time.Duration
	reports  string // in their order, also after the call
}

// reported calls f, and waits an hour for what is reported of it.
func reported(f func(abandon.Reports) bool) (h how) {
	r := abandon.Reports{Abandoned: func() { h.reports += "abandoned " }, Returned: func() { h.reports += "returned" }}
	began := time.Now()
	h.returned = f(r)
	h.took = time.Since(began)
	<-time.After(time.Hour)
	synctest.Wait()
	return h
}

func TestAFunctionHasFiveSecondsAfterTheEndOfItsContext(t *testing.T) {
	late := func(f func()) func() {
		return func() { <-time.After(time.Minute); f() }
	}
	for name, c := range map[string]struct {
		f    func()
		want how
	}{
		"returns at once":    {func() {}, how{returned: true}},
		"ends its goroutine": {runtime.Goexit, how{returned: true}},
		"returns after the end": {func() { <-time.After(14 * time.Second) },
			how{returned: true, took: 14 * time.Second}},
		"returns too late":         {late(func() {}), how{took: 15 * time.Second, reports: "abandoned returned"}},
		"ends its goroutine, late": {late(runtime.Goexit), how{took: 15 * time.Second, reports: "abandoned returned"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				require.Equal(t, c.want, reported(func(r abandon.Reports) bool { return abandon.Do(ctx, r, c.f) }))
			})
		})
	}
}

// TestAFunctionThatReturnsJustWhenItIsAbandonedIsReportedInOrder, or not at all.
func TestAFunctionThatReturnsJustWhenItIsAbandonedIsReportedInOrder(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			h := reported(func(r abandon.Reports) bool {
				return abandon.Do(ctx, r, func() { <-time.After(abandon.Grace) })
			})
			if h.returned {
				require.Empty(t, h.reports)
			} else {
				require.Equal(t, "abandoned returned", h.reports)
			}
		})
	}
}

func TestARangeEndsHoweverItIsLeft(t *testing.T) {
	hang := func() { <-time.After(time.Minute) }
	for name, c := range map[string]struct {
		after func()      // what the function does when it may hand over nothing more
		yield func(i int) // what the reader does with an element
		most  int         // that many are read
		want  how
	}{
		"all elements":  {most: 100, want: how{returned: true}},
		"reader leaves": {most: 2, want: how{returned: true}},
		"reader leaves, and it hangs": {after: hang, most: 2,
			want: how{took: 5 * time.Second, reports: "abandoned returned"}},
		"context ends while it is read": {yield: func(int) { <-time.After(20 * time.Second) }, most: 100,
			want: how{returned: true, took: 20 * time.Second}},
		"context ends while it is read, and it hangs": {yield: func(int) { <-time.After(20 * time.Second) }, after: hang,
			most: 100, want: how{took: 25 * time.Second, reports: "abandoned returned"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				got, made := 0, 0
				require.Equal(t, c.want, reported(func(r abandon.Reports) bool {
					return abandon.Range(ctx, r, func(ctx context.Context, hand func(int, error) bool) {
						for made < 5 {
							made++
							if !hand(made, nil) {
								require.Error(t, ctx.Err())
								break
							}
						}
						if c.after != nil {
							c.after()
						}
					}, func(i int, err error) bool {
						require.Equal(t, made, i, "it doesn't run ahead")
						got++
						if c.yield != nil {
							c.yield(i)
						}
						return got < c.most
					})
				}))
				require.LessOrEqual(t, got, c.most)
			})
		})
	}
}

func TestAPanicOfTheReaderGoesOnWhenTheFunctionHasReturned(t *testing.T) {
	returned := false
	require.PanicsWithValue(t, "of the reader", func() {
		abandon.Range(t.Context(), abandon.Reports{}, func(_ context.Context, hand func(int, error) bool) {
			returned = !hand(1, nil)
		}, func(int, error) bool { panic("of the reader") })
	})
	require.True(t, returned)
}

// The end of a context reaches the contexts below it a moment later. A function that is left then
// learns why all the same.
func TestAFunctionThatIsLeftLearnsWhyItsContextHasEnded(t *testing.T) {
	why := errors.New("stopped by a person")
	for range 2_000 {
		ctx, cancel := context.WithCancelCause(t.Context())
		var cause error
		require.True(t, abandon.Range(ctx, abandon.Reports{}, func(own context.Context, hand func(int, error) bool) {
			hand(1, nil)
			<-own.Done()
			cause = context.Cause(own)
		}, func(int, error) bool {
			go cancel(why)
			return true
		}))
		require.Equal(t, why, cause)
	}
}
