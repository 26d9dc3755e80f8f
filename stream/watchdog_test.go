package stream_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

const s = time.Second

// A call makes a call with its context.
type call = func(context.Context) stream.Seq

// watch makes a call with a Watchdog, as a guard does.
func watch(ctx context.Context, t stream.Timeouts, make call) stream.Seq {
	return func(yield func(provider.Chunk, error) bool) {
		var dog stream.Watchdog
		ctx := dog.Begin(ctx, t)
		defer dog.End()
		left, ended := false, false
		make(ctx)(func(chunk provider.Chunk, err error) bool {
			ended = ended || err == nil && chunk.Kind == provider.KindEnd
			if err != nil || dog.Fired() != nil && !ended {
				return false
			}
			dog.Hold(&chunk)
			left = !yield(chunk, nil)
			dog.Wait()
			return !left
		})
		if late := dog.End(); late != nil && !left && !ended {
			yield(provider.Chunk{}, late)
		}
	}
}

// silent is watch with a limit for silence.
func silent(ctx context.Context, d time.Duration, make call) stream.Seq {
	return watch(ctx, stream.Timeouts{Idle: d}, make)
}

// slow yields each chunk after the delay before it.
func slow(steps ...any) call {
	return func(ctx context.Context) stream.Seq {
		return func(yield func(provider.Chunk, error) bool) {
			for _, step := range steps {
				switch step := step.(type) {
				case time.Duration:
					if !sleep(ctx, step, yield) {
						return
					}
				case signs:
					for range step {
						if !sleep(ctx, 3*s, yield) {
							return
						}
						stream.Alive(ctx)()
					}
				case provider.Chunk:
					if !yield(step, nil) {
						return
					}
				}
			}
		}
	}
}

// signs is a number of signs of life, each after 3 s.
type signs int

