package guard_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream"
)

// ignore is a provider at work for d that ignores its context.
func ignore(d time.Duration) func(context.Context, func(provider.Chunk, error) bool) bool {
	return func(context.Context, func(provider.Chunk, error) bool) bool {
		<-time.After(d)
		return true
	}
}

// A left is what [guard.Abandonable] reports of a call.
type left struct {
	abandoned, returned atomic.Int64
	at                  atomic.Int64 // how many had been abandoned when one returned
}

func (l *left) config(t *testing.T) guard.AbandonConfig {
	hook := func(count *atomic.Int64) func(context.Context, *provider.Request) {
		return func(ctx context.Context, req *provider.Request) {
			require.Equal(t, t.Name(), ctx.Value(callKey{}))
			require.Same(t, ask, req)
			count.Add(1)
			l.at.Store(l.abandoned.Load())
			panic("a hook that panics changes nothing")
		}
	}
	return guard.AbandonConfig{OnAbandoned: hook(&l.abandoned), OnReturned: hook(&l.returned)}
}

type callKey struct{}

// called is the context of a call.
func called(t *testing.T) (context.Context, context.CancelCauseFunc) {
	return context.WithCancelCause(context.WithValue(t.Context(), callKey{}, t.Name()))
}

func TestAProviderThatEndsWithItsContextNeedsNoWrapper(t *testing.T) {
	model := providertest.Script(providertest.Say("fine"))
	require.Same(t, model, guard.Abandonable(model, guard.AbandonConfig{}))
	require.Nil(t, guard.Abandonable(nil, guard.AbandonConfig{}))
	wrapped := guard.Abandonable(&fake{scripts: []script{good}}, guard.AbandonConfig{})
	require.True(t, provider.EndsWithContext(wrapped))
	require.Same(t, wrapped, guard.Abandonable(wrapped, guard.AbandonConfig{}))
}

func TestGuardsAndChainsEndWithTheirContextIfAllTheirProvidersDo(t *testing.T) {
	model, deaf := providertest.Script(), &fake{}
	require.True(t, provider.EndsWithContext(newGuard(t, model, guard.Config{})))
	require.False(t, provider.EndsWithContext(newGuard(t, deaf, guard.Config{})))
	require.True(t, provider.EndsWithContext(newChain(t, guard.ChainConfig{}, model, model)))
	require.False(t, provider.EndsWithContext(newChain(t, guard.ChainConfig{}, model, deaf)))
	require.False(t, provider.EndsWithContext((*guard.Chain)(nil)))
}

func TestWhatIsInsideAnAbandonableProviderIsFound(t *testing.T) {
	p := guard.Abandonable(&maker{name: "acme"}, guard.AbandonConfig{})
	info, ok := provider.Info(p)
	require.True(t, ok)
	require.Equal(t, "acme", info.Provider)
}

// hidden is a provider without its declaration.
func hidden(p provider.Provider) provider.Provider { return provider.Func(p.Stream) }

func TestAnAbandonableProviderConformsStrictly(t *testing.T) {
	providertest.Conformance(t, func() provider.Provider {
		return guard.Abandonable(hidden(providertest.Script(
			providertest.Reply(providertest.Think("Oslo, then."), providertest.Call("weather", `{"city":"Oslo"}`)),
			providertest.Say("two"))), guard.AbandonConfig{})
	}, providertest.Strict())
}

func TestChunksAreHandedOverInOrderAndOneAtATime(t *testing.T) {
	const most = 1000
	var made atomic.Int64
	p := guard.Abandonable(provider.Func(
		func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
			return func(yield func(provider.Chunk, error) bool) {
				for i := range most {
					made.Add(1)
					if !yield(provider.Text(strconv.Itoa(i)), nil) {
						return
					}
				}
			}
		}), guard.AbandonConfig{})
	got := 0
	for c, err := range p.Stream(t.Context(), ask) {
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(got), c.Text)
		got++
		runtime.Gosched()
		require.Equal(t, int64(got), made.Load(), "the provider must not run ahead")
	}
	require.Equal(t, most, got)
}

