package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

const (
	// listTimeout is how long a source has to list its tools. If it ignores the end of its context,
	// it is abandoned after the grace period of a call.
	listTimeout = 10 * time.Second
	// After a source hasn't listed its tools in listTimeout, it has lateTimeout for lateFor, so
	// that one that hangs doesn't delay each run by that much.
	lateTimeout = time.Second
	lateFor     = 30 * time.Second
)

// SourceFailed says that a source couldn't list its tools, or that one of its tools can't be used.
// The run continues.
type SourceFailed struct {
	NoteMeta
	Source string `json:"source"`
	Tool   string `json:"tool,omitempty"` // the tool that is left out; empty if there is no list
	Kept   bool   `json:"kept,omitempty"` // the run keeps the tools that the source listed earlier
	Reason string `json:"reason"`         // what failed, in words
	Err    error  `json:"-"`              // the same, for the host: it may say more than a person should see
}

// explained returns Err with what it is about, and what is used instead.
func (f *SourceFailed) explained() error {
	switch {
	case f.Tool != "":
		return fmt.Errorf("agent: the tool %q of source %q is left out: %w", f.Tool, f.Source, f.Err)
	case f.Kept:
		return fmt.Errorf("agent: source %q can't list its tools; those that it listed before are used: %w", f.Source,
			f.Err)
	}
	return fmt.Errorf("agent: source %q can't list its tools, so that the run has none of them: %w", f.Source, f.Err)
}

// A toolList is what a source returned.
type toolList struct {
	name    string
	changed <-chan struct{} // closed when the list may differ
	tools   []*tools.Definition
	waits   bool            // it has changed since, and new tools wait for LoadTools
	err     error           // why there is no list
	bad     []*SourceFailed // tools that are left out
}

// isOld reports whether the source says that the list may differ by now.
func (l *toolList) isOld() bool {
	select {
	case <-l.changed:
		return true
	default:
		return false
	}
}

// A namedSource is a source with the name that it had when the agent was made.
type namedSource struct {
	tools.Source
	name string
	late *atomic.Int64 // when it didn't list its tools in time, in Unix nanoseconds; 0: it did
}

// addSources checks Config.Sources, and sorts them by name.
func (a *Agent) addSources() (errs []error) {
	for i, s := range a.cfg.Sources {
		field := fmt.Sprintf("Config.Sources[%d]", i)
		name := ""
		err := contained(func() error { name = s.Name(); return nil }) // s may be nil
		switch {
		case err != nil:
			errs = append(errs, &ArgError{Field: field, Problem: "it is nil, or its Name panics", Err: err})
		case name == "" || slices.ContainsFunc(a.sources, func(o namedSource) bool { return o.name == name }):
			errs = append(errs,
				&ArgError{Field: field, Problem: fmt.Sprintf("the name %q is empty or used twice", name)})
		default:
			a.sources = append(a.sources, namedSource{s, name, new(atomic.Int64)})
		}
	}
	slices.SortFunc(a.sources, func(s, o namedSource) int { return strings.Compare(s.name, o.name) })
	a.lists = &openLists{bySession: make(map[string]openList)}
	return errs
}

// list asks sources for their tools, all at the same time. It returns a list for each, in the same
// order, and what is wrong with them. A source that hangs is abandoned: see listTimeout.
func (a *Agent) list(ctx context.Context, l tools.Listing, sources []namedSource) ([]toolList, []*SourceFailed) {
	ctx = withoutRun(tools.WithListing(ctx, l))
	lists := make([]toolList, len(sources))
	var asked sync.WaitGroup
	for i, s := range sources {
		asked.Go(func() {
			within := s.timeout()
			own, cancel := context.WithTimeoutCause(ctx, within, errListTimeout)
			defer cancel()
			out, err := abandonable(own, a, "listing the tools of "+s.name, l.Session,
				func() (toolList, error) { return a.listOne(own, s) })
			if late := context.Cause(own) == errListTimeout; late && err != nil {
				if within == listTimeout { // else it has all of its time again when lateFor is over
					s.late.Store(time.Now().UnixNano())
				}
				if errors.Is(err, errNotReturned) || errors.Is(err, context.DeadlineExceeded) {
					err = errListTimeout
				}
			} else if err == nil {
				s.late.Store(0)
			}
			out.name, out.err = s.name, err
			lists[i] = out
		})
	}
	asked.Wait()
	var failed []*SourceFailed
	for i := range lists {
		if l := &lists[i]; l.err != nil {
			failed = append(failed, &SourceFailed{Source: l.name, Err: usable(l.err)})
		}
		failed = append(failed, lists[i].bad...)
	}
	return lists, failed
}

// timeout returns how long the source has to list its tools.
func (s namedSource) timeout() time.Duration {
	if late := s.late.Load(); late != 0 && time.Since(time.Unix(0, late)) < lateFor {
		return lateTimeout
	}
	return listTimeout
}

