package agent

import (
	"context"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// LoadTools loads lazy tools ([tools.Lazy]) of the run that ctx belongs to, by their names. From
// the next model call on they are offered, after all other tools, for the rest of the session.
// Sources that say that they have changed are listed again first, so that their new tools are
// offered from then on, too; this is also what LoadTools without names does. A tool that is loaded
// already stays as it is. An unknown name is an *[ArgError], and nothing is loaded. LoadTools is
// for tools and hooks, and safe for concurrent use.
func LoadTools(ctx context.Context, names ...string) error {
	x := driverIn(ctx)
	if x == nil {
		return errNoRun
	}
	var fresh []toolList
	if due := x.dueSources(true); len(due) > 0 {
		var failed []*sourceError
		fresh, failed = x.agent.list(ctx, x.tools.listing, due)
		x.sourcesFailed(failed)
	}
	for {
		before := x.toolset()
		after, changes, err := x.loaded(before, fresh, names)
		if err != nil || after == before {
			return err
		}
		raced := false
		err = x.appendIn(ctx, func() Fact {
			if raced = x.tools.set != before; raced || len(changes) == 0 {
				return nil
			}
			x.tools.set = after
			return &machine.ToolsChanged{Tools: changes}
		})
		if !raced {
			return err
		}
	}
}

// loaded returns a toolset with fresh lists and with lazy tools loaded, and how its fingerprints
// differ.
func (x *driver) loaded(before *toolset, fresh []toolList, names []string) (*toolset, []machine.ToolFingerprint,
	error) {
	known, lists := before.definitions(), slices.Clone(before.lists)
	var changes []machine.ToolFingerprint
	for _, l := range fresh {
		if l.err != nil {
			continue
		}
		changes = append(changes, goneOf(before, l)...)
		i := slices.IndexFunc(lists, func(o toolList) bool { return o.name == l.name })
		all := slices.Clone(lists[i].tools)
		for _, d := range l.tools {
			if known[d.Name()] == nil { // what the run knows stays as it is until its end
				known[d.Name()] = d
				all = append(all, d)
				changes = append(changes,
					machine.ToolFingerprint{Name: d.Name(), Schema: d.SchemaHash(), Lazy: d.Lazy()})
			}
		}
		l.tools = all // also those that are gone: they may come back
		lists[i] = l
	}
	fingerprints := machine.ChangeTools(before.fingerprints, changes)
	for _, name := range names {
		i := slices.IndexFunc(fingerprints, func(f machine.ToolFingerprint) bool { return f.Name == name })
		if i < 0 || known[name] == nil {
			return nil, nil, before.unknown("LoadTools", name)
		}
		if f := fingerprints[i]; f.Lazy {
			f.Lazy = false
			changes = append(changes, f)
			fingerprints = machine.ChangeTools(fingerprints, []machine.ToolFingerprint{f})
		}
	}
	if len(changes) == 0 {
		return before, nil, nil
	}
	after, err := x.agent.newToolset(known, fingerprints, x.only(), lists)
	return after, changes, err
}

// goneOf returns what a fresh list says about tools that the run has from the source: that they are
// gone, or back.
func goneOf(set *toolset, l toolList) (changes []machine.ToolFingerprint) {
	i := slices.IndexFunc(set.lists, func(o toolList) bool { return o.name == l.name })
	for _, f := range set.fingerprints {
		is := func(d *tools.Definition) bool { return d.Name() == f.Name }
		if !slices.ContainsFunc(set.lists[i].tools, is) {
			continue
		}
		if gone := !slices.ContainsFunc(l.tools, is); gone != f.Gone {
			f.Gone = gone
			changes = append(changes, f)
		}
	}
	return changes
}

// checkSources lists the sources again that say that they have changed, before calls run, and
// records which tools of the run are gone, or back. New tools wait for the next run, or for
// LoadTools.
func (x *driver) checkSources() {
	due := x.dueSources(false)
	if len(due) == 0 {
		return
	}
	fresh, failed := x.agent.list(x.ctx, x.tools.listing, due)
	x.sourcesFailed(failed)
	x.Lock()
	defer x.Unlock()
	before := x.tools.set
	after := *before
	after.lists = slices.Clone(before.lists)
	var changes []machine.ToolFingerprint
	for _, l := range fresh {
		i := slices.IndexFunc(after.lists, func(o toolList) bool { return o.name == l.name })
		if l.err == nil {
			changes = append(changes, goneOf(before, l)...)
		}
		after.lists[i].changed, after.lists[i].waits = l.changed, true
	}
	after.fingerprints = machine.ChangeTools(before.fingerprints, changes)
	x.tools.set = &after
	if len(changes) > 0 {
		// loop ends a run whose journal refuses it
		_ = x.appendLocked(nil, session.Clean(&machine.ToolsChanged{Tools: changes}))
	}
}

// dueSources returns the sources that say that their lists may differ by now; with waiting also
// those whose new tools wait for LoadTools.
func (x *driver) dueSources(waiting bool) (due []namedSource) {
	lists := x.toolset().lists
	for i := range lists {
		if lists[i].isOld() || waiting && lists[i].waits {
			due = append(due, x.agent.sources[slices.IndexFunc(x.agent.sources, func(s namedSource) bool {
				return s.name == lists[i].name
			})])
		}
	}
	return due
}

// only returns Input.Only of the run.
func (x *driver) only() []string {
	x.Lock()
	defer x.Unlock()
	return x.Run().Only
}

// sourcesFailed logs and shows what is wrong with sources.
func (x *driver) sourcesFailed(failed []*sourceError) {
	x.agent.logSources(x.ctx, x.Name, failed)
	for _, e := range failed {
		reason := x.agent.redact.Text(e.Error())
		x.Lock()
		x.note(&SourceFailed{NoteMeta: x.noteMeta(), Source: e.Source, Tool: e.Tool, Kept: e.Kept, Reason: reason,
			Err: e})
		x.Unlock()
	}
}
