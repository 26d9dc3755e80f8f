package agent

import (
	"cmp"
	"encoding/json"
	"slices"
)

// toolStates are the states of a run's tools, by name: a map in JSON. Most runs use a few, for which a map takes ten times the
// room.
type toolStates []namedState // in the order of their names

type namedState struct {
	name string
	toolState
}

func (s toolStates) find(tool string) (int, bool) {
	return slices.BinarySearchFunc(s, tool, func(n namedState, name string) int { return cmp.Compare(n.name, name) })
}

// of returns the state of a tool: a zero one if it wasn't used.
func (s toolStates) of(tool string) toolState {
	if i, ok := s.find(tool); ok {
		return s[i].toolState
	}
	return toolState{}
}

func (s *toolStates) set(tool string, to toolState) {
	i, ok := s.find(tool)
	if !ok {
		*s = slices.Insert(*s, i, namedState{name: tool})
	}
	(*s)[i].toolState = to
}

// MarshalJSON returns an object with the names as its keys.
func (s toolStates) MarshalJSON() ([]byte, error) {
	m := make(map[string]toolState, len(s))
	for _, n := range s {
		m[n.name] = n.toolState
	}
	return marshal(m) // as in all of a state, <, > and & aren't escaped
}

// UnmarshalJSON reads what MarshalJSON returns.
func (s *toolStates) UnmarshalJSON(data []byte) error {
	var m map[string]toolState
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	*s = nil
	for name, t := range m {
		s.set(name, t)
	}
	return nil
}
