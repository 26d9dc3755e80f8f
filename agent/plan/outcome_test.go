package plan

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// Only what has ended is a result, and only results are recorded.
func TestAStopIsNeverAResult(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	stands := func(next agent.Next, status agent.Status, pauses ...agent.Pause) agent.Progressed {
		return agent.Progressed{Next: next, At: at, Result: &agent.Result{Status: status, Pending: pauses}}
	}
	q := agent.Pause{ID: "p"}
	for name, c := range map[string]struct {
		p    agent.Progressed
		err  error
		want work.Status
	}{
		"an error of the store":           {agent.Progressed{}, errors.New("the disk is full"), work.Stopped},
		"the end of the context":          {stands(agent.NextAgain, agent.Running), nil, work.Stopped},
		"a drain before it began":         {agent.Progressed{Next: agent.NextAgain, At: at}, nil, work.Stopped},
		"another process has it":          {stands(agent.NextLater, agent.Running), nil, work.Stopped},
		"its host has paused it":          {stands(agent.NextWait, agent.Paused), nil, work.Stopped},
		"it waits":                        {stands(agent.NextWait, agent.Paused, q), nil, work.Waits},
		"it asks, and was decided on":     {stands(agent.NextAgain, agent.Paused, q), nil, work.Stopped},
		"an input that is never taken":    {agent.Progressed{}, &agent.ArgError{Field: "Input.Key"}, work.Failed},
		"a worker that has completed":     {stands(agent.NextEnded, agent.Completed), nil, work.Done},
		"a worker that was stopped":       {stands(agent.NextEnded, agent.Stopped), nil, work.Failed},
		"a worker whose model is down":    {stands(agent.NextEnded, agent.Failed), nil, work.Failed},
		"a lease that was lost meanwhile": {agent.Progressed{}, &agent.SessionError{Code: agent.ErrBusy}, work.Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			out := outcomeOf(true, false, &c.p, c.err)
			require.Equal(t, c.want, out.Status)
			require.Equal(t, c.want == work.Failed || c.want == work.Stopped, out.Err != nil)
		})
	}
}

// The result of a call says whether it may be made again.
func TestACallThatMayHaveHadAnEffectIsFinal(t *testing.T) {
	called := func(status tools.Status, class fault.Class) *agent.Result {
		return &agent.Result{Status: agent.Completed, Called: &agent.ToolResult{Status: status, Class: class,
			ToolResult: provider.ToolResult{Parts: []provider.Part{provider.TextPart("x")}}}}
	}
	canceled := &agent.Result{Status: agent.Stopped, Code: machine.CodeCanceled}
	for name, c := range map[string]struct {
		res        *agent.Result
		repeatable bool
		want       work.Status
		class      fault.Class
		final      bool
	}{
		"done":          {called(tools.OK, fault.None), false, work.Done, fault.None, false},
		"failed":        {called(tools.Failed, fault.Transient), false, work.Failed, fault.Transient, true},
		"idempotent":    {called(tools.Failed, fault.Transient), true, work.Failed, fault.Transient, false},
		"never ran":     {called(tools.Denied, fault.Denied), false, work.Failed, fault.Denied, false},
		"has no result": {canceled, true, work.Failed, fault.Permanent, false},
	} {
		t.Run(name, func(t *testing.T) {
			out := outcomeOf(false, c.repeatable, &agent.Progressed{Next: agent.NextEnded, Result: c.res}, nil)
			require.Equal(t, c.want, out.Status)
			k := task{node: NodeState{Node: Node{ID: "a"}, Attempt: 1, Round: 1}}
			f := k.end(time.Now(), &out)
			require.Equal(t, c.class, f.Class)
			require.Equal(t, c.final, f.Final)
			require.False(t, f.Unbegun)
		})
	}
}
