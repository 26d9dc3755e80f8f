package machine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// TestSpansHoldNoMoreThanWhatIsNew: what stays isn't written again.
func TestSpansHoldNoMoreThanWhatIsNew(t *testing.T) {
	msgs := make([]provider.Message, 8)
	for i := range msgs {
		msgs[i] = provider.User(fmt.Sprint(i))
	}
	note := provider.User("note")
	for name, c := range map[string]struct {
		after []provider.Message
		want  []machine.Span
	}{
		"as it was": {msgs, []machine.Span{{From: 0, To: 8}}},
		"the end":   {msgs[5:], []machine.Span{{From: 5, To: 8}}},
		"a gap": {append(append([]provider.Message{}, msgs[0]), msgs[4:]...),
			[]machine.Span{{From: 0, To: 1}, {From: 4, To: 8}}},
		"a note": {append(append([]provider.Message{}, msgs[0], note), msgs[4:]...),
			[]machine.Span{{From: 0, To: 1}, {From: 1, To: 4, Messages: []provider.Message{note}}, {From: 4, To: 8}}},
		"a note in front": {append([]provider.Message{note}, msgs...),
			[]machine.Span{{From: 0, To: 0, Messages: []provider.Message{note}}, {From: 0, To: 8}}},
		"a note behind": {append(append([]provider.Message{}, msgs...), note),
			[]machine.Span{{From: 0, To: 8}, {From: 8, To: 8, Messages: []provider.Message{note}}}},
		"all but the last": {[]provider.Message{note, msgs[7]},
			[]machine.Span{{From: 0, To: 7, Messages: []provider.Message{note}}, {From: 7, To: 8}}},
		"one twice": {[]provider.Message{msgs[0], msgs[0], msgs[1]}, []machine.Span{{From: 0, To: 1},
			{From: 1, To: 1, Messages: []provider.Message{msgs[0]}}, {From: 1, To: 8 - 6}}},
	} {
		require.Equal(t, c.want, machine.Spans(msgs, c.after), name)
	}
}
