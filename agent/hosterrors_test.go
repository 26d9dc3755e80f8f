package agent_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream"
	"github.com/pawlkit/pawl/tools"
)

// A touchy error panics in the method that it names.
type touchy struct{ in string }

func (e touchy) try(in string) {
	if e.in == in {
		panic("in " + in)
	}
}

func (e touchy) Error() string      { e.try("Error"); return "touchy" }
func (e touchy) Unwrap() error      { e.try("Unwrap"); return nil }
func (e touchy) Is(error) bool      { e.try("Is"); return false }
func (e touchy) As(any) bool        { e.try("As"); return false }
func (e touchy) Fault() fault.Class { e.try("Fault"); return fault.Permanent }

// eachTouchy calls f with errors whose methods panic.
func eachTouchy(t *testing.T, f func(t *testing.T, err error)) {
	for _, in := range []string{"Error", "Unwrap", "Is", "As", "Fault"} {
		t.Run(in, func(t *testing.T) { f(t, touchy{in}) })
		t.Run(in+" of what it wraps", func(t *testing.T) { f(t, errors.Join(errors.New("x"), touchy{in})) })
	}
}

// requireUsable fails the test unless the methods of an error can be called.
func requireUsable(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.Nil(t, fault.Panics(err))
}

// A failing store fails in the method that it names.
type failingStore struct {
	journal.Store
	in  string
	err error
}

func (s failingStore) Append(ctx context.Context, a journal.Append) error {
	if s.in == "Append" {
		return s.err
	}
	return s.Store.Append(ctx, a)
}

func (s failingStore) Head(ctx context.Context, session string) (journal.Head, error) {
	if s.in == "Head" {
		return journal.Head{}, s.err
	}
	return s.Store.Head(ctx, session)
}

func (s failingStore) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	if s.in == "Take" {
		return nil, s.err
	}
	return s.Store.Take(ctx, session, fence)
}

func (s failingStore) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	if s.in == "Read" {
		return func(yield func(journal.Record, error) bool) { yield(journal.Record{}, s.err) }
	}
	return s.Store.Read(ctx, session, after)
}

func (s failingStore) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	if s.in == "Heads" {
		return func(yield func(journal.Head, error) bool) { yield(journal.Head{}, s.err) }
	}
	return s.Store.Heads(ctx, f)
}

func TestAnErrorOfAStoreWhoseMethodsPanicIsAnError(t *testing.T) {
	inTime := func(f func(t *testing.T, err error)) func(*testing.T, error) { // an append is tried again for 30 s
		return func(t *testing.T, err error) { synctest.Test(t, func(t *testing.T) { f(t, err) }) }
	}
	eachTouchy(t, inTime(func(t *testing.T, touchy error) {
		for _, in := range []string{"Append", "Head", "Read", "Heads", "Take"} {
			store := failingStore{&journal.MapStore{}, in, fault.Wrap(fault.Permanent, touchy)}
			first, _ := scripted(t, agent.Config{Journal: store.Store}, say("Done."))
			run(t, first)
			a, _ := scripted(t, agent.Config{Journal: store}, say("Done."))
			_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			if in == "Append" || in == "Read" {
				requireUsable(t, err)
			}
			_, err = a.Run(t.Context(), agent.Continue("s"))
			requireUsable(t, err)
			if in == "Heads" {
				_, err = a.Recover(t.Context(), agent.Recovery{})
				requireUsable(t, err)
			}
		}
	}))
}

func TestAnErrorOfAProviderWhoseMethodsPanicIsAnError(t *testing.T) {
	eachTouchy(t, func(t *testing.T, touchy error) {
		for _, bare := range []bool{false, true} {
			for _, class := range []fault.Class{fault.None, fault.Permanent, fault.UserFixable} {
				failure := touchy
				if class != fault.None {
					failure = fault.Wrap(class, touchy)
				}
				model := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
					return func(yield func(provider.Chunk, error) bool) {
						_ = yield(provider.Start("m"), nil) && yield(provider.Text("half"), nil) &&
							yield(provider.Chunk{}, failure)
					}
				})
				a := newAgent(t, agent.Config{NoGuard: bare, Provider: model})
				res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
				requireUsable(t, err)
				require.Equal(t, agent.Failed, res.Status)
			}
		}
	})
}

