package memory

import (
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// markProvider names this package in opaque data of the parts that it makes. Opaque data goes to no
// provider but the one named, so it is never sent; it survives a journal, and says what is a note
// and what has been cut.
const markProvider = "pawl/memory"

// Kinds of marks.
const (
	markSummary = "summary"
	markSubgoal = "subgoal"
	markOffload = "offload"
	markGap     = "gap"
	markCut     = "cut"
	markTold    = "told"
)

const gapText = "[Earlier messages were left out here to save room.]"

// mark is the data of a mark.
type mark struct {
	Facts  []string `json:"facts,omitempty"`
	Handle string   `json:"handle,omitempty"`
}

// noteMessage returns a message that takes the place of others. It is one of the user's, since
// every provider takes these anywhere.
func noteMessage(kind, text string, m mark) provider.Message {
	return provider.Message{Role: provider.RoleUser, Parts: []provider.Part{markedPart(kind, text, m)}}
}

func markedPart(kind, text string, m mark) provider.Part {
	p := provider.TextPart(valid(text))
	data, _ := json.Marshal(m) // it has only strings
	p.Opaque = &provider.Opaque{Provider: markProvider, Kind: kind, Data: string(data)}
	return p
}

// valid returns a text that survives a journal unchanged.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// noteOf returns the kind of note that a message is, or "".
func noteOf(m *provider.Message) string {
	if m.Role != provider.RoleUser || len(m.Parts) != 1 {
		return ""
	}
	if o := m.Parts[0].Opaque; o != nil && o.Provider == markProvider && o.Kind != markCut && o.Kind != markTold {
		return o.Kind
	}
	return ""
}

// HostMessage returns a message in which an agent tells its model something, a warning or what is
// missing. Its role is that of the user, since every provider takes such a message anywhere, but it
// isn't taken for what the user said: neither for the goal nor for the newest message of the user.
// It may go when it is old.
func HostMessage(text string) provider.Message {
	p := provider.TextPart(text)
	p.Opaque = &provider.Opaque{Provider: markProvider, Kind: markTold}
	return provider.Message{Role: provider.RoleUser, Parts: []provider.Part{p}}
}

// IsHostMessage reports whether a message was made by [HostMessage].
func IsHostMessage(m *provider.Message) bool {
	if m == nil || m.Role != provider.RoleUser || len(m.Parts) == 0 {
		return false
	}
	o := m.Parts[0].Opaque
	return o != nil && o.Provider == markProvider && o.Kind == markTold
}

// markOf returns the data of a note's mark.
func markOf(m *provider.Message) (out mark) {
	if len(m.Parts) == 1 && m.Parts[0].Opaque != nil {
		_ = json.Unmarshal([]byte(m.Parts[0].Opaque.Data), &out) // what can't be read says nothing
	}
	return out
}

// isCut reports a part that this package made of a longer one.
func isCut(p *provider.Part) bool {
	return p.Opaque != nil && p.Opaque.Provider == markProvider && p.Opaque.Kind == markCut
}
