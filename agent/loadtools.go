package agent

import (
	"cmp"
	"context"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
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
		return outsideOfRun("LoadTools")
	}
	x.log.tools.loading.Lock()
	defer x.log.tools.loading.Unlock()
	var fresh []toolList
	if due := x.log.tools.dueSources(true); len(due) > 0 {
		fresh = x.log.tools.listAgain(ctx, due)
	}
	after, changes, err := x.log.tools.loaded(fresh, names)
	if err != nil || len(changes) == 0 {
		return err
	}
	return x.log.appendIn(ctx, func() Fact {
		x.log.tools.set = after
		return &machine.ToolsChanged{Tools: changes}
	})
}

// loaded returns the toolset with fresh lists and with lazy tools loaded, and how its fingerprints
// differ. Without a difference there is no toolset.
func (t *runTools) loaded(fresh []toolList, names []string) (after *toolset, changes []machine.ToolFingerprint,
	err error) {
	before := t.log.toolset()
	known, lists := byName(before.registry.All()), slices.Clone(before.lists)
	shown := shownBytes(before.registry.All()...)
	for _, l := range fresh {
		if l.err != nil {
			continue
		}
		changes = append(changes, goneOf(before, l)...)
		i := slices.IndexFunc(lists, func(o toolList) bool { return o.name == l.name })
		all := slices.Clone(lists[i].tools)
		for _, d := range l.tools {
			if known[d.Name()] == nil { // what the run knows stays as it is until its end
				if shown += shownBytes(d); shown > tools.MaxShown {
					t.sourcesFailed([]*SourceFailed{{Source: l.name, Tool: d.Name(), Err: errTooLarge}})
					shown -= shownBytes(d)
					continue
				}
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
	if len(changes) > 0 {
		t.log.Lock()
		only := t.log.Run().Only
		t.log.Unlock()
		after, err = t.log.agent.newToolset(known, fingerprints, only, lists)
	}
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
func (t *runTools) checkSources() {
	due := t.dueSources(false)
	if len(due) == 0 {
		return
	}
	t.loading.Lock()
	defer t.loading.Unlock()
	fresh := t.listAgain(t.log.ctx, due)
	t.log.Lock()
	defer t.log.Unlock()
	before := t.set
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
	t.set = &after
	if len(changes) > 0 {
		// stops.cutOff ends a run whose journal refuses it
		_ = t.log.AppendLocked(nil, session.Clean(&machine.ToolsChanged{Tools: changes}))
	}
}

// listAgain lists sources again. The run keeps the lists that it has of those that fail.
func (t *runTools) listAgain(ctx context.Context, due []namedSource) []toolList {
	fresh, failed := t.log.agent.list(ctx, t.listing, due)
	for _, f := range failed {
		f.Kept = f.Tool == "" && slices.ContainsFunc(t.log.toolset().lists,
			func(l toolList) bool { return l.name == f.Source && l.err == nil })
	}
	t.sourcesFailed(failed)
	return fresh
}

// dueSources returns the sources that say that their lists may differ by now; with waiting also
// those whose new tools wait for LoadTools.
func (t *runTools) dueSources(waiting bool) (due []namedSource) {
	lists := t.log.toolset().lists
	for i := range lists {
		if lists[i].isOld() || waiting && lists[i].waits {
			due = append(due, t.log.agent.sources[i]) // the lists are in the order of the sources
		}
	}
	return due
}

// sourcesFailed logs and shows what is wrong with sources.
func (t *runTools) sourcesFailed(failed []*SourceFailed) {
	t.log.agent.logSources(t.log.ctx, t.log.Name, failed)
	for _, f := range failed {
		f.Err = f.explained()
		f.Reason = t.log.agent.redact.Text(f.Err.Error())
		t.log.Lock()
		f.NoteMeta = t.log.noteMeta()
		t.log.note(f)
		t.log.Unlock()
	}
}

// gather sets the tools of the run that starts after run before.
func (t *runTools) gather(in *start, before *machine.RunState) ([]*SourceFailed, error) {
	g := &gathering{session: t.log.Name, input: in.Tools, only: in.Only}
	g.listing = tools.Listing{Session: t.log.account(), User: in.User,
		Labels: cmp.Or(provider.LabelsOf(in.Labels), t.log.State().Labels)}
	if before != nil {
		g.before = before.Fingerprints
	}
	return t.collect(g)
}

// gatherAgain sets the tools of a run that is resumed. given are those of who resumes it.
func (t *runTools) gatherAgain(given []tools.Tool, run *machine.RunState) ([]*SourceFailed, error) {
	if !run.IsOpen() {
		return nil, nil
	}
	return t.collect(&gathering{session: t.log.Name, input: given, only: run.Only, external: run.External,
		before: run.Fingerprints, resumed: true, run: run.ID,
		listing: tools.Listing{Session: t.log.account(), User: run.User, Labels: t.log.State().Labels}})
}

// collect asks the sources and sets the tools of the run.
func (t *runTools) collect(g *gathering) ([]*SourceFailed, error) {
	t.listing = g.listing
	set, failed, err := t.log.agent.gather(t.log.ctx, g)
	if err != nil {
		t.log.agent.logSources(t.log.ctx, t.log.Name, failed)
		return nil, err
	}
	t.set = set
	return failed, nil
}

// checkChoice returns what is wrong with the tool that an input chooses.
func (t *runTools) checkChoice(in *start, mode *mode) error {
	if in.ToolChoice.Mode != provider.ChooseTool {
		return nil
	}
	if _, ok := t.set.registry.Lookup(in.ToolChoice.Tool); !ok {
		return t.set.unknown("ToolChoice", in.ToolChoice.Tool)
	}
	if !slices.Contains(t.set.offers[mode.index].names, in.ToolChoice.Tool) {
		return badInput("ToolChoice", "the tool %q isn't offered in mode %q", in.ToolChoice.Tool, mode.Name)
	}
	return nil
}
