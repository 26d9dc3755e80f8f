package machine

import (
	"maps"
	"sync"
)

// A backup is the state of a machine before facts that are about to be stored. It is used again,
// for any machine, so that [Machine.Begin] allocates little and a run that waits keeps none.
type backup struct {
	State
	run RunState
	// what a run's facts change in place: its open calls, and what it remembers of tools
	calls []CallState
	tools map[string]ToolState
	open  bool // between Begin and its end
	saved bool // tools are those of the run
}

var backups = sync.Pool{New: func() any { return &backup{tools: make(map[string]ToolState)} }}

// forget gives the backup away.
func (m *Machine) forget() {
	b := m.backup
	m.backup = nil
	clear(b.calls)
	clear(b.tools)
	*b = backup{calls: b.calls[:0], tools: b.tools}
	backups.Put(b)
}

// End says that the facts since the newest [Machine.Begin] are stored: there is no way back. While
// calls are open the backup is kept, because it has room for them.
func (m *Machine) End() {
	switch b := m.backup; {
	case b == nil:
	case m.s.Run != nil && len(m.s.Run.Calls) > 0:
		b.open = false
	default:
		m.forget()
	}
}

// Begin keeps the state, until the next call of Begin, End or Rollback. A driver applies the facts
// that it is about to store after it, so that a fact that doesn't fit is never stored. If the facts
// aren't stored, [Machine.Rollback] brings the state back.
func (m *Machine) Begin() {
	b := m.backup
	if b == nil {
		b = backups.Get().(*backup)
		m.backup = b
	}
	b.State, b.open, b.saved = m.s, true, false
	if r := m.s.Run; r != nil {
		b.run, b.calls = *r, append(b.calls[:0], r.Calls...)
	}
}

// Rollback brings back the state at the newest [Machine.Begin]. It does nothing without one.
func (m *Machine) Rollback() {
	b := m.backup
	if b == nil || !b.open {
		return
	}
	defer m.forget()
	m.s = b.State
	r := m.s.Run
	if r == nil {
		return
	}
	*r = b.run
	copy(r.Calls, b.calls)
	if b.saved {
		clear(r.Tools)
		maps.Copy(r.Tools, b.tools)
	}
}

// setTool sets what a run remembers of a tool.
func (m *Machine) setTool(r *RunState, name string, tool ToolState) {
	if b := m.backup; b != nil && b.open && !b.saved && r == b.State.Run && b.run.Tools != nil {
		clear(b.tools)
		maps.Copy(b.tools, r.Tools)
		b.saved = true
	}
	if r.Tools == nil {
		r.Tools = make(map[string]ToolState)
	}
	r.Tools[name] = tool
}
