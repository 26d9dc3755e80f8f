package machine

import "maps"

// A trial is the copy on which a machine applies facts before they are stored. It is used again
// and again, so that a trial allocates nothing once the run has begun.
type trial struct {
	Machine
	run     RunState
	calls   []CallState
	tools   map[string]ToolState
	changes bool // tools are those of the run: the original's are copied when one changes
}

// Trial returns a machine in the same state. A driver applies the facts to it that it is about to
// store, so that a fact that doesn't fit is never stored. After that, [Machine.Adopt] takes the
// state over; without it, m stays as it was. The result is valid until the next call of Trial.
func (m *Machine) Trial() *Machine {
	t := m.trial
	if t == nil {
		t = &trial{tools: make(map[string]ToolState)}
		t.isTrial, m.trial = t, t
	}
	t.s, t.changes = m.s, false
	if m.s.Run == nil {
		return &t.Machine
	}
	t.run = *m.s.Run
	t.s.Run = &t.run
	if len(t.run.Calls) > 0 {
		t.calls = append(t.calls[:0], t.run.Calls...)
		t.run.Calls = t.calls
	}
	return &t.Machine
}

// setTool sets what a run remembers of a tool.
func (m *Machine) setTool(r *RunState, name string, tool ToolState) {
	if t := m.isTrial; t != nil && r == &t.run && r.Tools != nil && !t.changes {
		t.changes = true
		clear(t.tools)
		maps.Copy(t.tools, r.Tools)
		r.Tools = t.tools
	}
	if r.Tools == nil {
		r.Tools = make(map[string]ToolState)
	}
	r.Tools[name] = tool
}

// Adopt gives m the state of the newest [Machine.Trial]. Pointers to the run of m, and to calls
// that are still open, stay valid.
func (m *Machine) Adopt() {
	t, run := m.trial, m.s.Run
	m.s = t.s
	if t.s.Run != &t.run { // another run, or none: the trial has no other copy of it
		return
	}
	m.s.Run = run
	calls, tools := run.Calls, run.Tools
	*run = t.run
	if len(run.Calls) > 0 && len(t.calls) > 0 && &run.Calls[0] == &t.calls[0] {
		copy(calls, t.calls)
		run.Calls = calls
	}
	if t.changes {
		maps.Copy(tools, t.tools)
		run.Tools = tools
	}
}
