package agent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// inDoubt returns an agent with a session whose only call was run, which its log doesn't say.
func inDoubt(t *testing.T, cfg agent.Config, done *effects, spec tools.Spec, steps ...providertest.Step) (*agent.Agent,
	agent.Config) {
	t.Helper()
	store, left := &journal.MapStore{}, &journal.MapStore{}
	cfg.Tools = append(cfg.Tools, done.tool(spec))
	first := cfg
	first.Journal, first.Policies = store, nil
	run(t, reopen(t, first, call(spec.Name, 1), say("on")))
	cut(t, store, left, "tool_finished")
	cfg.Journal = left
	return reopen(t, cfg, steps...), cfg
}

func requireInDoubt(t *testing.T, a *agent.Agent) {
	t.Helper()
	res := finished(t, a, "s")[0]
	require.Equal(t, tools.InDoubt, res.Status, res.Text())
	require.Contains(t, res.Text(), "it is not known whether it had its effect")
	requireSound(t, "s", facts(t, a, "s"))
}

func TestACallInDoubtThatIsNotRunAgainStaysInDoubt(t *testing.T) {
	again := tools.Spec{Name: "work", Idempotent: true}
	once := tools.Spec{Name: "work"}
	t.Run("the consumer leaves before it runs again", func(t *testing.T) {
		var done effects
		a, _ := inDoubt(t, agent.Config{}, &done, again)
		for ev := range a.Stream(t.Context(), agent.Continue("s")) {
			if _, ok := ev.(*agent.ToolStarted); ok {
				break
			}
		}
		require.Equal(t, 1, done.all())
		requireInDoubt(t, a)
	})
	t.Run("a policy denies it by now", func(t *testing.T) {
		var done effects
		deny := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
			return tools.Verdict{Effect: tools.Deny, Reason: "no more"}
		}
		a, _ := inDoubt(t, agent.Config{Policies: []tools.Policy{deny}}, &done, again, say("on"))
		require.Equal(t, agent.Completed, runInput(t, a, agent.Continue("s")).Status)
		require.Equal(t, 1, done.all())
		requireInDoubt(t, a)
	})
	t.Run("its tool takes other inputs by now", func(t *testing.T) {
		var done effects
		_, cfg := inDoubt(t, agent.Config{}, &done, again)
		again := again
		again.Schema = []byte(`{"properties":{"n":{"minimum":7}}}`)
		cfg.Tools = []tools.Tool{done.tool(again)}
		b := reopen(t, cfg, say("on"))
		in := agent.Continue("s")
		in.AcceptChanges = true
		require.Equal(t, agent.Completed, runInput(t, b, in).Status)
		require.Equal(t, 1, done.all())
		requireInDoubt(t, b)
		require.Regexp(t, "^The call wasn't run again: .*must be at least 7", finished(t, b, "s")[0].Text())
	})
	t.Run("it is approved, and the run is canceled", func(t *testing.T) {
		var done effects
		a, _ := inDoubt(t, agent.Config{}, &done, once, say("on"))
		res := runInput(t, a, agent.Continue("s"))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for ev := range a.Stream(ctx, approveAll(res)) {
			if _, ok := ev.(*machine.Decided); ok {
				cancel()
			}
		}
		require.Equal(t, 1, done.all())
		requireInDoubt(t, a)
	})
	t.Run("it is approved, and its tool is gone", func(t *testing.T) {
		var done effects
		a, cfg := inDoubt(t, agent.Config{}, &done, once)
		res := runInput(t, a, agent.Continue("s"))
		cfg.Tools = nil
		b := reopen(t, cfg, say("on"))
		in := approveAll(res)
		in.AcceptChanges = true
		require.Equal(t, agent.Completed, runInput(t, b, in).Status)
		require.Equal(t, 1, done.all())
		requireInDoubt(t, b)
	})
}

func TestAPauseInDoubtHasTheKeyThatTheToolWasGiven(t *testing.T) {
	for _, key := range []string{"", "order-7"} {
		var given string
		tool := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
			given = tools.IdempotencyKey(ctx)
			return "done", nil
		})
		cfg := agent.Config{Tools: []tools.Tool{tool}, Journal: &journal.MapStore{}}
		if key == "" {
			run(t, reopen(t, cfg, call("work", 1), say("on")))
		} else {
			in := agent.CallTool("s", "work", Number{1})
			in.CallKey = key
			runInput(t, reopen(t, cfg), in)
		}
		left := &journal.MapStore{}
		cut(t, cfg.Journal, left, "tool_finished")
		cfg.Journal = left
		a := reopen(t, cfg)
		p := runInput(t, a, agent.Continue("s")).Pending[0]
		require.Equal(t, agent.PauseInDoubt, p.Kind)
		require.NotEmpty(t, given)
		require.Equal(t, given, p.IdempotencyKey)
		if key != "" {
			require.Equal(t, key, given)
		}
		raw, err := json.Marshal(p)
		require.NoError(t, err)
		require.Contains(t, string(raw), `"idempotency_key":"`+given+`"`)
	}
}