func TestACallEndsWithItsContextWhateverTheProviderDoes(t *testing.T) {
	why := errors.New("enough")
	for name, c := range map[string]struct {
		script    script
		text      string
		took      time.Duration // the context ends after 10 s
		abandoned bool
		err       string
	}{
		"before the first chunk": {script: script{wait(time.Hour)}, took: 10 * s, err: "context canceled: enough"},
		"between chunks": {script: script{say(start, provider.Text("a")), wait(time.Hour)}, text: "a", took: 10 * s,
			err: "context canceled: enough"},
		"deaf before the first chunk": {script: script{ignore(time.Hour)}, took: 15 * s, abandoned: true,
			err: "guard: the provider ignored the end of its context for 5s and was abandoned (context canceled: " +
				"enough)"},
		"deaf between chunks": {script: script{say(start, provider.Text("a")), ignore(time.Hour)}, text: "a",
			took: 15 * s, abandoned: true,
			err: "guard: the provider ignored the end of its context for 5s and was abandoned (context canceled: " +
				"enough)"},
		"deaf for 3 s": {script: script{say(start), ignore(13 * s), say(provider.Text("late"), end)}, took: 13 * s,
			err: "context canceled: enough"},
		"deaf between all chunks": {script: script{say(start), ignore(4 * s), say(provider.Text("a")), ignore(4 * s),
			say(provider.Text("b")), ignore(4 * s), say(provider.Text("c")), ignore(time.Hour)}, text: "ab",
			took: 12 * s,
			err:  "context canceled: enough"},
		"silent about it": {script: script{ignore(12 * s)}, took: 12 * s, err: "context canceled: enough"},
		"an error of its own": {script: script{ignore(12 * s), fail(failure(fault.Degraded))}, took: 12 * s,
			err: "context canceled: enough"},
		"a panic meanwhile": {script: script{ignore(12 * s),
			func(context.Context, func(provider.Chunk, error) bool) bool { panic("boom") }}, took: 12 * s,
			err: "stream: the provider panicked: boom"},
		"deaf after End": {script: script{say(start, provider.Text("a"), end), ignore(time.Hour)}, text: "a",
			took: 15 * s, abandoned: true},
		"deaf after an error": {script: script{say(start), fail2(failure(fault.Degraded)), ignore(time.Hour)},
			took: 5 * s, abandoned: true, err: "fake: degraded"},
		"quick": {script: good, text: "fine"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := called(t)
				stop := time.AfterFunc(10*s, func() { cancel(why) })
				defer stop.Stop()
				var l left
				p := guard.Abandonable(&fake{scripts: []script{c.script}}, l.config(t))
				began := time.Now()
				seq := p.Stream(ctx, ask)
				got := watch(seq)
				require.Equal(t, c.took, time.Since(began))
				require.Equal(t, c.text, got.text)
				if c.err == "" {
					require.NoError(t, got.err)
				} else {
					require.EqualError(t, got.err, c.err)
				}
				require.Equal(t, c.abandoned, l.abandoned.Load() == 1)
				require.Zero(t, l.returned.Load())
				if e := new(guard.AbandonedError); errors.As(got.err, &e) {
					require.Equal(t, 5*s, e.After)
					require.ErrorIs(t, e, why)
					require.ErrorIs(t, e, context.Canceled)
					require.True(t, provider.Canceled(e), "it is no failure of the provider's")
				}
				require.ErrorIs(t, watch(seq).err, provider.ErrConsumed)
				<-time.After(2 * time.Hour)
				require.Equal(t, c.abandoned, l.returned.Load() == 1)
				require.Equal(t, l.abandoned.Load(), l.at.Load())
				cancel(nil)
			})
		})
	}
}

// fail2 yields an error and goes on.
func fail2(err error) func(context.Context, func(provider.Chunk, error) bool) bool {
	return func(_ context.Context, yield func(provider.Chunk, error) bool) bool {
		yield(provider.Chunk{}, err)
		return true
	}
}

func TestADeadlineThatAProviderIgnoresIsOfClassTransient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), s)
		defer cancel()
		p := guard.Abandonable(&fake{scripts: []script{{ignore(time.Minute)}}}, guard.AbandonConfig{Grace: 2 * s})
		began := time.Now()
		_, err := provider.Generate(ctx, p, ask)
		require.Equal(t, 3*s, time.Since(began))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, fault.Transient, fault.Of(err))
		<-time.After(time.Hour)
	})
}

func TestWhatAnAbandonedCallYieldsReachesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late []bool
		p := guard.Abandonable(&fake{scripts: []script{{say(start), ignore(time.Minute),
			func(_ context.Context, yield func(provider.Chunk, error) bool) bool {
				late = append(late, yield(provider.Text("late"), nil), yield(provider.Chunk{}, errors.New("late")))
				panic("late")
			}}}}, guard.AbandonConfig{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []provider.ChunkKind
		for c, err := range p.Stream(ctx, ask) {
			cancel()
			if err == nil {
				got = append(got, c.Kind)
			}
		}
		require.Equal(t, []provider.ChunkKind{provider.KindStart}, got)
		<-time.After(time.Hour)
		synctest.Wait()
		require.Equal(t, []bool{false, false}, late)
	})
}

