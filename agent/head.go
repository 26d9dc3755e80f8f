package agent

import (
	"slices"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// changesHead reports whether a fact may change what the session shows of itself.
func (l *sessionLog) changesHead(f Fact) bool {
	switch f := f.(type) {
	case RunStarted, Continued, Snapshot, Suspended, Decided, machine.RunEnded:
		return true
	case ToolFinished: // of an agent, which may have waited for more
		return l.agent.children[f.Result.Name] != nil
	}
	return false
}

// head returns what the session shows of itself after facts.
func (l *sessionLog) head(facts []Fact) *journal.HeadUpdate {
	if !slices.ContainsFunc(facts, l.changesHead) {
		return nil
	}
	status, changed := string(Running), false
	open := make([]journal.Open, 0, 4)
	if r := l.run(); r != nil {
		status = string(r.Status)
		for _, p := range r.Pending() {
			open = append(open, openMatter(&p))
		}
	}
	for _, f := range facts {
		switch f := f.(type) {
		case RunStarted, Continued:
			status, changed = string(Running), true
		case Snapshot:
			if l.run() == nil { // in a copy, it is where the log begins
				status, changed = string(f.State.Run.Status), true
			}
		case ToolFinished:
			open, changed = l.closed(open, f.Meta.Call), true
		case Suspended:
			open = l.closed(open, f.Meta.Call) // in its place comes this
			for _, p := range f.Pause.Flat() {
				open = append(open, openMatter(&p))
			}
			changed = true
		case Decided:
			open, changed = slices.DeleteFunc(open, func(o journal.Open) bool { return o.ID == f.Decision.ID }), true
			status = string(Running)
		case machine.RunEnded:
			status, changed = string(f.Status), true
			if f.Code == CodeDrained { // somebody should go on
				status = string(Running)
			}
			if f.Status != Paused {
				open = open[:0]
			}
		}
	}
	if !changed {
		return nil
	}
	return &journal.HeadUpdate{Status: status, Open: open[:min(len(open), journal.MaxOpen)]}
}

// closed returns what is open without what a call has waited for.
func (l *sessionLog) closed(open []journal.Open, call string) []journal.Open {
	c := l.run().Call(call)
	if c == nil || !c.Waits() {
		return open
	}
	return slices.DeleteFunc(open, func(o journal.Open) bool { return o.ID == c.Pause.ID || c.Pause.Find(o.ID) != nil })
}

func openMatter(p *Pause) journal.Open {
	return journal.Open{ID: p.ID, Kind: machine.CleanTitle(string(p.Kind)), Title: machine.CleanTitle(p.Call.Name + ": " + p.Reason), Expires: p.Expires}
}