var errListTimeout = fault.New(fault.Transient,
	fmt.Sprintf("agent: the source hasn't listed its tools in time: it has %v, and %v for %v after that", listTimeout,
		lateTimeout, lateFor))

// listOne asks one source.
func (a *Agent) listOne(ctx context.Context, s namedSource) (out toolList, err error) {
	out.changed = s.Changed() // first: a change from now on must not be missed
	list, err := s.List(ctx)
	if err != nil {
		return out, err
	}
	shown := 0
	for i, t := range list {
		if shown > tools.MaxShown { // the rest isn't compiled
			out.bad = append(out.bad, &SourceFailed{Source: s.name,
				Tool: fmt.Sprintf("number %d and all after it,", i), Err: errTooLarge})
			break
		}
		d, err := a.define(t)
		if err != nil {
			out.bad = append(out.bad, &SourceFailed{Source: s.name, Tool: fmt.Sprintf("number %d", i), Err: err})
			continue
		}
		shown += shownBytes(d)
		out.tools = append(out.tools, d)
	}
	return out, nil
}

var errTooLarge = fault.New(fault.Permanent,
	fmt.Sprintf("the descriptions and schemas of all tools together have more than %d bytes with it; the source "+
		"should list fewer tools, or give them shorter descriptions and schemas", tools.MaxShown))

// shownBytes returns how many bytes of tools a request has.
func shownBytes(list ...*tools.Definition) (n int) {
	for _, d := range list {
		t := d.Tool()
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// dropUnfit leaves out tools of sources whose names are taken, by the agent's own tools, or by a
// source whose name comes before, and those with which all tools have too many bytes.
func (a *Agent) dropUnfit(own []*tools.Definition, lists []toolList) (failed []*SourceFailed) {
	taken := make(map[string]string, len(own))
	for _, d := range own {
		taken[d.Name()] = "the agent has a tool with this name"
	}
	shown := shownBytes(own...)
	for i := range lists {
		l := &lists[i]
		l.tools = slices.DeleteFunc(slices.Clone(l.tools), func(d *tools.Definition) bool {
			why, isTaken := taken[d.Name()]
			if isTaken {
				failed = append(failed, &SourceFailed{Source: l.name, Tool: d.Name(), Err: errors.New(why)})
				return true
			}
			if n := shownBytes(d); shown+n <= tools.MaxShown {
				shown += n
			} else {
				failed = append(failed, &SourceFailed{Source: l.name, Tool: d.Name(), Err: errTooLarge})
				return true
			}
			taken[d.Name()] = fmt.Sprintf("source %q has a tool with this name", l.name)
			return false
		})
	}
	return failed
}

// logSources logs what is wrong with sources.
func (a *Agent) logSources(ctx context.Context, session string, failed []*SourceFailed) {
	for _, e := range failed {
		a.logger.WarnContext(ctx, "agent: a source of tools", "session", session, "source", e.Source, "tool", e.Tool,
			"kept", e.Kept, "error", e.Err)
	}
}

// maxOpenLists is of how many runs an agent keeps the lists.
const maxOpenLists = 1_000

// openLists are the lists of runs that this process has driven and that are open, because they wait
// for a decision for example. When such a run is resumed, they stand in for sources that fail.
type openLists struct {
	mu        sync.Mutex // guards what follows
	bySession map[string]openList
}

// An openList is what the sources of an agent have listed for a run.
type openList struct {
	run     string
	listing tools.Listing
	lists   []toolList
}

// keep keeps the lists of a run that is open, or forgets those of one that has ended. Beyond
// maxOpenLists it forgets those of some other run.
func (o *openLists) keep(l *sessionLog) {
	lists := l.toolset().lists
	l.Lock()
	run := ""
	if r := l.Run(); r.IsOpen() {
		run = r.ID
	}
	l.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.bySession, l.Name)
	if run == "" || len(lists) == 0 {
		return
	}
	for other := range o.bySession {
		if len(o.bySession) < maxOpenLists {
			break
		}
		delete(o.bySession, other)
	}
	o.bySession[l.Name] = openList{run, l.tools.listing, lists}
}

// forget forgets the lists of a session that is deleted.
func (o *openLists) forget(session string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.bySession, session)
}

// fill puts the lists of an open run in place of those that failed, and says so in failed.
func (o *openLists) fill(session, run string, of tools.Listing, lists []toolList, failed []*SourceFailed) {
	o.mu.Lock()
	kept := o.bySession[session]
	o.mu.Unlock()
	if kept.run != run || kept.listing != of { // other credentials may have other tools
		return
	}
	for i := range kept.lists { // in the order of the sources
		if lists[i].err == nil || kept.lists[i].err != nil {
			continue
		}
		lists[i].tools, lists[i].err = kept.lists[i].tools, nil
		for _, f := range failed {
			f.Kept = f.Kept || f.Source == lists[i].name && f.Tool == ""
		}
	}
}
