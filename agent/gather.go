package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A gathering says whose tools gather collects.
type gathering struct {
	session  string
	run      string // the one that is resumed
	listing  tools.Listing
	input    []tools.Tool
	only     []string
	external []json.RawMessage         // of the run, if it is resumed
	before   []machine.ToolFingerprint // of the run that is resumed, or of the run before
	resumed  bool
}

// gather returns the tools of a run: the agent's own, those of its sources in the order of their
// names, and those of the input, each group in its own order, but after those that were offered
// before. It also returns what is wrong with sources. The error is an *[ArgError].
func (a *Agent) gather(ctx context.Context, g *gathering) (*toolset, []*SourceFailed, error) {
	if !g.resumed && !a.changeable && len(g.input)+len(g.only) == 0 {
		return a.own, nil, nil
	}
	own, failed, lists := a.registry.All(), []*SourceFailed(nil), []toolList(nil)
	if len(a.sources) > 0 {
		lists, failed = a.list(ctx, g.listing, a.sources)
		if g.resumed {
			a.lists.fill(g.session, g.run, g.listing, lists, failed)
		}
		failed = append(failed, a.dropUnfit(own, lists)...)
	}
	fromInput, err := a.inputTools(g.input, g.external, own, lists)
	if err != nil {
		return nil, failed, err
	}
	set, err := a.assemble(g, own, lists, fromInput)
	if err != nil { // prerequisites that are missing, or that form a cycle
		for i := range lists {
			l := &lists[i]
			before := len(l.tools)
			l.tools = slices.DeleteFunc(slices.Clone(l.tools), func(d *tools.Definition) bool {
				return len(d.Spec().Requires) > 0
			})
			if len(l.tools) < before {
				failed = append(failed,
					&SourceFailed{Source: l.name,
						Err: fmt.Errorf("its tools with prerequisites are left out: %w", err)})
			}
		}
		set, err = a.assemble(g, own, lists, fromInput)
	}
	if err != nil {
		return nil, failed, &ArgError{Field: "Input.Tools", Problem: err.Error(), Err: err}
	}
	for _, name := range g.only {
		if _, ok := set.registry.Lookup(name); !ok && !g.resumed {
			return nil, failed, set.unknown("Only", name)
		}
	}
	if len(g.only) == 0 && len(lists) == 0 && slices.Equal(set.fingerprints, a.own.fingerprints) {
		return a.own, failed, nil
	}
	return set, failed, nil
}

func (a *Agent) assemble(g *gathering, own []*tools.Definition, lists []toolList, input []*tools.Definition) (*toolset,
	error) {
	all := append(withLists(own, lists), input...)
	return a.newToolset(byName(all), arrange(g.before, all, g.resumed), g.only, lists)
}

// withLists returns the agent's own tools and those of its sources.
func withLists(own []*tools.Definition, lists []toolList) []*tools.Definition {
	all := slices.Clone(own)
	for i := range lists {
		all = append(all, lists[i].tools...)
	}
	return all
}

// inputTools compiles the tools of an input, and the external ones that a run was started with.
func (a *Agent) inputTools(input []tools.Tool, external []json.RawMessage, own []*tools.Definition,
	lists []toolList) ([]*tools.Definition, error) {
	if len(input)+len(external) == 0 {
		return nil, nil
	}
	others := withLists(own, lists)
	taken, shown := byName(others), shownBytes(others...)
	var out []*tools.Definition
	for i, t := range input {
		d, err := a.define(t)
		switch {
		case err != nil:
			return nil, &ArgError{Field: "Input.Tools", Problem: fmt.Sprintf("tool %d: %v", i, err), Err: err}
		case taken[d.Name()] != nil:
			return nil, badInput("Tools", "there is another tool with the name %q; give this one another", d.Name())
		}
		if shown += shownBytes(d); shown > tools.MaxShown {
			return nil, badInput("Tools", "with tool %d the descriptions and schemas of all tools have %d bytes; they "+
				"may have %d. Give fewer tools, or shorter descriptions and schemas", i, shown, tools.MaxShown)
		}
		taken[d.Name()] = d
		out = append(out, d)
	}
	for _, raw := range external {
		d, err := a.storedTool(raw)
		if err != nil {
			return nil, &ArgError{Field: "Input.Tools",
				Problem: fmt.Sprintf("a tool that the run was started with: %v", err), Err: err}
		}
		if taken[d.Name()] == nil { // else the input has it again, or the agent has it now
			taken[d.Name()] = d
			out = append(out, d)
		}
	}
	return out, nil
}

// storedTool compiles an external tool from its Spec in the log.
func (a *Agent) storedTool(raw json.RawMessage) (*tools.Definition, error) {
	var spec tools.Spec
	if err := json.Unmarshal(raw, &spec); err != nil {
		return nil, err
	}
	for _, s := range []*json.RawMessage{&spec.Schema, &spec.Output} {
		if string(*s) == "null" { // how encoding/json writes nothing
			*s = nil
		}
	}
	return a.define(tools.External(spec))
}

// define compiles a tool that isn't the agent's own.
func (a *Agent) define(t tools.Tool) (d *tools.Definition, err error) {
	if _, ok := unwrapped(t).(work.Owner); ok {
		return nil, &tools.SpecError{Problem: "a subagent can only be in Config.Tools, and so can other tools whose " +
			"calls own work"}
	}
	if t == nil {
		return nil, &tools.SpecError{Problem: "the tool is nil"}
	}
	err = contained(func() (err error) {
		if d, err = t.Define(); err == nil {
			d, err = d.Define() // refuses an empty one
		}
		return err
	})
	if err != nil {
		return nil, usable(err)
	}
	for _, name := range d.Spec().Modes {
		if !slices.ContainsFunc(a.modes, func(m mode) bool { return m.Name == name }) {
			return nil, &tools.SpecError{Tool: d.Name(),
				Problem: fmt.Sprintf("it names the mode %q, which isn't in Config.Modes", name)}
		}
	}
	if err := a.checkApprovers(d); err != nil {
		return nil, err
	}
	return d, nil
}

// unwrapped returns the innermost tool.
func unwrapped(t tools.Tool) tools.Tool {
	for {
		w, ok := t.(interface{ Unwrap() tools.Tool })
		if !ok {
			return t
		}
		t = w.Unwrap()
	}
}

// externalSpecs returns the Specs of the external tools of an input, for the log.
func (a *Agent) externalSpecs(input []tools.Tool) (out []json.RawMessage) {
	for _, t := range input {
		if d, err := a.define(t); err == nil && d.External() {
			if raw, err := machine.Marshal(d.Spec()); err == nil {
				out = append(out, raw)
			}
		}
	}
	return out
}

// toolsOf returns the tools of a session outside of a run: for a decision that edits an input, for
// an undo, or for a compaction.
func (a *Agent) toolsOf(ctx context.Context, s *machine.State) *toolset {
	g := &gathering{session: s.Session, listing: tools.Listing{Session: s.Session, Labels: s.Labels}, resumed: true}
	if r := s.Run; r != nil {
		g.run, g.listing.User = r.ID, r.User
		g.only, g.external, g.before = r.Only, r.External, r.Fingerprints
	}
	if !a.changeable && len(g.only)+len(g.external) == 0 {
		return a.own
	}
	set, failed, err := a.gather(ctx, g)
	a.logSources(ctx, s.Session, failed)
	if err != nil {
		return a.own
	}
	return set
}
