package machine

import (
	"slices"

	"github.com/pawlkit/pawl/agent/journal"
)

// Head returns what lists show of the session once the facts are applied: its status, what it waits for, its title and its labels. It returns nil if the facts
// change none of it. It doesn't apply the facts; the error is the one that Apply would return.
func (m *Machine) Head(facts []Fact) (*journal.HeadUpdate, error) {
	if !slices.ContainsFunc(facts, m.changesHead) {
		return nil, nil
	}
	after := m.Clone()
	for _, f := range facts {
		if err := after.Apply(f); err != nil {
			return nil, err
		}
	}
	r := after.s.Run
	head := after.s.ownHead()
	if head.Status = string(r.Status); r.Status == Paused && r.Code == CodeDrained { // it waits for a process, not for a person
		head.Status = string(Running)
	}
	for _, p := range r.Pending() {
		head.Open = append(head.Open, journal.Open{ID: p.ID, Kind: CleanTitle(string(p.Kind)), Title: CleanTitle(p.Call.Name + ": " + p.Reason), Expires: p.Expires})
	}
	head.Open = head.Open[:min(len(head.Open), journal.MaxOpen)]
	return head, nil
}

// changesHead reports whether the fact may change the head of the session.
func (m *Machine) changesHead(f Fact) bool {
	switch f := f.(type) {
	case RunStarted, Continued, Snapshot, Suspended, Decided, TitleChanged, RunEnded:
		return true
	case ToolFinished: // of a subagent that waits for more decisions
		c := m.s.Run.Call(f.Meta.Call)
		return c != nil && c.Waits()
	}
	return false
}
