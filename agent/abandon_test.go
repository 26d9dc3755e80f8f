package agent_test

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A hungModel ignores its context: it writes a word and waits for release. After that it goes on
// writing.
type hungModel struct {
	words   int
	release chan struct{}
	late    []bool // what yield returned after release
}

func (m *hungModel) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if m.words > 0 {
			yield(provider.Start("m"), nil)
		}
		for range m.words {
			yield(provider.Text("word "), nil)
		}
		<-m.release
		for range 2 {
			m.late = append(m.late, yield(provider.Text("late "), nil))
		}
	}
}

func TestAProviderThatHangsIsAbandoned(t *testing.T) {
	for name, c := range map[string]struct {
		limits agent.Limits
		stop   func(t *testing.T, a *agent.Agent, cancel context.CancelFunc)
		code   string
		words  int
	}{
		"Duration": {limits: agent.Limits{Duration: 10 * time.Second}, code: machine.CodeLimit},
		"Duration, after a chunk": {limits: agent.Limits{Duration: 10 * time.Second}, code: machine.CodeLimit,
			words: 2},
		"its context": {stop: func(_ *testing.T, _ *agent.Agent, cancel context.CancelFunc) {
			cancel()
		}, code: machine.CodeCanceled, words: 1},
		"Session.Cancel": {stop: func(t *testing.T, a *agent.Agent, _ context.CancelFunc) {
			require.NoError(t, a.Session("s").Cancel(t.Context()))
		}, code: machine.CodeCanceled},
	} {
		for _, guarded := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := &hungModel{words: c.words, release: make(chan struct{})}
					s := &swap{p: model}
					a := newAgent(t, agent.Config{Provider: s, NoGuard: !guarded, Limits: c.limits})
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					stopped := make(chan struct{})
					time.AfterFunc(10*time.Second, func() {
						defer close(stopped)
						if c.stop != nil {
							c.stop(t, a, cancel)
						}
					})
					began := time.Now()
					res, _ := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
					<-stopped
					require.Equal(t, 15*time.Second, time.Since(began))
					require.Equal(t, agent.Stopped, res.Status)
					require.Equal(t, c.code, res.Code)
					require.Len(t, res.Text(), 5*c.words)
					require.Equal(t, 1, a.Abandoned())
					requireFree(t, a, s, "s") // the session can be used
					close(model.release)
					synctest.Wait()
					require.Equal(t, []bool{false, false}, model.late)
					require.Zero(t, a.Abandoned())
				})
			})
		}
	}
}

func TestAProviderThatHangsAfterTheLoopWasLeftIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &hungModel{words: 1, release: make(chan struct{})}
		a := newAgent(t, agent.Config{Provider: model})
		for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			if _, ok := ev.(*agent.TextDelta); ok {
				break
			}
		}
		require.Equal(t, 1, a.Abandoned())
		close(model.release)
		synctest.Wait()
		require.Zero(t, a.Abandoned())
	})
}

func TestASlowReaderIsNoReasonToAbandonTheProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := scripted(t, agent.Config{Limits: agent.Limits{Duration: time.Second}}, say("Done."))
		ended := 0
		for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			switch ev.(type) {
			case *agent.TextDelta:
				<-time.After(time.Minute)
				require.Zero(t, a.Abandoned())
			case *agent.RunEnded:
				ended++
			}
			_ = err
		}
		require.Equal(t, 1, ended)
		require.Zero(t, a.Abandoned())
	})
}

// A hungStrategy compacts nothing, and waits for release.
type hungStrategy chan struct{}

func (s hungStrategy) Name() string { return "hung" }

func (s hungStrategy) Compact(context.Context, *memory.View) ([]memory.Edit, error) {
	<-s
	return nil, nil
}

func TestACompactionThatHangsIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(hungStrategy)
		a, _ := scripted(t, agent.Config{
			Limits: agent.Limits{Duration: 10 * time.Second},
			Memory: &agent.Memory{Config: memory.Config{
				Rules: []memory.Rule{{When: memory.AtTokens(1)}}, Steps: []memory.Step{{Strategy: release}}}},
		}, say("One."), say("Two."))
		began := time.Now()
		res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.ErrorAs(t, err, new(*agent.LimitError))
		require.Equal(t, 15*time.Second, time.Since(began))
		require.Equal(t, agent.Stopped, res.Status)
		require.Equal(t, machine.CodeLimit, res.Code)
		require.Equal(t, 1, a.Abandoned())
		close(release)
		synctest.Wait()
		require.Zero(t, a.Abandoned())
	})
}

func TestAProviderThatEndsItsGoroutineFailsTheCall(t *testing.T) {
	exits := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(func(provider.Chunk, error) bool) { runtime.Goexit() }
	})
	s := &swap{p: exits}
	a := newAgent(t, agent.Config{Provider: s, NoGuard: true})
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.ErrorContains(t, err, "the provider ended its goroutine")
	require.Equal(t, agent.Failed, res.Status)
	requireFree(t, a, s, "s")
}

func TestTheBodyOfALoopMayEndItsGoroutineAtAnyEvent(t *testing.T) {
	var all []agent.Event
	collect := func(a *agent.Agent, at int) (ended, returned bool) {
		over := make(chan bool)
		go func() {
			defer func() { over <- true }()
			n := 0
			for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
				if all = append(all, ev); n == at {
					runtime.Goexit()
				}
				n++
			}
			returned = true
		}()
		return <-over, returned
	}
	for at := 0; ; at++ {
		all = nil
		s := &swap{p: providertest.Script(call("add", 1), say("Done."))}
		a := newAgent(t, agent.Config{Provider: s, Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "add"})}})
		ended, returned := collect(a, at)
		require.True(t, ended)
		requireFree(t, a, s, "s")
		if returned {
			require.Greater(t, at, 8)
			return
		}
		require.Len(t, all, at+1)
	}
}

