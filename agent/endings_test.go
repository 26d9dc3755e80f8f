package agent_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools"
)

// An ending is one way in which a run can end, and what is returned then.
type ending struct {
	steps    []providertest.Step
	limits   agent.Limits
	hook     func(context.Context, *agent.ToolCall) error
	budget   *budget.Budget
	priced   bool
	unpriced bool
	name     string
	during   func(*agent.Session, context.CancelCauseFunc) // called by the tool "work"

	status agent.Status
	code   string
	as     any   // a pointer for errors.As
	is     error // for errors.Is
	step   int   // Result.Steps
	noJSON bool  // RunFor goes on where Run ends
}

// A host's own errors, which a reader of the Result must find again.
var (
	errHost     = errors.New("the host says no")
	errShutdown = errors.New("the server shuts down")
)

// endings are the ways in which a run with a model ends.
var endings = map[string]ending{
	"completed":          {steps: []providertest.Step{say(`{"n": 1}`)}, status: agent.Completed, step: 1},
	"completed, unnamed": {steps: []providertest.Step{say(`{"n": 1}`)}, status: agent.Completed, step: 1, name: "-"},
	"after a tool": {steps: []providertest.Step{call("work", 1), say(`{"n": 1}`)}, status: agent.Completed,
		step: 2},

	"Limits.Steps": {steps: []providertest.Step{call("work", 1), say("So far.")}, limits: agent.Limits{Steps: 1},
		status: agent.Stopped, code: machine.CodeLimit, as: new(*agent.LimitError), step: 2},
	"Limits.Tokens": {steps: []providertest.Step{call("work", 1)}, limits: agent.Limits{Tokens: 5},
		status: agent.Stopped, code: machine.CodeLimit, as: new(*agent.LimitError), step: 1},
	"Limits.Cost": {steps: []providertest.Step{call("work", 1)}, limits: agent.Limits{Cost: 1}, priced: true,
		status: agent.Stopped, code: machine.CodeLimit, as: new(*agent.LimitError), step: 1},
	"Limits.RequirePrices": {limits: agent.Limits{Cost: 1}, unpriced: true,
		status: agent.Stopped, code: machine.CodeLimit, as: new(*agent.LimitError)},
	"Limits.Duration": {steps: []providertest.Step{call("sleep", 1)}, limits: agent.Limits{Duration: time.Second},
		status: agent.Stopped, code: machine.CodeLimit, as: new(*agent.LimitError), step: 1},
	"Limits.Failures": {steps: []providertest.Step{call("fail", 1), call("fail", 2)}, limits: agent.Limits{Failures: 2},
		status: agent.Stopped, code: machine.CodeLimit, as: new(*agent.LimitError), step: 2},
	"Limits.Repeats": {steps: []providertest.Step{call("same", 1), call("same", 1), call("same", 1)},
		limits: agent.Limits{Repeats: 3}, status: agent.Stopped, code: machine.CodeLimit, as: new(*agent.LimitError),
		step: 3},
	"Limits.ReplyBytes": {steps: []providertest.Step{providertest.Huge(10_000)},
		limits: agent.Limits{ReplyBytes: 1000}, status: agent.Stopped, code: machine.CodeLimit,
		as: new(*agent.LimitError), step: 1},

	"the model refuses": {steps: []providertest.Step{providertest.Refuse("I won't.")},
		status: agent.Stopped, code: machine.CodeFiltered, as: new(*agent.StopError), is: machine.ErrFiltered, step: 1},
	"the model refuses, and the provider doesn't say so": {
		steps:  []providertest.Step{providertest.Stop(provider.StopDone, providertest.Refuse("I won't."))},
		status: agent.Stopped, code: machine.CodeFiltered, as: new(*agent.StopError), is: machine.ErrFiltered, step: 1},
	"filtered": {steps: []providertest.Step{providertest.Stop(provider.StopFiltered, say("How to"))},
		status: agent.Stopped, code: machine.CodeFiltered, as: new(*agent.StopError), is: machine.ErrFiltered, step: 1},
	"cut": {steps: []providertest.Step{providertest.Stop(provider.StopLength, say("Once upon a"))},
		status: agent.Stopped, code: machine.CodeLength, as: new(*agent.StopError), is: machine.ErrCutAnswer, step: 1},
	"nothing said": {steps: []providertest.Step{call("work", 1), providertest.Empty()}, noJSON: true,
		status: agent.Stopped, code: machine.CodeEmpty, as: new(*agent.StopError), is: machine.ErrNoAnswer, step: 2},
	"nothing but thoughts": {steps: []providertest.Step{providertest.Think("Hm.")}, noJSON: true,
		status: agent.Stopped, code: machine.CodeEmpty, as: new(*agent.StopError), is: machine.ErrNoAnswer, step: 1},

	"an approval": {steps: []providertest.Step{call("risky", 1)}, status: agent.Paused,
		as: new(*agent.PausedError), step: 1},
	"an approval, unnamed": {steps: []providertest.Step{call("risky", 1)}, name: "-", status: agent.Paused,
		as: new(*agent.PausedError), step: 1},
	"a question of a tool": {steps: []providertest.Step{call("ask", 1)}, status: agent.Paused,
		as: new(*agent.PausedError), step: 1},
	"paused by the host": {steps: []providertest.Step{call("work", 1)}, status: agent.Paused, code: machine.CodeHost,
		as: new(*agent.PausedError), step: 1,
		during: func(s *agent.Session, _ context.CancelCauseFunc) { _ = s.Pause(context.Background()) }},

	"Session.Stop": {steps: []providertest.Step{call("work", 1)}, status: agent.Stopped, code: machine.CodeHost,
		as: new(*agent.StopError), step: 1,
		during: func(s *agent.Session, _ context.CancelCauseFunc) { _ = s.Stop(context.Background()) }},
	"Session.Cancel": {steps: []providertest.Step{call("work", 1)}, status: agent.Stopped, code: machine.CodeCanceled,
		as: new(*agent.StopError), step: 1,
		during: func(s *agent.Session, _ context.CancelCauseFunc) { _ = s.Cancel(context.Background()) }},
	"the context ends": {steps: []providertest.Step{call("work", 1)}, status: agent.Stopped,
		code: machine.CodeCanceled, as: new(*agent.StopError), is: context.Canceled, step: 1,
		during: func(_ *agent.Session, cancel context.CancelCauseFunc) { cancel(nil) }},
	"the context ends with a cause": {steps: []providertest.Step{call("work", 1)}, status: agent.Stopped,
		code: machine.CodeCanceled, as: new(*agent.StopError), is: errShutdown, step: 1,
		during: func(_ *agent.Session, cancel context.CancelCauseFunc) { cancel(errShutdown) }},
	"a hook aborts": {steps: []providertest.Step{call("work", 1)}, status: agent.Stopped, code: machine.CodeAborted,
		as: new(*agent.AbortError), is: errHost, step: 1,
		hook: func(context.Context, *agent.ToolCall) error { return agent.Abort(errHost) }},

	"the provider fails": {steps: []providertest.Step{providertest.FailAfter(1, say("Well then"), fault.Permanent)},
		status: agent.Failed, code: machine.CodeProvider, as: new(*provider.Error), step: 1},
	"the provider reports a failure": {steps: []providertest.Step{providertest.Stop(provider.StopError, say("Well"))},
		status: agent.Failed, code: machine.CodeProvider, step: 1},
	"a budget": {budget: budget.New(budget.Config{Session: budget.Limit{Tokens: 1}}),
		status: agent.Failed, code: machine.CodeBudget, as: new(*budget.Error), step: 1},
}

