package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A ToolFingerprint says what a tool was: its name and the fingerprint of its input schema.
type ToolFingerprint struct {
	Name   string `json:"name"`
	Schema string `json:"schema"`
}

// A ToolChange is a tool that isn't what it was when a run began. Tools that were added are no change.
type ToolChange struct {
	Name string `json:"name"`
	Was  string `json:"was"`           // fingerprint of its input schema
	Now  string `json:"now,omitempty"` // empty: the tool is gone
}

// String says what became of the tool.
func (c ToolChange) String() string {
	if c.Now == "" {
		return c.Name + " is gone"
	}
	return c.Name + " takes another input"
}

// A ChangedError says that a run can't just continue, because the agent, or one that is its tool, isn't the one that began it:
// it has another name, or calls that are still open are of tools that are gone or have another schema. Nothing was run and nothing recorded
// because of it. Input.AcceptChanges continues all the same: calls of tools that are gone then get a result that says so,
// and approved inputs are checked against the new schema.
type ChangedError struct {
	Session string
	Agent   string       // the name of the agent that began the run, if that is what differs
	Tools   []ToolChange // of open calls
	Calls   []string     // the ids of these calls
}

// Error says what has changed.
func (e *ChangedError) Error() string {
	if e.Agent != "" {
		return fmt.Sprintf("agent: the run of session %q was begun by the agent %q; resume it with that one, or set Input.AcceptChanges", e.Session, e.Agent)
	}
	said := make([]string, len(e.Tools))
	for i, c := range e.Tools {
		said[i] = c.String()
	}
	return fmt.Sprintf("agent: session %q has open calls of tools that have changed (%s); bring the tools back, or set Input.AcceptChanges",
		e.Session, strings.Join(said, ", "))
}

// Fault returns UserFixable.
func (e *ChangedError) Fault() fault.Class { return fault.UserFixable }

// fingerprints returns what the tools of a registry are.
func fingerprints(reg *tools.Registry) []ToolFingerprint {
	out := make([]ToolFingerprint, 0, reg.Len())
	for _, d := range reg.All() {
		out = append(out, ToolFingerprint{Name: d.Name(), Schema: d.SchemaHash()})
	}
	return out
}

// changes returns how the agent's tools differ from those that the open run was begun with.
func (x *exec) changes() []ToolChange { return x.a.changesSince(x.m.s.Run.Fingerprints) }

func (a *Agent) changesSince(fingerprints []ToolFingerprint) []ToolChange {
	var out []ToolChange
	for _, p := range fingerprints {
		now := ""
		if d, ok := a.registry.Lookup(p.Name); ok {
			now = d.SchemaHash()
		}
		if now != p.Schema {
			out = append(out, ToolChange{Name: p.Name, Was: p.Schema, Now: now})
		}
	}
	return out
}

// checkChanges refuses to resume an open run if what changed concerns it.
func (x *exec) checkChanges(in *Input) error {
	if !x.m.s.Run.open() || in.AcceptChanges {
		return nil
	}
	e := &ChangedError{Session: x.s.name}
	if x.a.changed(x.jctx, x.m, e); e.Agent == "" && len(e.Tools) == 0 {
		return nil
	}
	return e
}

// changed adds to e what concerns an open run, and those of agents that are tools which it waits for.
func (a *Agent) changed(ctx context.Context, m *Machine, e *ChangedError) {
	r := m.s.Run
	if r.Agent != a.cfg.Name {
		e.Agent = r.Agent
		return
	}
	for _, change := range a.changesSince(r.Fingerprints) {
		concerned := false
		for i := range r.Calls {
			if c := &r.Calls[i]; c.Call.Name == change.Name && c.Status != callDone {
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
		if t == nil || t.child.cfg.Journal == nil || !c.Started || c.Status == callDone {
			continue
		}
		name := childSession(m.s.Session, c.Call.ID)
		err := t.child.look(ctx, name, func(child *Machine) {
			if child.s.Run.open() {
				t.child.changed(ctx, child, e)
			}
		})
		if err != nil { // nothing of it runs before its session can be read
			a.log.WarnContext(ctx, "agent: reading the session of a child", "session", name, "error", err)
		}
	}
}

// continued returns the fact that a run continues, as the nth next one.
func (x *exec) continued(n int) Continued {
	f := Continued{Meta: x.stamp(n, ""), Changes: x.changes()}
	if x.otherTools() {
		f.Tools = x.a.fingerprints
	}
	return f
}

// otherTools reports whether the agent's tools aren't just those that the open run knows: some may have been added.
func (x *exec) otherTools() bool { return !slices.Equal(x.m.s.Run.Fingerprints, x.a.fingerprints) }
