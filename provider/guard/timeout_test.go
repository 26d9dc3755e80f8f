package guard_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/stream"
)

func once() map[fault.Class]fault.Retry {
	return map[fault.Class]fault.Retry{fault.Transient: {Attempts: 1}}
}

func TestAnAttemptThatDoesNotBeginIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{wait(time.Hour), say(start)}, good}}
		g := newGuard(t, f, guard.Config{FirstChunk: 10 * s, Idle: time.Hour, Retry: exact(fault.Transient)})
		began := time.Now()
		got := watch(g.Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, 10*s+100*ms, time.Since(began))
		require.EqualValues(t, 2, f.calls.Load())
	})
}

func TestTheDefaultLimitOfSilenceIsTwoMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{wait(time.Hour)}}}
		began := time.Now()
		got := watch(newGuard(t, f, guard.Config{Retry: once()}).Stream(t.Context(), ask))
		var late *stream.TimeoutError
		require.ErrorAs(t, got.err, &late)
		require.Equal(t, stream.TimeoutError{Kind: stream.TimeoutFirst, After: 120 * s}, *late)
		require.Equal(t, 120*s, time.Since(began))

		f = &fake{scripts: []script{{wait(119 * s), say(start), wait(119 * s), say(end)}}}
		require.NoError(t, watch(newGuard(t, f, guard.Config{Retry: once()}).Stream(t.Context(), ask)).err)
	})
}

func TestASilenceInMidStreamEndsTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{scripts: []script{{say(start, provider.Text("half")), wait(time.Hour), say(end)}}}
		began := time.Now()
		got := watch(newGuard(t, f, guard.Config{Idle: 8 * s, Retry: once()}).Stream(t.Context(), ask))
		var late *stream.TimeoutError
		require.ErrorAs(t, got.err, &late)
		require.Equal(t, stream.TimeoutIdle, late.Kind)
		require.ErrorIs(t, got.err, context.DeadlineExceeded)
		require.GreaterOrEqual(t, time.Since(began), 8*s)
		require.LessOrEqual(t, time.Since(began), 10*s)
		require.Equal(t, "half", got.text)
	})
}

// A thinker is silent but for signs of life, one each 15 s.
type thinker struct{ thought time.Duration }

func (th thinker) Stream(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		alive := stream.Alive(ctx)
		for range th.thought / (15 * s) {
			select {
			case <-time.After(15 * s):
				alive()
			case <-ctx.Done():
				yield(provider.Chunk{}, context.Cause(ctx))
				return
			}
		}
		_ = yield(start, nil) && yield(end, nil)
	}
}

func TestAThoughtMayTakeTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got := watch(newGuard(t, thinker{9 * time.Minute}, guard.Config{Retry: once()}).Stream(t.Context(), ask))
		require.NoError(t, got.err)
		require.Equal(t, 9*time.Minute, time.Since(began))

		began = time.Now()
		got = watch(newGuard(t, thinker{time.Hour}, guard.Config{Retry: once()}).Stream(t.Context(), ask))
		var late *stream.TimeoutError
		require.ErrorAs(t, got.err, &late)
		require.Equal(t, stream.TimeoutError{Kind: stream.TimeoutAlive, After: 10 * time.Minute}, *late)
		require.GreaterOrEqual(t, time.Since(began), 10*time.Minute)
		require.LessOrEqual(t, time.Since(began), 10*time.Minute+30*s)

		// An outer guard gets the signs of life, too.
		outer := newGuard(t, newGuard(t, thinker{5 * time.Minute}, guard.Config{Retry: once()}),
			guard.Config{FirstChunk: time.Minute, Alive: 10 * time.Minute, Retry: once()})
		require.NoError(t, watch(outer.Stream(t.Context(), ask)).err)
		strict := newGuard(t, thinker{5 * time.Minute}, guard.Config{FirstChunk: time.Minute, Retry: once()})
		require.ErrorAs(t, watch(strict.Stream(t.Context(), ask)).err, &late)
		require.Equal(t, stream.TimeoutFirst, late.Kind)
	})
}

func TestASlowConsumerIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, &fake{scripts: []script{good}}, guard.Config{Idle: s, FirstChunk: s})
		n := 0
		for _, err := range g.Stream(t.Context(), ask) {
			require.NoError(t, err)
			<-time.After(time.Hour)
			n++
		}
		require.Equal(t, 3, n)
	})
}

// TestAnAttemptThatIsRefusedIsNotLate: the one before it was.
func TestAnAttemptThatIsRefusedIsNotLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, option{budget: limited(4096 + tokensIn)},
			script{say(start, provider.Text("half")), wait(time.Hour)}, good)
		got := watch(r.Stream(t.Context(), ask))
		var refused *budget.Error
		require.ErrorAs(t, got.err, &refused)
		var gaveUp *guard.GaveUpError
		require.ErrorAs(t, got.err, &gaveUp)
		require.Equal(t, "there is no budget for another attempt", gaveUp.Reason)
		r.settled()
	})
}
