package guard_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fake plays one script per attempt, and the last one again and again.
type fake struct {
	scripts []script
	calls   atomic.Int64
}

type script []func(ctx context.Context, yield func(provider.Chunk, error) bool) bool

func (f *fake) Stream(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
	s := f.scripts[min(int(f.calls.Add(1)), len(f.scripts))-1]
	return func(yield func(provider.Chunk, error) bool) {
		for _, step := range s {
			if !step(ctx, yield) {
				return
			}
		}
	}
}

func say(chunks ...provider.Chunk) func(context.Context, func(provider.Chunk, error) bool) bool {
	return func(_ context.Context, yield func(provider.Chunk, error) bool) bool {
		for _, c := range chunks {
			if !yield(c, nil) {
				return false
			}
		}
		return true
	}
}

func fail(err error) func(context.Context, func(provider.Chunk, error) bool) bool {
	return func(_ context.Context, yield func(provider.Chunk, error) bool) bool {
		yield(provider.Chunk{}, err)
		return false
	}
}

// wait is a provider at work for d that respects its context.
func wait(d time.Duration) func(context.Context, func(provider.Chunk, error) bool) bool {
	return func(ctx context.Context, yield func(provider.Chunk, error) bool) bool {
		select {
		case <-time.After(d):
			return true
		case <-ctx.Done():
			yield(provider.Chunk{}, ctx.Err())
			return false
		}
	}
}

var (
	start = provider.Start("fake-1")
	end   = provider.End(provider.StopDone, provider.Usage{Input: 3, Output: 2})
	good  = script{say(start, provider.Text("fine"), end)}
	ask   = &provider.Request{Messages: []provider.Message{provider.User("hello")}}
)

func failure(class fault.Class) error { return fault.New(class, "fake: "+class.String()) }

func newGuard(t testing.TB, p provider.Provider, cfg guard.Config) *guard.Guard {
	g, err := guard.New(p, cfg)
	require.NoError(t, err)
	return g
}

// exact is the default policy without the spreading.
func exact(classes ...fault.Class) map[fault.Class]fault.Retry {
	m := map[fault.Class]fault.Retry{}
	for _, c := range classes {
		m[c] = fault.Retry{Exact: true}
	}
	return m
}

// seen is what a consumer saw.
type seen struct {
	kinds []provider.ChunkKind
	waits []provider.Wait
	text  string // that stands: emptied by Reset
	err   error
}

func watch(seq stream.Seq) (s seen) {
	for c, err := range seq {
		if err != nil {
			s.err = err
			continue
		}
		s.kinds = append(s.kinds, c.Kind)
		switch c.Kind {
		case provider.KindWaiting:
			s.waits = append(s.waits, *c.Extra.Wait)
		case provider.KindText:
			s.text += c.Text
		case provider.KindReset:
			s.text = ""
		}
	}
	return s
}

func TestAnAnswerPassesThroughUnchanged(t *testing.T) {
	f := &fake{scripts: []script{good}}
	g := newGuard(t, f, guard.Config{Name: "primary"})
	s := watch(g.Stream(t.Context(), ask))
	require.NoError(t, s.err)
	require.Equal(t, []provider.ChunkKind{provider.KindStart, provider.KindText, provider.KindEnd}, s.kinds)
	require.Equal(t, "fine", s.text)
	require.EqualValues(t, 1, f.calls.Load())
	require.Equal(t, "primary", g.Name())
	require.Same(t, f, g.Unwrap())
}

func TestASecondRangeIsRefused(t *testing.T) {
	f := &fake{scripts: []script{good}}
	seq := newGuard(t, f, guard.Config{}).Stream(t.Context(), ask)
	require.NoError(t, watch(seq).err)
	s := watch(seq)
	require.ErrorIs(t, s.err, provider.ErrConsumed)
	require.Empty(t, s.kinds)
	require.EqualValues(t, 1, f.calls.Load())
}

func TestNewRefusesWhatMakesNoSense(t *testing.T) {
	var nilFake *fake
	for _, p := range []provider.Provider{nil, nilFake, provider.Func(nil)} {
		g, err := guard.New(p, guard.Config{})
		require.ErrorIs(t, err, provider.ErrNilProvider)
		require.Nil(t, g)
	}
	retry := func(c fault.Class, r fault.Retry) guard.Config {
		return guard.Config{Name: "x", Retry: map[fault.Class]fault.Retry{c: r}}
	}
	for _, tc := range []struct {
		cfg   guard.Config
		field string
	}{
		{guard.Config{Name: "x", Idle: -1}, "Idle"},
		{guard.Config{Name: "x", FirstChunk: -time.Second}, "FirstChunk"},
		{guard.Config{Name: "x", Idle: 1 << 62}, "Idle"},
		{guard.Config{Name: "x", MaxRetryAfter: -1}, "MaxRetryAfter"},
		{retry(fault.Transient, fault.Retry{Attempts: -1}), "Retry"},
		{retry(fault.None, fault.Retry{}), "Retry"},
	} {
		g, err := guard.New(&fake{}, tc.cfg)
		require.Nil(t, g)
		var bad *guard.ConfigError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, tc.field, bad.Field)
		require.Contains(t, bad.Problem, "use ")
		require.Contains(t, err.Error(), "guard: Config."+tc.field+": i")
		require.Contains(t, err.Error(), `in "x"`)
		require.Equal(t, fault.Permanent, fault.Of(err))
	}
}