// of returns an agent that ends a run so, and the context and the session of the run.
func (e *ending) of(t *testing.T) (context.Context, *agent.Agent, string) {
	var a *agent.Agent
	name := "s"
	if e.name == "-" {
		name = ""
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	tool := func(spec tools.Spec, f func(context.Context) error) tools.Tool {
		return tools.New(spec, func(ctx context.Context, _ Number) (string, error) { return "done", f(ctx) })
	}
	var model provider.Provider = providertest.Script(e.steps...)
	if e.priced {
		model = providertest.Script(e.steps...).WithInfo(dear)
	}
	if e.unpriced {
		model = unpriced{model}
	}
	if e.budget != nil {
		guarded, err := guard.New(model, guard.Config{Budget: e.budget})
		require.NoError(t, err)
		model = guarded
	}
	cfg := agent.Config{Provider: model, Journal: &journal.MapStore{}, Limits: e.limits, Tools: []tools.Tool{
		tool(tools.Spec{Name: "work"}, func(context.Context) error {
			if e.during != nil {
				e.during(a.Session(name), cancel)
			}
			return nil
		}),
		tool(tools.Spec{Name: "sleep"}, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }),
		tool(tools.Spec{Name: "same"}, func(context.Context) error { return nil }),
		tool(tools.Spec{Name: "fail"}, func(context.Context) error { return errors.New("broken") }),
		tool(tools.Spec{Name: "risky", Risk: tools.High}, func(context.Context) error { return nil }),
		tool(tools.Spec{Name: "ask"}, func(context.Context) error {
			return tools.Suspend{Kind: "question", Prompt: "?"}
		}),
	}}
	if e.hook != nil {
		cfg.Hooks = []agent.Hooks{{Name: "guard", BeforeTool: e.hook}}
	}
	a = newAgent(t, cfg)
	return ctx, a, name
}

