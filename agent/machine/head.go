package machine

import (
	"slices"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/tools"
)

// Head returns what lists show of a session that has a run: its status, what it waits for, its
// title, its labels, its parent, its mode, its totals, its place in the queue, and when a worker
// has something to do for it.
func (m *Machine) Head() *journal.HeadUpdate {
	r := m.s.Run
	head := headOf(m.s.Title, listedLabels(m.s.Labels, m.s.OwnLabels), m.s.Owner, m.s.Parent, r.Ancestors)
	head.Info = m.s.info()
	switch head.Status = string(r.Status); {
	case r.IsQueued():
		head.Status = string(Queued)
	case r.Interrupted():
		head.Status = string(Running)
	}
	head.Open, head.Due = firstOpen(OpenPauses(r)), m.s.due()
	head.Queue = m.s.place()
	return head
}

// OpenPauses returns all that a run waits for, as lists show it. A head has at most
// [journal.MaxOpen] of them.
func OpenPauses(r *RunState) (open []journal.Open) {
	for _, p := range r.Pending() {
		open = append(open, journal.Open{ID: p.ID, Kind: CleanName(string(p.Kind)),
			Title: CleanName(p.Call.Name + ": " + p.Reason), What: tools.CleanTitle(p.Title),
			For: CleanName(p.For), Expires: p.Expires})
	}
	return open
}

// firstOpen returns as many entries as a head may have: if there are more, those that expire first,
// so that a list of heads shows when a session has to be resumed.
func firstOpen(open []journal.Open) []journal.Open {
	if len(open) <= journal.MaxOpen {
		return open
	}
	slices.SortStableFunc(open, func(a, b journal.Open) int {
		if a.Expires.IsZero() != b.Expires.IsZero() {
			return b.Expires.Compare(a.Expires)
		}
		return a.Expires.Compare(b.Expires)
	})
	return open[:journal.MaxOpen]
}

// ChangesHead reports whether a fact that is applied next may change the head of the session. It
// leaves out that one of many suspended calls of a run that goes on is added.
func (m *Machine) ChangesHead(f Fact) bool {
	switch f := f.(type) {
	case *Compacted: // what it cost; while a run is in progress, its end lists that
		return m.s.Run == nil || m.s.Run.Status != Running
	case *Suspended:
		return m.listsNext()
	case *ToolFinished: // of a subagent that waits for more decisions
		c := m.s.Run.Call(f.Meta.Call)
		return c != nil && c.waits()
	}
	return has(f, inLists)
}

// listsNext reports whether the next suspended call changes the head at once. A head is as long as
// what it lists, so beyond 64 calls only each doubling of their number does: the others are inLists
// when the run pauses.
func (m *Machine) listsNext() bool {
	r, n := m.s.Run, 1
	if r == nil {
		return true
	}
	for i := range r.Calls {
		if r.Calls[i].Status == CallSuspended {
			n++
		}
	}
	return r.Status != Running || n <= 64 || n&(n-1) == 0
}