func TestAnErrorOfAHookWhoseMethodsPanicIsAFailureOfTheHook(t *testing.T) {
	eachTouchy(t, func(t *testing.T, touchy error) {
		for name, hooks := range map[string]agent.Hooks{
			"BeforeInput": {BeforeInput: func(context.Context, *agent.IncomingText) error { return touchy }},
			"BeforeStep":  {BeforeStep: func(context.Context, *agent.Step) error { return touchy }},
			"AfterStep":   {AfterStep: func(context.Context, *agent.Step, *provider.Response) error { return touchy }},
			"BeforeTool":  {BeforeTool: func(context.Context, *agent.ToolCall) error { return touchy }},
			"AfterTool": {AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
				return touchy
			}},
			"aborting": {AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
				return agent.Abort(touchy)
			}},
			"BeforeFinish": {BeforeFinish: func(context.Context, *agent.Result) error { return touchy }},
			"AfterRun":     {AfterRun: func(context.Context, *agent.Result) error { return touchy }},
		} {
			a, _ := scripted(t, agent.Config{Hooks: []agent.Hooks{hooks},
				Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "work", ReadOnly: true})}},
				calls("work", 1, 2), say("Done."))
			res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			if err != nil {
				requireUsable(t, err)
			} else if res.Err() != nil {
				requireUsable(t, res.Err())
			}
			require.Equal(t, name == "BeforeInput", res == nil, name)
		}
	})
}

func TestAnErrorOfAToolWhoseMethodsPanicIsAResult(t *testing.T) {
	eachTouchy(t, func(t *testing.T, touchy error) {
		work := func(context.Context, Number) (string, error) { return "", touchy }
		fine := func(context.Context, Number) (string, error) { return "", nil }
		for name, tool := range map[string]tools.Tool{
			"Run":            tools.New(tools.Spec{Name: "work"}, work),
			"a repeated Run": tools.New(tools.Spec{Name: "work", ReadOnly: true}, work),
			"a panic in Run": tools.New(tools.Spec{Name: "work"}, func(context.Context, Number) (string, error) {
				panic(touchy)
			}),
			"Check": tools.Func[Number, string]{Spec: tools.Spec{Name: "work"}, Run: fine,
				Check: func(context.Context, Number) error { return touchy }},
			"Verify": tools.Func[Number, string]{Spec: tools.Spec{Name: "work"}, Run: fine,
				Verify: func(context.Context, Number, string) error { return touchy }},
			"Verify, wrapped": tools.Func[Number, string]{Spec: tools.Spec{Name: "work"}, Run: fine,
				Verify: func(context.Context, Number, string) error { return fault.Wrap(fault.UserFixable, touchy) }},
			"fixable by a user": tools.New(tools.Spec{Name: "work"}, func(context.Context, Number) (string, error) {
				return "", fault.Wrap(fault.UserFixable, touchy)
			}),
		} {
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tool}}, calls("work", 1, 2), say("Done."))
			res := run(t, a)
			require.Equal(t, agent.Completed, res.Status, name)
			for _, r := range results(res) {
				require.True(t, r.Error, name)
			}
		}
	})
}

