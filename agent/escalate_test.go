package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools"
)

// escalated runs a prompt and returns what was escalated, and all events.
func escalated(t *testing.T, a *agent.Agent) (*agent.Escalated, []agent.Event, error) {
	t.Helper()
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	notes := of[*agent.Escalated](all)
	require.Len(t, notes, 1)
	return notes[0], all, err
}

func TestAModelThatAPersonMustFixIsEscalated(t *testing.T) {
	cause := fault.NewFixable("the key is missing", "set CMS_API_KEY=secret", nil)
	a, _ := scripted(t, agent.Config{Redact: func(s string) string { return strings.ReplaceAll(s, "secret", "…") }},
		providertest.Fail(fault.UserFixable, providertest.Message("no secret"), providertest.Cause(cause)))
	note, all, err := escalated(t, a)
	require.Equal(t, fault.UserFixable, note.Class)
	require.Empty(t, note.Tool)
	require.Empty(t, note.NoteMeta.Call)
	require.Equal(t, 1, note.Step)
	require.Contains(t, note.Reason, "no …")
	require.Equal(t, []string{"set CMS_API_KEY=…", "use another provider"}, note.Remedies)
	require.Empty(t, note.Errors)

	n := len(all)
	require.IsType(t, &machine.StepFailed{}, all[n-3])
	require.IsType(t, &agent.Escalated{}, all[n-2])
	end := all[n-1].(*agent.RunEnded)
	var fixable *fault.FixableError
	for _, err := range []error{err, note.Err, end.Result.Err()} {
		require.ErrorAs(t, err, &fixable)
		require.Same(t, cause, fixable, "the chain is kept")
	}
}

func TestAGuardThatGivesUpIsEscalatedWithWhatWasTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := make([]providertest.Step, 5)
		for i := range steps {
			steps[i] = providertest.Fail(fault.Transient, providertest.Message(fmt.Sprint("attempt ", i+1)))
		}
		a, model := scripted(t, agent.Config{}, steps...)
		note, all, err := escalated(t, a)
		model.AssertCalls(t, 5)
		var gave *guard.GaveUpError
		require.ErrorAs(t, err, &gave)
		require.Equal(t, err, note.Err)
		require.Equal(t, 5, note.Attempts)
		require.Len(t, note.Errors, 4)
		for i, e := range note.Errors {
			require.ErrorContains(t, e, fmt.Sprint("attempt ", i+1))
		}
		require.NotEmpty(t, note.Remedies)
		require.Equal(t, gave.Remedies(), note.Remedies)
		require.Equal(t, err, of[*agent.RunEnded](all)[0].Result.Err())
	})
}

func TestAGuardOfTheHostSaysWhatItTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := guard.New(providertest.Script(providertest.Fail(fault.Degraded, providertest.Message("one")),
			providertest.Fail(fault.Degraded), providertest.Fail(fault.Degraded)), guard.Config{})
		require.NoError(t, err)
		note, _, _ := escalated(t, newAgent(t, agent.Config{Provider: g, NoGuard: true}))
		require.Equal(t, 3, note.Attempts)
		require.Len(t, note.Errors, 2)
		require.ErrorContains(t, note.Errors[0], "one")
	})
}

func TestWhatWasTriedIsOfTheModelCallThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		passing := providertest.Fail(fault.Transient)
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}},
			passing, call("work", 1), passing, providertest.Fail(fault.UserFixable))
		note, _, _ := escalated(t, a)
		require.Equal(t, 2, note.Step)
		require.Len(t, note.Errors, 1)
		require.Equal(t, []string{"look at the provider's account: its key, its billing and its quota",
			"use another provider"}, note.Remedies)
	})
}

type remedied struct{ list []string }

func (*remedied) Error() string      { return "given up" }
func (*remedied) Fault() fault.Class { return fault.Degraded }
func (r *remedied) Remedies() []string {
	if r.list == nil {
		panic("x")
	}
	return r.list
}

type panickyError struct{}

func (panickyError) Error() string { return "panicky" }
func (panickyError) As(any) bool   { panic("As") }

func TestRemediesComeFromTheErrorThenFromItsClass(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want []string
	}{
		"its own": {fmt.Errorf("x: %w", &remedied{[]string{"first", "second"}}), []string{"first", "second"}},
		"its own panic": {&remedied{},
			[]string{"try it again later", "look whether there is an outage", "use another provider"}},
		"rate limited": {fault.WithRetryAfter(fault.New(fault.RateLimited, "x"), 90*time.Second),
			[]string{"try it again in 1m30s", "make fewer calls, or ask for higher limits", "use another provider"}},
		"permanent":       {errors.New("x"), []string{"change what is asked for: the same would fail again"}},
		"with its remedy": {&provider.Error{Class: fault.Permanent, Remedy: "shorten it"}, []string{"shorten it"}},
		"As panics":       {panickyError{}, []string{"change what is asked for: the same would fail again"}},
		"a budget of all": {&budget.Error{Scope: budget.ScopeSession, Name: "s", Limit: 9, Spent: 9, Wanted: 1},
			[]string{`Raise the session budget of "s".`}},
		"a provider's budget": {
			&budget.Error{Scope: budget.ScopeProvider, Name: "p", Limit: 9, Spent: 9, Wanted: 1},
			[]string{`Raise the provider budget of "p".`, "use another provider"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{NoGuard: true}, providertest.FailWith(c.err))
			note, _, err := escalated(t, a)
			require.Equal(t, c.want, note.Remedies)
			if fault.Panics(c.err) == nil {
				require.Equal(t, c.err, note.Err)
				require.Equal(t, c.err, err)
			} else { // another is in its place
				require.Nil(t, fault.Panics(note.Err))
				require.Nil(t, fault.Panics(err))
				require.Error(t, err)
			}
			require.Zero(t, note.Attempts)
		})
	}
}

