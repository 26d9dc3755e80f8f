package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A toolset is the tools that a run knows, and those that it offers. It never changes. Runs share
// the agent's own toolset unless the agent has sources or lazy tools, or the input has tools; see
// gather.
type toolset struct {
	registry *tools.Registry
	// in the order in which tools are offered; with lazy ones, and those that are gone
	fingerprints []machine.ToolFingerprint
	offers       []offer    // by mode.index
	lists        []toolList // what the sources returned
}

// noTool is the definition of a tool that a run doesn't know, because the model has invented its
// name or the tool is gone. It has no name, runs nothing, and may not be repeated.
var noTool = new(tools.Definition)

// lookup returns the tool with that name, or noTool. It never returns nil: a call may be of any
// name.
func (s *toolset) lookup(name string) *tools.Definition {
	if d, ok := s.registry.Lookup(name); ok {
		return d
	}
	return noTool
}

// An offer is what is offered to the model in one mode.
type offer struct {
	tools       []*tools.Definition
	names       []string
	definitions []provider.Tool // as a request has them
}

// runTools are the tools of a run under way.
type runTools struct {
	log     *sessionLog
	loading sync.Mutex          // held while tools are listed and loaded, before the lock of the log
	set     *toolset            // changed by the driving goroutine, or with the lock held by LoadTools; see toolset
	step    *offer              // of the step under way
	hooked  []*tools.Definition // instead of step, if hooks have changed it
	listing tools.Listing       // for whom sources list them
}

// addOwnTools makes the toolset of the agent's own tools.
func (a *Agent) addOwnTools() error {
	all := a.registry.All()
	a.changeable = len(a.sources) > 0 || slices.ContainsFunc(all, (*tools.Definition).Lazy)
	var err error
	if a.own, err = a.newToolset(byName(all), arrange(nil, all, false), nil, nil); err != nil {
		return &ArgError{Field: "Config.Modes", Problem: err.Error(), Err: err}
	}
	return nil
}

// byName returns tools by their names.
func byName(list []*tools.Definition) map[string]*tools.Definition {
	out := make(map[string]*tools.Definition, len(list))
	for _, d := range list {
		out[d.Name()] = d
	}
	return out
}

// newToolset returns a toolset of definitions by name, in the order of their fingerprints. With
// only it offers these and no others, also those that are lazy.
func (a *Agent) newToolset(known map[string]*tools.Definition, fingerprints []machine.ToolFingerprint, only []string,
	lists []toolList) (*toolset, error) {
	s := &toolset{fingerprints: fingerprints, lists: lists}
	var list []tools.Tool
	lazy := make(map[string]bool)
	for _, f := range fingerprints {
		if d := known[f.Name]; d != nil {
			list = append(list, d)
			lazy[f.Name] = f.Lazy
		}
	}
	var err error
	if s.registry, err = tools.NewRegistry(list...); err != nil {
		return nil, err
	}
	offered := func(d *tools.Definition) bool {
		if len(only) > 0 {
			return slices.Contains(only, d.Name())
		}
		return !lazy[d.Name()]
	}
	for i := range a.modes {
		m := &a.modes[i]
		err := contained(func() error { // the filter is the host's
			list := s.registry.Filter(tools.InMode(m.Name), offered, m.Tools)
			o := offer{tools: list, definitions: tools.ProviderTools(list)}
			for _, d := range list {
				o.names = append(o.names, d.Name())
			}
			s.offers = append(s.offers, o)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// arrange returns the fingerprints of tools in the order in which they are offered: those that were
// offered before in their places, then the others. So the earlier list stays a prefix of the later
// one, and prompt caches stay valid. keep keeps the places of tools that are gone.
func arrange(before []machine.ToolFingerprint, list []*tools.Definition, keep bool) []machine.ToolFingerprint {
	known := byName(list)
	out := make([]machine.ToolFingerprint, 0, len(list))
	add := func(d *tools.Definition, lazy bool) {
		out = append(out, machine.ToolFingerprint{Name: d.Name(), Schema: d.SchemaHash(), Lazy: lazy})
		delete(known, d.Name())
	}
	for _, f := range before {
		d := known[f.Name]
		switch {
		case d == nil && keep:
			f.Gone = true
			out = append(out, f)
		case d == nil, f.Lazy && !d.Lazy(): // it wasn't offered, so it comes last
		default:
			add(d, f.Lazy)
		}
	}
	for _, d := range list {
		if known[d.Name()] != nil {
			add(d, d.Lazy())
		}
	}
	return out
}

// differing returns the fingerprints of after that differ from those of before, and those of before
// that are gone.
func differing(before, after []machine.ToolFingerprint) (out []machine.ToolFingerprint) {
	for _, f := range after {
		if !slices.Contains(before, f) {
			out = append(out, f)
		}
	}
	for _, f := range before {
		if !f.Gone && !slices.ContainsFunc(after, func(o machine.ToolFingerprint) bool { return o.Name == f.Name }) {
			f.Gone = true
			out = append(out, f)
		}
	}
	return out
}

// unknown returns the error for a name that no tool has.
func (s *toolset) unknown(field, name string) error {
	names := s.registry.Names()
	if len(names) > 30 {
		names = append(names[:30:30], fmt.Sprintf("and %d more", len(names)-30))
	}
	return &ArgError{Field: "Input." + field,
		Problem: fmt.Sprintf("there is no tool %q; the tools are %s", name, strings.Join(names, ", "))}
}

// toolset returns the tools of the run under way, or the agent's own.
func (l *sessionLog) toolset() *toolset {
	if l.tools == nil {
		return l.agent.own
	}
	l.Lock()
	defer l.Unlock()
	return l.tools.set
}

// offer returns what is offered in the step under way. Without one, it is what the mode offers.
func (l *sessionLog) offer(mode *mode) *offer {
	if l.tools != nil && l.tools.step != nil {
		return l.tools.step
	}
	return &l.toolset().offers[mode.index]
}

// currentMode returns the mode of the session, or the first mode if the agent no longer has that
// one.
func (l *sessionLog) currentMode() *mode {
	if m, err := l.agent.mode(l.State().Mode); err == nil {
		return m
	}
	return &l.agent.modes[0]
}

// checkApprovers returns an error for a tool whose approvers nobody can tell.
func (a *Agent) checkApprovers(d *tools.Definition) error {
	if len(d.Spec().Approvers) == 0 || a.cfg.Roles != nil {
		return nil
	}
	return &tools.SpecError{Tool: d.Name(), Problem: "it has Approvers, and Config.Roles is nil; set Config.Roles, " +
		"which says who has which role"}
}

// A ChangedError says that a run wasn't resumed because the agent, or one of its subagents, has
// changed since the run started: it has another name, or tools of open calls were removed or have
// another schema. Nothing was run or stored. AcceptChanges of a [Resumption] or of a [Leg] resumes
// the run anyway: calls of removed tools then get a result that says so, and approved inputs are
// checked against the new schema. The input of a call that was started before isn't checked again
// if the call runs again.
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
				"AcceptChanges of the Resumption or of the Leg", e.Session, e.Agent)
	}
	changes := make([]string, len(e.Tools))
	for i, c := range e.Tools {
		changes[i] = c.String()
	}
	return fmt.Sprintf(
		"agent: session %q has open calls of tools that have changed (%s); bring the tools back, or set "+
			"AcceptChanges of the Resumption or of the Leg",
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