func TestTheProviderOfAConsumerThatLeavesHasTimeToReturn(t *testing.T) {
	leave := map[string]func(seq iter.Seq2[provider.Chunk, error]){
		"break": func(seq iter.Seq2[provider.Chunk, error]) {
			for range seq {
				break
			}
		},
		"panic": func(seq iter.Seq2[provider.Chunk, error]) {
			defer func() { _ = recover() }()
			for range seq {
				panic("of the loop body")
			}
		},
		"Goexit": func(seq iter.Seq2[provider.Chunk, error]) {
			over := make(chan struct{})
			go func() {
				defer close(over)
				for range seq {
					runtime.Goexit()
				}
			}()
			<-over
		},
	}
	for name, c := range map[string]struct {
		then      func(context.Context, func(provider.Chunk, error) bool) bool
		took      time.Duration
		abandoned bool
	}{
		"at once":   {then: wait(time.Hour)},
		"after 4 s": {then: ignore(4 * s), took: 4 * s},
		"too late":  {then: ignore(time.Minute), took: 5 * s, abandoned: true},
	} {
		for how, leave := range leave {
			t.Run(how+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := called(t)
					defer cancel(nil)
					wanted := true
					var l left
					p := guard.Abandonable(&fake{scripts: []script{{
						func(ctx context.Context, yield func(provider.Chunk, error) bool) bool {
							wanted = yield(start, nil)
							return c.then(ctx, yield)
						}}}}, l.config(t))
					began := time.Now()
					leave(p.Stream(ctx, ask))
					require.Equal(t, c.took, time.Since(began))
					require.Equal(t, c.abandoned, l.abandoned.Load() == 1)
					<-time.After(time.Hour)
					synctest.Wait()
					require.False(t, wanted)
					require.Equal(t, c.abandoned, l.returned.Load() == 1)
				})
			})
		}
	}
}

func TestAPanicOfTheLoopBodyGoesOn(t *testing.T) {
	p := guard.Abandonable(&fake{scripts: []script{good}}, guard.AbandonConfig{})
	require.PanicsWithValue(t, "of the loop body", func() {
		for range p.Stream(t.Context(), ask) {
			panic("of the loop body")
		}
	})
}

func TestAnAbandonableProviderThatPanicsOrExitsFails(t *testing.T) {
	boom := errors.New("boom")
	step := func(f func()) script {
		return script{say(start), func(context.Context, func(provider.Chunk, error) bool) bool { f(); return true }}
	}
	var l left
	got := watch(guard.Abandonable(&fake{scripts: []script{step(func() { panic(boom) })}},
		l.config(t)).Stream(t.Context(), ask))
	var panicked *stream.PanicError
	require.ErrorAs(t, got.err, &panicked)
	require.ErrorIs(t, got.err, boom)
	require.Contains(t, string(panicked.Stack), "TestAnAbandonableProviderThatPanicsOrExitsFails")
	require.Equal(t, fault.Permanent, fault.Of(got.err))

	got = watch(guard.Abandonable(&fake{scripts: []script{step(runtime.Goexit)}}, l.config(t)).Stream(t.Context(), ask))
	require.EqualError(t, got.err, "guard: the provider ended its goroutine")
	require.Equal(t, fault.Permanent, fault.Of(got.err))

	refuses := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] { panic(boom) })
	require.ErrorIs(t, watch(guard.Abandonable(refuses, l.config(t)).Stream(t.Context(), ask)).err, boom)
	none := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] { return nil })
	require.NoError(t, watch(guard.Abandonable(none, l.config(t)).Stream(t.Context(), ask)).err)
	require.Zero(t, l.abandoned.Load())
}

func TestTheTimeOfTheConsumerIsNotTheProviders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := called(t)
		var l left
		p := guard.Abandonable(&fake{scripts: []script{{say(start), ignore(4 * s), say(provider.Text("late"), end)}}},
			l.config(t))
		var errs []error
		for _, err := range p.Stream(ctx, ask) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			cancel(nil)
			<-time.After(time.Minute)
		}
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], context.Canceled)
		require.Zero(t, l.abandoned.Load())
	})
}

func TestAGuardMakesTheCallOfASilentDeafProviderAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := &fake{scripts: []script{{say(start, provider.Text("half")), ignore(time.Hour)}, good}}
		abandoned := 0
		g := newGuard(t, guard.Abandonable(deaf, guard.AbandonConfig{
			OnAbandoned: func(context.Context, *provider.Request) { abandoned++ }}), guard.Config{Idle: 20 * s})
		res, err := provider.Generate(t.Context(), g, ask)
		require.NoError(t, err)
		require.Equal(t, "fine", res.Text())
		require.Equal(t, 1, abandoned)
		<-time.After(2 * time.Hour)
	})
}
