package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A ChangedError says that a run can't just be resumed, because the agent, or one of its subagents, isn't the one that started
// it: it has another name, or calls that are still open are of tools that are gone or have another schema. Nothing was run and
// nothing stored because of it. Input.AcceptChanges resumes the run all the same: calls of tools that are gone then get a
// result that says so, and approved inputs are checked against the new schema.
type ChangedError struct {
	Session string
	Agent   string               // the name of the agent that started the run, if that is what differs
	Tools   []machine.ToolChange // of open calls
	Calls   []string             // the ids of these calls
}

// Error says what has changed.
func (e *ChangedError) Error() string {
	if e.Agent != "" {
		return fmt.Sprintf("agent: the run of session %q was started by the agent %q; resume it with that one, or set Input.AcceptChanges", e.Session, e.Agent)
	}
	changes := make([]string, len(e.Tools))
	for i, c := range e.Tools {
		changes[i] = c.String()
	}
	return fmt.Sprintf("agent: session %q has open calls of tools that have changed (%s); bring the tools back, or set Input.AcceptChanges",
		e.Session, strings.Join(changes, ", "))
}

// Fault returns UserFixable.
func (e *ChangedError) Fault() fault.Class { return fault.UserFixable }

// fingerprints returns what the tools of a registry are.
func fingerprints(reg *tools.Registry) []machine.ToolFingerprint {
	out := make([]machine.ToolFingerprint, 0, reg.Len())
	for _, d := range reg.All() {
		out = append(out, machine.ToolFingerprint{Name: d.Name(), Schema: d.SchemaHash()})
	}
	return out
}

// checkChanges returns a *[ChangedError] if what changed concerns the open run.
func (l *sessionLog) checkChanges() error {
	if !l.run().IsOpen() {
		return nil
	}
	e := &ChangedError{Session: l.name}
	if l.agent.addChanges(l.stored, l.machine, e); e.Agent == "" && len(e.Tools) == 0 {
		return nil
	}
	return e
}

// addChanges adds to e what concerns an open run, and those of subagents that it waits for.
func (a *Agent) addChanges(ctx context.Context, m *machine.Machine, e *ChangedError) {
	r := m.State().Run
	if r.Agent != a.cfg.Name {
		e.Agent = r.Agent
		return
	}
	for _, change := range machine.ToolChanges(r.Fingerprints, a.fingerprints) {
		concerned := false
		for i := range r.Calls {
			if c := &r.Calls[i]; c.Call.Name == change.Name && c.Status != machine.CallDone {
				e.Calls, concerned = append(e.Calls, c.Call.ID), true
			}
		}
		if concerned {
			e.Tools = append(e.Tools, change)
		}
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		t := a.children[c.Call.Name]
		if t == nil || !c.Started || c.Status == machine.CallDone {
			continue
		}
		name := childSession(m.State().Session, c.Call.ID)
		child, err := t.child.load(ctx, name)
		if err != nil { // nothing of it runs before its session can be read
			a.logger.WarnContext(ctx, "agent: reading the session of a subagent", "session", name, "error", err)
		} else if child.State().Run.IsOpen() {
			t.child.addChanges(ctx, child, e)
		}
	}
}

// continued returns the fact that a run is resumed.
func (l *sessionLog) continued() machine.Continued {
	f := machine.Continued{Changes: machine.ToolChanges(l.run().Fingerprints, l.agent.fingerprints)}
	if l.otherTools() {
		f.Tools = l.agent.fingerprints
	}
	return f
}

// outOfDate reports whether the run needs a Continued before it goes on: its process died before it could pause, so that the time
// since then wasn't worked, or its agent has other tools now.
func (l *sessionLog) outOfDate() bool { return l.run().Status == Running || l.otherTools() }

// otherTools reports whether the agent's tools aren't just those that the open run knows: some may have been added.
func (l *sessionLog) otherTools() bool {
	return !slices.Equal(l.run().Fingerprints, l.agent.fingerprints)
}
