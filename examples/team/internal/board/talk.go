package board

import (
	"encoding/json"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
)

// A talk is what a conversation says about its newest plan.
type talk struct {
	session string
	idle    bool // no run of the conversation is in progress or waits

	pause, call string          // ids; empty if there is no plan
	input       json.RawMessage // of the call
	before      json.RawMessage // that of the version before
	version     int             // from 1; a plan that takes the place of one that never ran has the next
	decision    machine.DecisionKind
	run         string // that the plan became; empty if it didn't
}

// event takes an event of the conversation.
func (t *talk) event(ev agent.Event) {
	if ev.Envelope().Session() != t.session {
		return
	}
	switch ev := ev.(type) {
	case *agent.RunStarted:
		t.idle = false
	case *agent.RunEnded:
		t.idle = ev.Status != agent.Paused
	case *agent.Suspended:
		t.asked(&ev.Pause)
	case *machine.Decided:
		if t.pause == ev.Decision.ID {
			t.decision = ev.Decision.Kind
		}
	case *machine.Emitted:
		t.ran(ev.Kind, ev.Value)
	case *agent.Shown:
		t.ran(ev.Kind, ev.Value)
	}
}

// asked takes a pause, if it is about a plan that was submitted.
func (t *talk) asked(p *agent.Pause) {
	if _, ok := plan.Submitted(p.Call.Name, p.Call.Input); !ok || p.Kind != agent.PauseApproval {
		return
	}
	next := talk{session: t.session, pause: p.ID, call: p.Call.ID, input: p.Call.Input, version: 1}
	switch {
	case t.call == next.call: // asked again
		next.version, next.before = t.version, t.before
	case t.call != "" && (p.Call.Name != plan.ToolSubmit || t.run == "" && t.decision != machine.Rejected):
		next.version, next.before = t.version+1, t.input
	}
	*t = next
}

// ran takes the name of the run that the plan became.
func (t *talk) ran(kind string, value json.RawMessage) {
	var o plan.Overview
	if kind == plan.EventKind && t.decision != "" && json.Unmarshal(value, &o) == nil && o.Run != "" {
		t.run = o.Run
	}
}

// status returns how the plan stands while it isn't a run.
func (t *talk) status() string {
	switch {
	case t.decision == machine.Rejected:
		return string(plan.Refused)
	case t.idle:
		return string(plan.Canceled)
	case t.decision == "":
		return "proposed"
	case t.decision == machine.Suggested:
		return "changing"
	}
	return "starting"
}