// An exiting model ends the goroutine of its caller, which it declares that it never does.
type exiting struct{ provider.Provider }

func (exiting) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(func(provider.Chunk, error) bool) { runtime.Goexit() }
}

func (exiting) EndsWithContext() bool { return true }

func TestAFunctionThatEndsTheGoroutineOfTheRunFailsTheRun(t *testing.T) {
	exit := func() error { runtime.Goexit(); return nil }
	for name, cfg := range map[string]agent.Config{
		"BeforeStep": {Hooks: []agent.Hooks{{
			BeforeStep: func(context.Context, *agent.Step) error { return exit() }}}},
		"BeforeFinish": {Hooks: []agent.Hooks{{
			BeforeFinish: func(context.Context, *agent.Result) error { return exit() }}}},
		"StopWhen": {StopWhen: []stop.Condition{func(*stop.State) (string, bool) { return "", exit() == nil }}},
		"provider": {Provider: exiting{}, NoGuard: true},
		"inline": {Tools: []tools.Tool{tools.New(tools.Spec{Name: "exit", Inline: true},
			func(context.Context, Number) (string, error) { return "", exit() })}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &swap{p: providertest.Script(call("exit", 1), say("Done."))}
			if cfg.Provider == nil {
				cfg.Provider = s
			}
			if cfg.Tools == nil {
				cfg.Tools = []tools.Tool{doing("exit", func(context.Context) error { return nil })}
			}
			a := newAgent(t, cfg)
			returned, over := false, make(chan struct{})
			go func() {
				defer close(over)
				_, _ = a.Run(context.Background(), agent.Input{Session: "s", Prompt: "go"})
				returned = true
			}()
			<-over
			require.False(t, returned)
			res, err := a.Session("s").Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, agent.Failed, res.Status)
			require.Equal(t, machine.CodeAborted, res.Code)
			require.Contains(t, res.Reason, "a function of the host ended its goroutine")
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

func TestAStreamCanBePulled(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("Done."))
	next, stop := iter.Pull2(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	defer stop()
	text := ""
	for ev, err, ok := next(); ok; ev, err, ok = next() {
		require.NoError(t, err)
		if d, is := ev.(*agent.TextDelta); is {
			text += d.Text
		}
	}
	require.Equal(t, "Done.", text)
}

// TestAProviderThatEndsJustWhenItIsAbandonedEndsOneRun however it ends. The race detector checks
// that only one goroutine goes on.
func TestAProviderThatEndsJustWhenItIsAbandonedEndsOneRun(t *testing.T) {
	for n := range 300 {
		synctest.Test(t, func(t *testing.T) {
			late := provider.Func(func(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
				return func(yield func(provider.Chunk, error) bool) {
					<-ctx.Done()
					<-time.After(5 * time.Second)
					switch n % 3 {
					case 0:
						panic("late")
					case 1:
						yield(provider.Text("late"), nil)
					}
				}
			})
			s := &swap{p: late}
			a := newAgent(t, agent.Config{Provider: s, NoGuard: true, Limits: agent.Limits{Duration: time.Second}})
			res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			require.ErrorAs(t, err, new(*agent.LimitError))
			require.Equal(t, agent.Stopped, res.Status)
			require.Equal(t, machine.CodeLimit, res.Code)
			synctest.Wait()
			require.Zero(t, a.Abandoned())
			requireFree(t, a, s, "s")
		})
	}
}

// A deafModel ignores its context. It writes a word each second, for ever.
type deafModel struct{ ended bool }

func (d *deafModel) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		for more := yield(provider.Start("m"), nil); more; more = yield(provider.Text("word "), nil) {
			<-time.After(time.Second)
		}
		d.ended = true
	}
}

func TestAModelThatIgnoresItsContextIsStoppedAtItsNextChunk(t *testing.T) {
	for name, c := range map[string]struct {
		limits agent.Limits
		stop   func(t *testing.T, a *agent.Agent, cancel context.CancelFunc)
		code   string
	}{
		"Duration": {limits: agent.Limits{Duration: 10 * time.Second}, code: machine.CodeLimit},
		"its context": {stop: func(_ *testing.T, _ *agent.Agent, cancel context.CancelFunc) {
			cancel()
		}, code: machine.CodeCanceled},
		"Session.Cancel": {stop: func(t *testing.T, a *agent.Agent, _ context.CancelFunc) {
			require.NoError(t, a.Session("s").Cancel(t.Context()))
		}, code: machine.CodeCanceled},
	} {
		for _, guarded := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					model := &deafModel{}
					s := &swap{p: model}
					a := newAgent(t, agent.Config{Provider: s, NoGuard: !guarded, Limits: c.limits})
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					var stopping sync.WaitGroup
					defer stopping.Wait()
					if c.stop != nil {
						stopping.Go(func() {
							<-time.After(10 * time.Second)
							c.stop(t, a, cancel)
						})
					}
					began := time.Now()
					res, _ := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
					require.LessOrEqual(t, time.Since(began), 11*time.Second)
					require.True(t, model.ended)
					require.Equal(t, agent.Stopped, res.Status)
					require.Equal(t, c.code, res.Code)
					require.Contains(t, res.Text(), "word word ")
					requireFree(t, a, s, "s")
				})
			})
		}
	}
}