func TestBadCallsEndWithAnError(t *testing.T) {
	g := newGuard(t, &fake{scripts: []script{good}}, guard.Config{})
	require.ErrorIs(t, watch(g.Stream(t.Context(), nil)).err, provider.ErrNilRequest)
	var none *guard.Guard
	require.ErrorIs(t, watch(none.Stream(t.Context(), ask)).err, provider.ErrNilProvider)
	require.ErrorIs(t, watch((&guard.Guard{}).Stream(t.Context(), ask)).err, provider.ErrNilProvider)
	var noContext context.Context
	require.NoError(t, watch(g.Stream(noContext, ask)).err)
	nothing := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] { return nil })
	one := map[fault.Class]fault.Retry{fault.Transient: {Attempts: 1}}
	require.ErrorIs(t, watch(newGuard(t, nothing, guard.Config{Retry: one}).Stream(t.Context(), ask)).err,
		provider.ErrIncomplete)
}

func TestAViolationOfTheGrammarEndsTheCall(t *testing.T) {
	for name, s := range map[string]script{
		"text before start": {say(provider.Text("x"))},
		"end in a call":     {say(start, provider.ToolStart(0, "", "f"), end)},
		"text after end":    {say(start, end, provider.Text("x"))},
		"waiting too late":  {say(start, provider.Waiting(provider.Wait{}))},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{scripts: []script{s}}
			got := watch(newGuard(t, f, guard.Config{}).Stream(t.Context(), ask))
			var bad *provider.GrammarError
			require.ErrorAs(t, got.err, &bad)
			require.EqualValues(t, 1, f.calls.Load())
		})
	}
}

func TestAPanicOfTheProviderIsAnError(t *testing.T) {
	boom := func(context.Context, func(provider.Chunk, error) bool) bool { panic("secret-free text") }
	f := &fake{scripts: []script{{say(start, provider.Text("half")), boom}}}
	s := watch(newGuard(t, f, guard.Config{}).Stream(t.Context(), ask))
	var p *stream.PanicError
	require.ErrorAs(t, s.err, &p)
	require.Equal(t, "secret-free text", p.Value)
	require.Contains(t, string(p.Stack), "guard_test.go")
	require.NotContains(t, s.err.Error(), "guard_test.go")
	require.Equal(t, fault.Permanent, fault.Of(s.err))
	require.Equal(t, "half", s.text)
	require.EqualValues(t, 1, f.calls.Load())

	early := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] { panic("early") })
	require.ErrorAs(t, watch(newGuard(t, early, guard.Config{}).Stream(t.Context(), ask)).err, &p)
	require.Equal(t, "early", p.Value)
}

func TestAPanicOfTheProviderAfterABreakIsContained(t *testing.T) {
	sore := func(_ context.Context, yield func(provider.Chunk, error) bool) bool {
		if !yield(start, nil) {
			panic("in its clean-up")
		}
		return true
	}
	g := newGuard(t, &fake{scripts: []script{{sore}}}, guard.Config{})
	require.NotPanics(t, func() {
		for range g.Stream(t.Context(), ask) {
			break
		}
	})
}

func TestAPanicOfTheConsumerGoesOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ctx context.Context
		spy := func(c context.Context, _ func(provider.Chunk, error) bool) bool { ctx = c; return true }
		f := &fake{scripts: []script{{spy, say(start, provider.Text("x")), wait(time.Hour), say(end)}}}
		g := newGuard(t, f, guard.Config{})
		require.PanicsWithValue(t, "mine", func() {
			for range g.Stream(t.Context(), ask) {
				panic("mine")
			}
		})
		require.Error(t, ctx.Err(), "the attempt's context is released")
		require.EqualValues(t, 1, f.calls.Load())
	})
}

func TestAProviderThatSwallowsTheConsumersPanicIsNotAskedAgain(t *testing.T) {
	swallow := func(_ context.Context, yield func(provider.Chunk, error) bool) (ok bool) {
		defer func() { _ = recover() }()
		return yield(start, nil)
	}
	f := &fake{scripts: []script{{swallow}}}
	require.Panics(t, func() {
		for range newGuard(t, f, guard.Config{}).Stream(t.Context(), ask) {
			panic("mine")
		}
	})
	require.EqualValues(t, 1, f.calls.Load())
}

func TestBreakingOffAtAnyChunkReleasesTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for at := range 5 {
			var ctx context.Context
			spy := func(c context.Context, _ func(provider.Chunk, error) bool) bool { ctx = c; return true }
			f := &fake{scripts: []script{
				{say(start, provider.Text("half")), fail(failure(fault.Transient))},
				{spy, say(start, provider.Text("whole"), end)},
			}}
			n := 0
			for range newGuard(t, f, guard.Config{}).Stream(t.Context(), ask) {
				if n++; n > at {
					break
				}
			}
			require.Equal(t, at+1, n)
			if ctx != nil {
				require.Error(t, ctx.Err())
			}
		}
	})
}

func TestTheGuardIsLookedThrough(t *testing.T) {
	counted := counter{&fake{scripts: []script{good}}}
	g := newGuard(t, newGuard(t, counted, guard.Config{}), guard.Config{})
	n, err := provider.CountTokens(t.Context(), g, ask)
	require.NoError(t, err)
	require.Equal(t, 42, n)
}

type counter struct{ *fake }

func (counter) CountTokens(context.Context, *provider.Request) (int, error) { return 42, nil }

func TestGaveUpErrorTellsWhatTheLastErrorTold(t *testing.T) {
	cause := fault.WithRetryAfter(failure(fault.RateLimited), time.Hour)
	e := &guard.GaveUpError{Name: "n", Attempts: 1, Class: fault.RateLimited, Reason: "why", Err: cause}
	wait, ok := fault.RetryAfter(e)
	require.True(t, ok)
	require.Equal(t, time.Hour, wait)
	require.Equal(t, fault.RateLimited, fault.Of(e))
	require.True(t, errors.Is(e, cause))
	require.Equal(t, "guard n: gave up after 1 attempt (why): fake: rate_limited", e.Error())
}