// check requires that a run has ended so, and that the error says it.
func (e *ending) check(t *testing.T, a *agent.Agent, name string, res *agent.Result, err error) {
	t.Helper()
	require.NotNil(t, res, "%v", err)
	require.Equal(t, e.status, res.Status, "%v", err)
	require.Equal(t, e.code, res.Code)
	require.Equal(t, res.Err(), err)
	require.Equal(t, e.status == agent.Completed, err == nil, "%v", err)
	if e.as != nil {
		require.ErrorAs(t, err, e.as)
	}
	if e.is != nil {
		require.ErrorIs(t, err, e.is)
	}
	if e.status == agent.Stopped {
		var stop *agent.StopError
		require.ErrorAs(t, err, &stop)
		require.Equal(t, e.code, stop.Code)
		require.Equal(t, res.Reason, err.Error())
	}
	if e.status == agent.Paused {
		var paused *agent.PausedError
		require.ErrorAs(t, err, &paused)
		require.Equal(t, &agent.PausedError{Session: res.Session, Pending: res.Pending, Started: true}, paused)
		if name == "" {
			require.ErrorContains(t, err, "set Session")
		}
	}
	require.Equal(t, e.step, res.Steps)
	require.Equal(t, provider.RoleUser, res.Messages[0].Role)
	if e.status == agent.Completed {
		require.NotEmpty(t, res.Text())
	}

	if name == "" { // it is forgotten when it ends
		return
	}
	read, rerr := a.Session(name).Result(t.Context())
	require.NoError(t, rerr, "a read")
	require.Equal(t, res.Messages, read.Messages)
	require.Equal(t, res.Usage, read.Usage)
	require.Equal(t, []any{res.Status, res.Code, res.Reason, res.Steps}, []any{read.Status, read.Code, read.Reason,
		read.Steps})
	switch e.status {
	case agent.Completed, agent.Paused:
		require.Equal(t, err, read.Err())
	default:
		var stop *agent.StopError
		require.ErrorAs(t, read.Err(), &stop)
		require.Equal(t, e.code, stop.Code)
		require.ErrorContains(t, read.Err(), res.Reason)
	}
}

func TestTheErrorOfARunIsNilOnlyIfItCompleted(t *testing.T) {
	for name, e := range endings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, a, session := e.of(t)
				res, err := a.Run(ctx, agent.Input{Session: session, Prompt: "go"})
				e.check(t, a, session, res, err)
				if session != "" && e.status == agent.Paused {
					res, err = a.Run(ctx, agent.Input{Session: session, Prompt: "go"})
					var paused *agent.PausedError
					require.ErrorAs(t, err, &paused)
					require.False(t, paused.Started, "it was refused")
					require.Nil(t, res)
				}
				if e.noJSON {
					return
				}
				ctx, a, session = e.of(t)
				n, res, err := agent.RunFor[Number](ctx, a, agent.Input{Session: session, Prompt: "go"})
				e.check(t, a, session, res, err)
				require.Equal(t, err == nil, n.N == 1)
			})
		})
	}
}

