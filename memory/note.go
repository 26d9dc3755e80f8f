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
	markBefore  = "before"
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
	if o := m.Parts[0].Opaque; o != nil && o.Provider == markProvider && o.Kind != markCut && !IsHostMessage(m) {
		return o.Kind
	}
	return ""
}

// IsGap reports whether a message only says that a compaction has left out messages in its place.
func IsGap(m *provider.Message) bool { return noteOf(m) == markGap }

// HostMessage returns a message in which an agent tells its model something, a warning or what is
// missing. Its role is that of the user, since every provider takes such a message anywhere, but it
// isn't taken for what the user said: neither for the goal nor for the newest message of the user.
// It may go when it is old.
func HostMessage(text string) provider.Message {
	p := provider.TextPart(text)
	p.Opaque = &provider.Opaque{Provider: markProvider, Kind: markTold}
	return provider.Message{Role: provider.RoleUser, Parts: []provider.Part{p}}
}

// IsHostMessage reports whether a message has only what an agent told its model: see [HostMessage].
func IsHostMessage(m *provider.Message) bool {
	told, rest := Told(m)
	if len(rest) == 0 {
		return len(told) > 0
	}
	return m.Role == provider.RoleUser && isMarked(&rest[0], markTold)
}

// ToldBefore returns a part for the beginning of a user's message, in which an agent tells its
// model something of the user's message before that, such as that it was stopped. It isn't taken
// for what the user said. It stays as long as a message of the user before it does: if a compaction
// drops the message that it is in, a message with this part alone takes its place.
func ToldBefore(text string) provider.Part {
	p := provider.TextPart(text)
	p.Opaque = &provider.Opaque{Provider: markProvider, Kind: markBefore}
	return p
}

// Told splits the parts of a message into those of [ToldBefore] at its beginning, and the others.
// They are shared.
func Told(m *provider.Message) (told, rest []provider.Part) {
	if m == nil {
		return nil, nil
	}
	n := 0
	for m.Role == provider.RoleUser && n < len(m.Parts) && isMarked(&m.Parts[n], markBefore) {
		n++
	}
	return m.Parts[:n:n], m.Parts[n:]
}

func isMarked(p *provider.Part, kind string) bool {
	return p.Opaque != nil && p.Opaque.Provider == markProvider && p.Opaque.Kind == kind
}

// saidText returns the text of a message without what an agent told its model.
func saidText(m *provider.Message) string {
	_, said := Told(m)
	return (&provider.Message{Parts: said}).Text()
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
	return isMarked(p, markCut)
}
