package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A ChangedError says that a run wasn't resumed because the agent, or one of its subagents, has
// changed since the run started: it has another name, or tools of open calls were removed or have
// another schema. Nothing was run or stored. Input.AcceptChanges resumes the run anyway: calls of
// removed tools then get a result that says so, and approved inputs are checked against the new
// schema.
type ChangedError struct {
	Session string
	// Agent is the name of the agent that started the run, or "(without a name)", if that is what
	// differs.
	Agent string
	Tools []machine.ToolChange // of open calls
	Calls []string             // the ids of these calls
}

// Error says what has changed.
func (e *ChangedError) Error() string {
	if e.Agent != "" {
		return fmt.Sprintf(
			"agent: the run of session %q was started by the agent %q; resume it with that one, or set "+
				"Input.AcceptChanges", e.Session, e.Agent)
	}
	changes := make([]string, len(e.Tools))
	for i, c := range e.Tools {
		changes[i] = c.String()
	}
	return fmt.Sprintf(
		"agent: session %q has open calls of tools that have changed (%s); bring the tools back, or set "+
			"Input.AcceptChanges",
		e.Session, strings.Join(changes, ", "))
}

// Fault returns UserFixable.
func (e *ChangedError) Fault() fault.Class { return fault.UserFixable }

// checkChanges returns a *[ChangedError] if a change concerns the open run.
func (x *driver) checkChanges() error {
	if !x.log.Run().IsOpen() {
		return nil
	}
	e := &ChangedError{Session: x.log.Name}
	if x.agent.addChanges(x.log.Reads, x.log.Machine(), x.log.toolset(), e); e.Agent == "" && len(e.Tools) == 0 {
		return nil
	}
	return e
}

// addChanges adds to e the changes that concern an open run, and the open runs of its subagents.
func (a *Agent) addChanges(ctx context.Context, m *machine.Machine, set *toolset, e *ChangedError) {
	r := m.State().Run
	if r.Agent != a.cfg.Name {
		e.Agent = cmp.Or(r.Agent, "(without a name)")
		return
	}
	for _, change := range machine.ToolChanges(r.Fingerprints, set.fingerprints) {
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
	for _, c := range a.openChildren(r) {
		name := childSession(m.State().Session, c.id)
		child, err := c.child.sessions.Load(ctx, name)
		if err != nil { // nothing of it runs before its session can be read
			a.logger.WarnContext(ctx, "agent: reading the session of a subagent", "session", name, "error", err)
		} else if child.State().Run.IsOpen() {
			c.child.addChanges(ctx, child, c.child.toolsOf(ctx, child.State()), e)
		}
	}
}

// continued returns the fact that a run is resumed.
func (l *sessionLog) continued() *machine.Continued {
	now := l.toolset().fingerprints
	f := &machine.Continued{Changes: machine.ToolChanges(l.Run().Fingerprints, now)}
	if l.otherTools() {
		f.Tools = now
	}
	return f
}

// otherTools reports whether the agent's tools differ from those that the open run knows.
func (l *sessionLog) otherTools() bool {
	return !slices.Equal(l.Run().Fingerprints, l.toolset().fingerprints)
}