func TestAToolThatAPersonMustFixIsEscalatedAndTheRunGoesOn(t *testing.T) {
	cause := fault.NewFixable("no access to the site", "share the site with the agent", nil)
	denies := tools.Func[Number, string]{Spec: tools.Spec{Name: "work"}, Check: func(context.Context, Number) error {
		return cause
	},
		Run: func(context.Context, Number) (string, error) { return "ok", nil }}
	reads := flaky{down: func(ran int) error { return []error{errReset, cause}[ran-1] }}
	bare := flaky{down: func(int) error { return fault.New(fault.UserFixable, "no access") }}
	for name, c := range map[string]struct {
		tool     tools.Tool
		attempts int
		tried    []error
		remedy   string
	}{
		"its check": {denies, 0, nil, "share the site with the agent"},
		"a second try": {reads.tool(tools.Spec{Name: "work", ReadOnly: true}), 2, []error{errReset},
			"share the site with the agent"},
		"without remedy": {bare.tool(tools.Spec{Name: "work"}), 1, nil,
			`look at what the tool "work" needs: keys, permissions, settings`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, _ := scripted(t, agent.Config{Tools: []tools.Tool{c.tool}}, call("work", 1), say("Done."))
				note, all, err := escalated(t, a)
				require.NoError(t, err)
				require.Equal(t, "Done.", of[*agent.RunEnded](all)[0].Result.Text())
				require.Equal(t, "work", note.Tool)
				require.Equal(t, fault.UserFixable, fault.Of(note.Err))
				require.Equal(t, c.attempts, note.Attempts)
				require.Equal(t, c.tried, note.Errors)
				require.Equal(t, []string{c.remedy}, note.Remedies)
				for i, ev := range all {
					if f, ok := ev.(*agent.ToolFinished); ok {
						require.IsType(t, &agent.Escalated{}, all[i-1], "right before the result")
						require.Equal(t, f.Meta.Call, note.NoteMeta.Call)
						require.Equal(t, fault.UserFixable, f.Result.Class)
					}
				}
			})
		})
	}
}

func TestWhatNobodyHasToFixIsNotEscalated(t *testing.T) {
	fixable := fault.NewFixable("x", "y", nil)
	repaired := agent.Hooks{AfterTool: func(_ context.Context, _ *agent.ToolCall, res *agent.ToolResult) error {
		res.Error = false
		return nil
	}}
	for name, c := range map[string]struct {
		err   error
		hooks []agent.Hooks
		stop  bool
	}{
		"transient":          {err: errReset},
		"permanent":          {err: errors.New("x")},
		"repaired by a hook": {err: fixable, hooks: []agent.Hooks{repaired}},
		"a canceled run":     {stop: true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			work := tools.New(tools.Spec{Name: "work"}, func(ctx context.Context, _ Number) (string, error) {
				if c.stop {
					cancel()
					return "", ctx.Err()
				}
				return "", c.err
			})
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{work}, Hooks: c.hooks}, call("work", 1), say("Done."))
			all, err := events(a.Stream(ctx, agent.Input{Session: "s", Prompt: "go"}))
			require.Equal(t, ctx.Err(), err)
			require.Len(t, of[*agent.ToolFinished](all), 1)
			require.Empty(t, of[*agent.Escalated](all))
		})
	}
}

func TestLeavingAtAnEscalationEndsTheRunAsFailed(t *testing.T) {
	s := &swap{p: providertest.Script(providertest.Fail(fault.UserFixable))}
	a := newAgent(t, agent.Config{Provider: s})
	for ev := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		if _, ok := ev.(*agent.Escalated); ok {
			break
		}
	}
	all := facts(t, a, "s")
	require.Equal(t, machine.CodeProvider, all[len(all)-1].(*machine.RunEnded).Code)
	requireFree(t, a, s, "s")
}

func TestAModelCallThatIsMadeAgainIsVoidedAndSaysUntilWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := scripted(t, agent.Config{}, providertest.FailAfter(2, say("Hello there."), fault.Degraded,
			providertest.RetryAfter(9*time.Second)), say("Hi."))
		began := time.Now()
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.NoError(t, err)
		resets, waits := of[*agent.Reset](all), of[*agent.Waiting](all)
		require.Len(t, resets, 1)
		require.Equal(t, "degraded failure; the answer is made again", resets[0].Why)
		require.Len(t, waits, 1)
		require.Equal(t, provider.WaitBackingOff, waits[0].Reason)
		require.Equal(t, began.Add(9*time.Second), waits[0].Until)
		require.Equal(t, 2, waits[0].Attempt)
		require.Empty(t, waits[0].NoteMeta.Call, "it is the model call")
		require.Equal(t, "Hi.", shown(all))
		require.Empty(t, of[*agent.Escalated](all))
	})
}
