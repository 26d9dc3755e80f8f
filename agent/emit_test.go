package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// telling returns a tool that calls f.
func telling(spec tools.Spec, f func(ctx context.Context)) tools.Tool {
	return tools.New(spec, func(ctx context.Context, _ Number) (string, error) { f(ctx); return "told", nil })
}

func TestToolsAndHooksRecordFactsAndShowNotes(t *testing.T) {
	for _, inline := range []bool{false, true} {
		eachStore(t, func(t *testing.T, store journal.Store) {
			tell := func(ctx context.Context, kind string) error {
				if err := agent.Emit(ctx, kind, map[string]string{"key": secret}); err != nil {
					return err
				}
				return agent.Show(ctx, kind, Number{3})
			}
			tool := telling(tools.Spec{Name: "tell", Inline: inline}, func(ctx context.Context) {
				require.NoError(t, tell(ctx, "tool"))
			})
			hooks := agent.Hooks{
				BeforeStep: func(ctx context.Context, s *agent.Step) error { return tell(ctx, "before step") },
				AfterStep: func(ctx context.Context, s *agent.Step, r *provider.Response) error {
					return tell(ctx, "after step")
				},
				BeforeTool: func(ctx context.Context, c *agent.ToolCall) error { return tell(ctx, "before tool") },
				AfterTool: func(ctx context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
					return tell(ctx, "after tool")
				},
				BeforeFinish: func(ctx context.Context, r *agent.Result) error { return tell(ctx, "before finish") },
			}
			a, _ := scripted(t, agent.Config{Journal: store, Redact: redact, Hooks: []agent.Hooks{hooks},
				Tools: []tools.Tool{tool}}, call("tell", 1), say("Done."))
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
			require.NoError(t, err)
			kinds := []string{"before step", "after step", "before tool", "tool", "after tool", "before step",
				"after step", "before finish"}
			var facts, notes []string
			for _, f := range of[*machine.Emitted](all) {
				facts = append(facts, f.Kind)
				require.JSONEq(t, `{"key":"[key]"}`, string(f.Value))
				require.Equal(t, f.Kind == "tool", f.Call != "", "the call that the context is of")
			}
			for _, n := range of[*agent.Shown](all) {
				notes = append(notes, n.Kind)
				require.JSONEq(t, `{"n":3}`, string(n.Value))
				require.Equal(t, "s", n.Session())
				require.NotEmpty(t, n.Run())
			}
			require.Equal(t, kinds, facts)
			require.Equal(t, kinds, notes)
			stored, err := a.Session("s").Facts(t.Context())
			require.NoError(t, err)
			requireSound(t, "s", stored)
			messages, err := a.Session("s").Messages(t.Context())
			require.NoError(t, err)
			require.Len(t, messages, 4, "the model doesn't see them")
		})
	}
}

func TestEventsOfTheHostAreBounded(t *testing.T) {
	var errs []error
	tool := telling(tools.Spec{Name: "tell"}, func(ctx context.Context) {
		deep := json.RawMessage(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000))
		for _, say := range []func(context.Context, string, any) error{agent.Emit, agent.Show} {
			errs = append(errs,
				say(ctx, "", 1), say(ctx, strings.Repeat("k", 101), 1), say(ctx, "a\nb", 1), say(ctx, "\xff", 1),
				say(ctx, "big", strings.Repeat("x", 64<<10)), say(ctx, "func", func() {}),
				say(ctx, "raw", json.RawMessage("{")),
				say(ctx, "deep", deep), say(ctx, "panics", noJSON{}))
			require.NoError(t, say(ctx, strings.Repeat("k", 100), strings.Repeat("x", 64<<10-2)))
			require.NoError(t, say(ctx, "bytes", json.RawMessage("\"\xff\"")))
			require.NoError(t, say(ctx, "nil", nil))
		}
	})
	a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{tool}}, call("tell", 1),
		say("Done."))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	require.Len(t, errs, 18)
	for _, err := range errs {
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong)
		require.Contains(t, []string{"Emit", "Show"}, wrong.Func)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	require.Len(t, of[*machine.Emitted](all), 3)
	require.Len(t, of[*agent.Shown](all), 3)
	requireSound(t, "s", facts(t, a, "s"))
}

// noJSON is a value whose encoding panics.
type noJSON struct{}

func (noJSON) MarshalJSON() ([]byte, error) { panic("no") }