func TestTheErrorOfACallOfTheHostIsNilOnlyIfItCompleted(t *testing.T) {
	abort := func(context.Context, *agent.ToolCall) error { return agent.Abort(errHost) }
	for name, c := range map[string]struct {
		tool string
		e    ending
	}{
		"completed":           {"work", ending{status: agent.Completed}},
		"the tool fails":      {"fail", ending{status: agent.Completed}},
		"an approval":         {"risky", ending{status: agent.Paused, as: new(*agent.PausedError)}},
		"unnamed":             {"risky", ending{status: agent.Paused, as: new(*agent.PausedError), name: "-"}},
		"a question":          {"ask", ending{status: agent.Paused, as: new(*agent.PausedError)}},
		"a hook aborts":       {"work", withHook(endings["a hook aborts"], abort)},
		"the context ends":    {"work", withHook(endings["the context ends"], nil)},
		"Session.Cancel":      {"work", withHook(endings["Session.Cancel"], nil)},
		"its time is over":    {"sleep", withHook(endings["Limits.Duration"], nil)},
		"paused by the host":  {"work", withHook(endings["paused by the host"], nil)},
		"stopped by the host": {"work", withHook(endings["Session.Stop"], nil)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, a, session := c.e.of(t)
				res, err := a.Session(session).Call(ctx, c.tool, Number{1})
				c.e.check(t, a, session, res, err)
			})
		})
	}
}

// withHook returns the ending of a run that calls no model, with another hook.
func withHook(e ending, hook func(context.Context, *agent.ToolCall) error) ending {
	e.steps, e.hook, e.step = nil, hook, 0
	return e
}

func TestARunThatHasntEndedIsNoCompletedOne(t *testing.T) {
	var a *agent.Agent
	var during error
	a, _ = scripted(t, agent.Config{Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "look"}, func(ctx context.Context, _ Number) (string, error) {
			res, err := a.Session("s").Result(ctx)
			if err == nil {
				during = res.Err()
			}
			return "", err
		})}}, call("look", 1), say("Done."))
	require.Equal(t, "Done.", run(t, a).Text())
	require.Equal(t, machine.ErrRunning, during)
}

func refusing(chunks ...provider.Chunk) provider.Provider {
	return provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
		}
	})
}

// A refusal is what the model says, though not as text. It is no answer, whatever the provider
// gives as the reason why the reply ended.
func TestARefusalIsShownAndReturned(t *testing.T) {
	for _, stop := range []provider.StopReason{provider.StopDone, provider.StopUnknown, provider.StopFiltered} {
		a := newAgent(t,
			agent.Config{Provider: refusing(provider.Start("m"), provider.Refusal("I can't "),
				provider.Refusal("do that."),
				provider.End(stop, provider.Usage{}))})
		shown := ""
		for ev, err := range a.Stream(t.Context(), agent.Input{Prompt: "Do it."}) {
			require.NoError(t, err)
			switch ev := ev.(type) {
			case *agent.TextDelta:
				shown += ev.Text
			case *agent.RunEnded:
				require.Equal(t, agent.Stopped, ev.Status)
				require.Equal(t, machine.CodeFiltered, ev.Code)
				require.ErrorIs(t, ev.Result.Err(), machine.ErrFiltered)
				require.Equal(t, "I can't do that.", ev.Result.Text())
			}
		}
		require.Equal(t, "I can't do that.", shown)
	}
	a := newAgent(t,
		agent.Config{Provider: refusing(provider.Start("m"), provider.Text("Well."), provider.Refusal("No."),
			provider.End(provider.StopDone, provider.Usage{}))})
	res, err := a.Run(t.Context(), agent.Input{Prompt: "Do it."})
	require.ErrorIs(t, err, machine.ErrFiltered)
	require.Equal(t, "Well.", res.Text())
	require.Equal(t, "No.", res.Messages[len(res.Messages)-1].Refusal())
}

func TestAHistoryHasTheRolesThatThereAre(t *testing.T) {
	a := newAgent(t, agent.Config{Provider: refusing()})
	_, err := a.Run(t.Context(), agent.Input{Prompt: "Go.",
		History: []provider.Message{{Role: "system", Parts: []provider.Part{provider.TextPart("Be kind.")}}}})
	var wrong *agent.ArgError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "Input.History", wrong.Field)
	require.ErrorContains(t, err, `message 0 has the role "system"; use user, assistant or tool`)
}

func TestAnAgentWithoutModesSaysSo(t *testing.T) {
	a := newAgent(t, agent.Config{Provider: refusing()})
	_, err := a.Run(t.Context(), agent.Input{Prompt: "Go.", Mode: "debug"})
	require.ErrorContains(t, err, `there is no mode "debug"; the agent has none`)
}