func TestOtherErrorsOfTheHostWhoseMethodsPanicEndTheRunAtMost(t *testing.T) {
	eachTouchy(t, func(t *testing.T, touchy error) {
		for name, cfg := range map[string]agent.Config{
			"Compose": {Compose: func(context.Context, agent.ComposeInput) (string, error) { return "", touchy }},
			"Memory.Context": {
				Memory: &agent.Memory{Context: func(context.Context, agent.ContextInput) (memory.Context, error) {
					return memory.Context{}, touchy
				}}},
		} {
			a, _ := scripted(t, cfg, say("Done."))
			if _, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"}); err != nil {
				requireUsable(t, err)
			} else {
				require.Equal(t, "Memory.Context", name)
			}
		}
		a, _ := scripted(t, agent.Config{}, say("Done."))
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(touchy)
		_, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		requireUsable(t, err)

		ctx, cancel = context.WithCancelCause(t.Context())
		a, _ = scripted(t,
			agent.Config{
				Tools: []tools.Tool{tools.New(tools.Spec{Name: "work"}, func(context.Context, Number) (string, error) {
					cancel(touchy)
					return "", nil
				})}}, call("work", 1))
		res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		requireUsable(t, err)
		requireUsable(t, res.Err())
	})
}

// A panicking handler panics in each of its methods.
type panickingHandler struct{ in string }

func (h panickingHandler) try(in string) {
	if h.in == in {
		panic("slog: " + in)
	}
}

func (h panickingHandler) Enabled(context.Context, slog.Level) bool  { h.try("Enabled"); return true }
func (h panickingHandler) Handle(context.Context, slog.Record) error { h.try("Handle"); return nil }
func (h panickingHandler) WithAttrs([]slog.Attr) slog.Handler        { h.try("WithAttrs"); return h }
func (h panickingHandler) WithGroup(string) slog.Handler             { h.try("WithGroup"); return h }

func TestALogHandlerThatPanicsChangesNothing(t *testing.T) {
	handlers := []*slog.Logger{new(slog.Logger)}
	for _, in := range []string{"Enabled", "Handle", "WithAttrs", "WithGroup"} {
		handlers = append(handlers, slog.New(panickingHandler{in}))
	}
	for _, logger := range handlers {
		failing := tools.New(tools.Spec{Name: "work", ReadOnly: true}, func(context.Context, Number) (string, error) {
			return "", errors.New("no luck")
		})
		a, _ := scripted(t, agent.Config{Logger: logger, Tools: []tools.Tool{failing}, Hooks: []agent.Hooks{{
			Observer: true, AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
				return errors.New("x")
			},
		}}}, calls("work", 1, 2), say("Done."))
		require.Equal(t, agent.Completed, run(t, a).Status)
	}
}

func TestAPanicInAFunctionOfRecoveryIsContained(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	cfg := agent.Config{Name: "x", Journal: store,
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", Risk: tools.High})}}
	a, _ := scripted(t, cfg, call("work", 1), call("work", 2))
	for _, session := range []string{"s-1", "s-2"} {
		res := runInput(t, a, agent.Input{Session: session, Prompt: "go"})
		require.NoError(t, a.Session(session).Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
	}
	b, _ := scripted(t, cfg, providertest.Say("Done."), providertest.Say("Done."))
	n, err := b.Recover(t.Context(), agent.Recovery{Parallel: 1, Each: func(agent.Recovered) { panic("each") },
		Event: func(string, agent.Event) { panic("event") }})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, 2, done.all())
}

func TestAnErrorThatWrapsAPanicOfOneProviderOfSeveralStaysWhole(t *testing.T) {
	slow := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{}, fault.New(fault.RateLimited, "slow down"))
		}
	})
	panics, err := guard.New(provider.Func(func(context.Context,
		*provider.Request) iter.Seq2[provider.Chunk, error] {
		panic("boom")
	}), guard.Config{})
	require.NoError(t, err)
	chain, err := guard.Failover(slow, panics)
	require.NoError(t, err)
	_, err = newAgent(t, agent.Config{Provider: chain}).Run(t.Context(), agent.Input{Prompt: "go"})
	var all *guard.FailoverError
	require.ErrorAs(t, err, &all)
	require.ErrorContains(t, err, "slow down")
	require.ErrorAs(t, err, new(*stream.PanicError))
}
