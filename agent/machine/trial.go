package machine

import "maps"

// A trial is the copy on which a machine applies facts before they are stored. It is used again
// and again, so that a trial allocates nothing once the run has begun.
type trial struct {
	Machine
	run   RunState
	calls []CallState
	tools map[string]ToolState
}

// Trial returns a machine in the same state. A driver applies the facts to it that it is about to
// store, so that a fact that doesn't fit is never stored, and to m after that. The result is valid
// until the next call of Trial, or until a fact is applied to m.
func (m *Machine) Trial() *Machine {
	t := m.trial
	if t == nil {
		t = &trial{tools: make(map[string]ToolState)}
		m.trial = t
	}
	t.s = m.s
	if m.s.Run == nil {
		return &t.Machine
	}
	t.run = *m.s.Run
	t.s.Run = &t.run
	if len(t.run.Calls) > 0 {
		t.calls = append(t.calls[:0], t.run.Calls...)
		t.run.Calls = t.calls
	}
	if t.run.Tools != nil {
		clear(t.tools)
		maps.Copy(t.tools, t.run.Tools)
		t.run.Tools = t.tools
	}
	return &t.Machine
}
