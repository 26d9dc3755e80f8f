package transcripts

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

// setLimits reads figures such as "steps=2 repeats=3".
func setLimits(l *agent.Limits, text string) error {
	for f := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(f, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			return err
		}
		field, ok := map[string]*int{"steps": &l.Steps, "repeats": &l.Repeats, "tool-failures": &l.ToolFailures,
			"failures": &l.Failures, "corrections": &l.Corrections, "parallel": &l.ParallelCalls,
			"send-backs": &l.SendBacks, "reply-calls": &l.ReplyCalls}[name]
		if !ok {
			return fmt.Errorf("no such limit: %q", name)
		}
		*field = n
	}
	return nil
}

// policy denies, asks about or permits the calls of a tool with an input; without input: all calls
// of it.
func policy(effect, text string) tools.Policy {
	name, input, _ := strings.Cut(text, " ")
	return func(_ context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
		switch {
		case d.Name() != name || input != "" && input != string(c.Input):
			return tools.Verdict{}
		case effect == "deny":
			return tools.Verdict{Effect: tools.Deny, Reason: "the policy forbids it"}
		case effect == "permit":
			return tools.Verdict{Effect: tools.Allow, Standing: true}
		}
		return tools.Verdict{Effect: tools.Ask, Reason: "the policy asks"}
	}
}

// grants returns a policy that offers a scope, and permits a tool after somebody has chosen the
// scope for it; and the hook that tells it of the choice.
func grants(scope string) (tools.Policy, agent.Hooks) {
	var granted sync.Map
	policy := func(_ context.Context, d *tools.Definition, _ *tools.Call) tools.Verdict {
		_, permits := granted.Load(d.Name())
		return tools.Verdict{Effect: tools.Allow, Standing: permits, Scopes: []tools.Scope{{Name: scope}}}
	}
	hook := func(_ context.Context, c *agent.ToolCall, _ agent.Pause, d agent.Decision) error {
		if d.Scope == scope {
			granted.Store(c.Name, true)
		}
		return nil
	}
	return policy, agent.Hooks{Name: "grants", AfterDecision: hook}
}

// hook returns a hook of the host: "answer work text" answers in a tool's place, "send-back text"
// keeps the first answer of a run from being its last, "abort work" aborts the run before a call.
func hook(text string) agent.Hooks {
	kind, rest, _ := strings.Cut(text, " ")
	name, what, _ := strings.Cut(rest, " ")
	switch kind {
	case "answer":
		return agent.Hooks{Name: kind, BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
			if c.Name == name {
				c.Answer(tools.Text(what))
			}
			return nil
		}}
	case "abort":
		return agent.Hooks{Name: kind, BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
			if c.Name == name {
				return agent.Abort(errors.New("the host aborts it"))
			}
			return nil
		}}
	case "send-back":
		return agent.Hooks{Name: kind, BeforeFinish: func(_ context.Context, r *agent.Result) error {
			if r.Steps == 1 {
				return agent.SendBack(rest)
			}
			return nil
		}}
	}
	panic("no such hook: " + kind)
}