func TestAWatchedCallEndsWhenItsTimeIsUp(t *testing.T) {
	text := provider.Text("x")
	hold := func(until time.Duration) provider.Chunk {
		return provider.Waiting(provider.Wait{Until: time.Now().Add(until)})
	}
	for name, tc := range map[string]struct {
		t        stream.Timeouts
		steps    func() []any
		kind     stream.TimeoutKind // "": it succeeds
		min, max time.Duration
	}{
		"no limit": {stream.Timeouts{}, func() []any {
			return []any{10 * time.Hour, start, 10 * time.Hour, end}
		}, "", 20 * time.Hour, 20 * time.Hour},
		"in time": {stream.Timeouts{First: 10 * s, Idle: 4 * s, Total: 30 * s}, func() []any {
			return []any{9 * s, start, 3 * s, text, 3 * s, end}
		}, "", 15 * s, 15 * s},
		"first": {stream.Timeouts{First: 10 * s, Idle: 4 * s}, func() []any {
			return []any{11 * s, start}
		}, stream.TimeoutFirst, 10 * s, 10 * s},
		"first as idle": {stream.Timeouts{Idle: 4 * s}, func() []any {
			return []any{5 * s, start}
		}, stream.TimeoutFirst, 4 * s, 4 * s},
		"only first": {stream.Timeouts{First: 4 * s}, func() []any {
			return []any{3 * s, start, time.Hour, end}
		}, "", time.Hour + 3*s, time.Hour + 3*s},
		"idle": {stream.Timeouts{First: time.Hour, Idle: 4 * s}, func() []any {
			return []any{time.Minute, start, 3 * s, text, time.Hour, end}
		}, stream.TimeoutIdle, 67 * s, 68 * s},
		"idle is longer": {stream.Timeouts{First: s, Idle: time.Hour}, func() []any {
			return []any{start, 2 * time.Hour, end}
		}, stream.TimeoutIdle, time.Hour, time.Hour + s/4},
		"total": {stream.Timeouts{Total: 5 * s}, func() []any {
			return []any{start, 3 * s, text, 3 * s, end}
		}, stream.TimeoutTotal, 5 * s, 5 * s},
		"total first": {stream.Timeouts{Idle: time.Hour, Total: 5 * s}, func() []any {
			return []any{time.Hour, start}
		}, stream.TimeoutTotal, 5 * s, 5 * s},
		"after a reset": {stream.Timeouts{First: 20 * s, Idle: 4 * s}, func() []any {
			return []any{start, provider.Reset(""), 19 * s, start, end}
		}, "", 19 * s, 19 * s},
		"held back": {stream.Timeouts{Idle: 4 * s}, func() []any {
			return []any{hold(time.Hour), time.Hour + 3*s, start, end}
		}, "", time.Hour + 3*s, time.Hour + 3*s},
		"held, then silent": {stream.Timeouts{Idle: 4 * s}, func() []any {
			return []any{hold(time.Minute), time.Hour}
		}, stream.TimeoutFirst,
			64 * s, 65 * s},
		"held for unknown": {stream.Timeouts{Idle: 4 * s}, func() []any {
			return []any{provider.Waiting(provider.Wait{}), time.Hour, start, time.Hour}
		}, stream.TimeoutIdle, time.Hour + 4*s, time.Hour + 5*s},
		"alive before the answer": {stream.Timeouts{First: 4 * s, Alive: time.Minute}, func() []any {
			return []any{signs(19), start, end}
		}, "", 57 * s, 57 * s},
		"alive within the answer": {stream.Timeouts{Idle: 4 * s, Alive: time.Minute}, func() []any {
			return []any{start, signs(19), text, signs(19), end}
		}, "", 114 * s, 114 * s},
		"alive, then silent": {stream.Timeouts{Idle: 4 * s, Alive: time.Minute}, func() []any {
			return []any{start, signs(5), time.Hour}
		}, stream.TimeoutIdle, 19 * s, 20 * s},
		"alive for too long": {stream.Timeouts{Idle: 4 * s, Alive: time.Minute}, func() []any {
			return []any{start, signs(19), text, signs(1000)}
		}, stream.TimeoutAlive, 117 * s, 118 * s},
		"alive for too long before the answer": {stream.Timeouts{First: 4 * s, Alive: time.Minute}, func() []any {
			return []any{signs(1000)}
		}, stream.TimeoutAlive, 60 * s, 61 * s},
		"signs that don't count": {stream.Timeouts{Idle: 4 * s}, func() []any {
			return []any{start, signs(1000)}
		}, stream.TimeoutIdle, 4 * s, 5 * s},
		"signs that count for less than silence": {stream.Timeouts{Idle: 4 * s, Alive: 2 * s}, func() []any {
			return []any{start, signs(1000)}
		}, stream.TimeoutIdle, 4 * s, 5 * s},
		"total, though alive": {stream.Timeouts{Idle: 4 * s, Alive: time.Minute, Total: 30 * s}, func() []any {
			return []any{signs(1000)}
		}, stream.TimeoutTotal, 30 * s, 30 * s},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				making := slow(tc.steps()...)
				began := time.Now()
				_, err := read(watch(t.Context(), tc.t, making))
				took := time.Since(began)
				require.GreaterOrEqual(t, took, tc.min)
				require.LessOrEqual(t, took, tc.max)
				if tc.kind == "" {
					require.NoError(t, err)
					return
				}
				var late *stream.TimeoutError
				require.ErrorAs(t, err, &late)
				require.Equal(t, tc.kind, late.Kind)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, fault.Transient, fault.Of(late))
				require.True(t, late.Timeout())
				require.NotErrorIs(t, err, context.Canceled, "the provider's own word for it is replaced")
			})
		})
	}
}

func TestEveryKindOfTimeoutSaysWhatTookTooLong(t *testing.T) {
	texts := map[string]bool{}
	for _, kind := range []stream.TimeoutKind{stream.TimeoutFirst, stream.TimeoutIdle, stream.TimeoutTotal} {
		text := (&stream.TimeoutError{Kind: kind, After: 3 * s}).Error()
		require.Contains(t, text, "3s")
		texts[text] = true
	}
	require.Len(t, texts, 3)
}

func TestTheConsumersTimeDoesNotCountAsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		for _, err := range silent(t.Context(), s, slow(start, provider.Text("x"), s/2, end)) {
			require.NoError(t, err)
			<-time.After(time.Hour)
			n++
		}
		require.Equal(t, 3, n)
	})
}

func TestTheCauseOfTheCallsContextIsTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		_, err := read(silent(t.Context(), s, func(ctx context.Context) stream.Seq {
			return func(func(provider.Chunk, error) bool) {
				<-ctx.Done()
				cause = context.Cause(ctx)
			}
		}))
		var late *stream.TimeoutError
		require.ErrorAs(t, cause, &late)
		require.ErrorIs(t, err, late, "also of a sequence that just ends")
	})
}

func TestAnEndAfterATimeoutCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stubborn := func(last provider.Chunk) call {
			return func(ctx context.Context) stream.Seq {
				return func(yield func(provider.Chunk, error) bool) {
					if yield(start, nil) {
						<-ctx.Done()
						yield(last, nil)
					}
				}
			}
		}
		got, err := read(silent(t.Context(), s, stubborn(end)))
		require.NoError(t, err)
		require.Len(t, got, 2)
		got, err = read(silent(t.Context(), s, stubborn(provider.Text("late"))))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, got, 1)
	})
}

func TestAWatchedCallIsReleasedHoweverItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ctx context.Context
		call := func(c context.Context) stream.Seq { ctx = c; return words(3) }
		watched := func() stream.Seq {
			return watch(t.Context(), stream.Timeouts{Idle: s, Total: time.Hour}, call)
		}
		_, err := read(watched())
		require.NoError(t, err)
		require.Error(t, ctx.Err())
		for range watched() {
			break
		}
		require.Error(t, ctx.Err())
		require.PanicsWithValue(t, "mine", func() {
			for range watched() {
				panic("mine")
			}
		})
		require.Error(t, ctx.Err())
		var noContext context.Context
		_, err = read(watch(noContext, stream.Timeouts{}, call))
		require.NoError(t, err)
	})
}

func TestAWatchdogServesOneCallAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dog stream.Watchdog
		require.Nil(t, dog.End(), "before any call")
		for range 3 {
			ctx := dog.Begin(t.Context(), stream.Timeouts{Idle: s})
			began := time.Now()
			<-ctx.Done()
			require.Equal(t, s, time.Since(began))
			require.Same(t, context.Cause(ctx), error(dog.Fired()))
			require.NotNil(t, dog.End())

			ctx = dog.Begin(t.Context(), stream.Timeouts{Idle: s})
			require.Nil(t, dog.Fired())
			<-time.After(s / 2)
			require.NoError(t, ctx.Err())
			require.Nil(t, dog.End())
			<-time.After(time.Minute)
			require.Nil(t, dog.End())
			require.Equal(t, context.Canceled, context.Cause(ctx))
		}
	})
}

// TestTheLimitsOfACallMeanNothingForTheNext checks that no limit is carried over.
func TestTheLimitsOfACallMeanNothingForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dog stream.Watchdog
		for _, before := range []stream.Timeouts{{Idle: s}, {Idle: s / 10}, {Idle: time.Hour}, {Total: 2 * s}, {}} {
			for _, pause := range []time.Duration{0, s / 8, s / 4, s, time.Minute} {
				dog.Begin(t.Context(), before)
				require.Nil(t, dog.End())
				<-time.After(pause)
				for _, limit := range []stream.Timeouts{{Idle: s}, {First: s, Idle: time.Minute}, {Total: s}} {
					began := time.Now()
					ctx := dog.Begin(t.Context(), limit)
					<-ctx.Done()
					require.Equal(t, s, time.Since(began))
					require.Same(t, context.Cause(ctx), error(dog.End()))
				}
			}
		}
	})
}

func TestACallThatWaitsForLongIsNotEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, until := range []time.Time{time.Unix(1<<40, 0), time.Unix(-1<<40, 0), time.Now().Add(math.MaxInt64)} {
			var w stream.Watchdog
			ctx := w.Begin(t.Context(), stream.Timeouts{Idle: time.Minute})
			w.Hold(new(provider.Waiting(provider.Wait{Until: until})))
			w.Wait()
			<-time.After(time.Minute - time.Second)
			require.NoError(t, ctx.Err(), until)
			w.Hold(new(provider.Start("m")))
			require.Nil(t, w.End())
		}
	})
}
