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

// Parts of a State, for tests that compare whole states.
type (
	ChainState = chainState
	KeyState   = keyState
)

// Waits reports whether a call has a pause to decide on.
func Waits(c *CallState) bool { return c.waits() }

func KindOf(f Fact) string { return f.kind() }

func CloneFact(f Fact) Fact { return clone(f) }

func CloneState(s *State) (*State, error) { return s.Clone() }

func CountRepeats(r *RunState, c *provider.ToolCall, res *ToolResult) (ToolState, int) {
	return r.repeats(c, res)
}

// Codes are the codes that have a line in endings.
func Codes() []string { return slices.Collect(maps.Keys(endings)) }
