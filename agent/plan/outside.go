package plan

import (
	"context"
	"slices"

	"github.com/pawlkit/pawl/tools"
)

// maxOutside is how many names agent.Input.Outside may have.
const maxOutside = 20

// addOutside adds to where text from outside comes from.
func (s *State) addOutside(from ...string) {
	s.outside = slices.Clip(s.outside)
	for _, name := range from {
		if len(s.outside) < maxOutside && !slices.Contains(s.outside, name) {
			s.outside = append(s.outside, name)
		}
	}
}

// outsideOf returns where the text from outside comes from that is in the conversation of the call
// that ctx belongs to: see [tools.Call].Outside.
func outsideOf(ctx context.Context) []string {
	if call, ok := tools.CallOf(ctx); ok {
		return call.Outside
	}
	return nil
}