func TestNothingIsRecordedOutsideOfARun(t *testing.T) {
	var kept context.Context
	tool := telling(tools.Spec{Name: "tell"}, func(ctx context.Context) { kept = ctx })
	after := agent.Hooks{AfterRun: func(ctx context.Context, r *agent.Result) error {
		require.Error(t, agent.Emit(ctx, "late", 1))
		require.Error(t, agent.Show(ctx, "late", 1))
		return nil
	}}
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tool}, Hooks: []agent.Hooks{after}}, call("tell", 1),
		say("Done."))
	run(t, a)
	before := len(facts(t, a, "s"))
	for _, ctx := range []context.Context{kept, context.WithoutCancel(kept), context.Background(), nil} {
		require.Error(t, agent.Emit(ctx, "late", 1))
		require.Error(t, agent.Show(ctx, "late", 1))
	}
	require.Len(t, facts(t, a, "s"), before)
	for name, fn := range map[string]func(ctx context.Context) error{
		"Emit":                func(ctx context.Context) error { return agent.Emit(ctx, "late", 1) },
		"Show":                func(ctx context.Context) error { return agent.Show(ctx, "late", 1) },
		"SetPhase":            func(ctx context.Context) error { return agent.SetPhase(ctx, "late") },
		"SwitchMode":          func(ctx context.Context) error { return agent.SwitchMode(ctx, "late", "") },
		"LoadTools":           func(ctx context.Context) error { return agent.LoadTools(ctx, "late") },
		"RequestContextReset": agent.RequestContextReset,
	} {
		for _, ctx := range []context.Context{context.Background(), nil} {
			var wrong *agent.ArgError
			require.ErrorAs(t, fn(ctx), &wrong, name)
			require.Equal(t, name, wrong.Func)
			require.Equal(t, fault.Permanent, fault.Of(wrong))
		}
	}
}

func TestAToolThatShowsWithoutEndDoesNotFillTheMemory(t *testing.T) {
	const n = 3 * agent.MaxQueue
	begun := make(chan struct{})
	tool := telling(tools.Spec{Name: "tell"}, func(ctx context.Context) {
		for i := range n {
			require.NoError(t, agent.Show(ctx, "n", i))
		}
		close(begun)
	})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tool}}, call("tell", 1), say("Done."))
	shown, ended := 0, false
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		switch ev.(type) {
		case *agent.Shown:
			if shown == 0 {
				<-begun // a slow reader
			}
			shown++
		case machine.Fact:
			ended = true
		}
	}
	require.True(t, ended)
	require.Positive(t, shown)
	require.LessOrEqual(t, shown, 2*agent.MaxQueue)
}

func TestAHookMayEmitFromAGoroutineOfItsOwn(t *testing.T) {
	var all sync.WaitGroup
	a, _ := scripted(t, agent.Config{Hooks: []agent.Hooks{{BeforeStep: func(ctx context.Context, _ *agent.Step) error {
		all.Go(func() {
			for range 200 {
				_ = agent.Emit(ctx, "n", 1)
			}
		})
		return nil
	}}}}, say(strings.Repeat("word ", 2000)))
	for _, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
	}
	all.Wait()
}

// A host records facts in a session that nobody drives. What that waits for stays as it is.
func TestAHostRecordsFactsWhileARunWaitsAndWhenItHasEnded(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		ctx := t.Context()
		var a *agent.Agent
		var during error
		tool := telling(tools.Spec{Name: "tell", Approval: tools.AskAlways}, func(ctx context.Context) {
			during = a.Session("s").Emit(context.WithoutCancel(ctx), "price", 1)
		})
		a, _ = scripted(t, agent.Config{Journal: store, Redact: redact, Tools: []tools.Tool{tool}}, call("tell", 1),
			say("Done."))
		s := a.Session("s")
		require.ErrorIs(t, s.Emit(ctx, "price", 1), agent.ErrNothingOpen)
		res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go", Key: "first"})
		require.ErrorAs(t, err, new(*agent.PausedError))
		before, err := s.Info(ctx)
		require.NoError(t, err)

		require.NoError(t, s.Emit(ctx, "price", map[string]string{"key": secret}, "k"))
		require.ErrorIs(t, s.Emit(ctx, "price", 2, "k"), agent.ErrDuplicate)
		require.ErrorIs(t, s.Emit(ctx, "price", 2, "first"), agent.ErrDuplicate)
		require.NoError(t, s.Emit(ctx, agent.NoticeKind, "so far"))
		require.ErrorAs(t, s.Emit(ctx, "price", 2, "a", "b"), new(*agent.ArgError))
		require.ErrorAs(t, s.Emit(ctx, "price", 2, "a\nb"), new(*agent.ArgError))
		require.ErrorAs(t, s.Emit(ctx, "", 2), new(*agent.ArgError))
		after, err := s.Info(ctx)
		require.NoError(t, err)
		require.Equal(t, before.Status, after.Status)
		require.Equal(t, before.Facts+2, after.Facts)
		pending, err := s.Pending(ctx)
		require.NoError(t, err)
		require.Equal(t, res.Pending, pending)

		_, err = a.Run(ctx, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
		require.NoError(t, err)
		require.ErrorIs(t, during, agent.ErrBusy)
		require.NoError(t, s.Emit(ctx, "price", 3))
		all := of[*machine.Emitted](asEvents(facts(t, a, "s")))
		require.Len(t, all, 3)
		require.JSONEq(t, `{"key":"[key]"}`, string(all[0].Value))
		requireSound(t, "s", facts(t, a, "s"))
		messages, err := s.Messages(ctx)
		require.NoError(t, err)
		require.Len(t, messages, 4, "the model doesn't see them")
	})
}
