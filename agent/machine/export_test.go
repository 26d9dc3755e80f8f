package machine

import (
	"maps"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// What the tests of package machine_test use besides the exported names.
var (
	FactTypes    = factTypes
	MapStrings   = mapStrings
	HashParts    = hashParts
	IsWellFormed = isWellFormed
)

func KindOf(f Fact) string { return f.kind() }

func CloneFact(f Fact) Fact { return clone(f) }

func CloneState(s *State) (*State, error) { return s.Clone() }

func CountRepeats(r *RunState, c *provider.ToolCall, res *ToolResult) (ToolState, int) {
	return r.repeats(c, res)
}

// Clone returns a machine in the same state. Facts applied to one of the two don't change the
// other.
func (m *Machine) Clone() *Machine {
	out := &Machine{s: m.s}
	out.s.Messages, out.s.Used = slices.Clip(m.s.Messages), slices.Clip(m.s.Used)
	if m.s.Run != nil {
		r := *m.s.Run // what Apply changes in place is copied
		r.Calls, r.Tools, r.ToolNames = slices.Clone(r.Calls), maps.Clone(r.Tools), slices.Clip(r.ToolNames)
		out.s.Run = &r
	}
	return out
}
