package machine

import (
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// Attempts is a summary of what runs have tried. It is all that is kept of a conversation after a
// context reset.
type Attempts struct {
	Calls    int         `json:"calls"`            // how many calls there were
	Newest   []string    `json:"newest,omitempty"` // the newest 30 of them, with their outcomes
	Failed   FailedCalls `json:"failed,omitempty"`
	LastText string      `json:"last_text,omitempty"` // the model's last text
}

// with returns a copy of t, which may be nil, that also covers messages.
func (t *Attempts) with(messages []provider.Message) *Attempts {
	out := new(Attempts)
	if t != nil {
		*out = *t
	}
	out.Newest, out.Failed = slices.Clone(out.Newest), slices.Clone(out.Failed)
	for i := range messages {
		m := &messages[i]
		for _, c := range m.Calls() {
			what := shorten(c.Name+" "+string(c.Input)+c.Invalid, maxLine)
			outcome, ok := outcomeOf(messages[i+1:], c.ID)
			if !ok {
				out.Failed.Add(FailedCall{what, outcome, 1})
			}
			out.Newest = append(out.Newest, what+" → "+outcome)
			out.Calls++
		}
		if m.Role == provider.RoleAssistant && m.Text() != "" {
			out.LastText = m.Text()
		}
	}
	out.LastText = shorten(out.LastText, maxLastText)
	out.Newest = out.Newest[max(len(out.Newest)-maxTried, 0):]
	return out
}

// outcomeOf returns the outcome of a call in words, and false if the call failed. following are the
// messages after the call.
func outcomeOf(following []provider.Message, id string) (string, bool) {
	for i := range following {
		for j := range following[i].Parts {
			r := following[i].Parts[j].Result
			if r == nil || r.CallID != id {
				continue
			}
			msg := provider.Message{Parts: r.Parts}
			text, _, _ := strings.Cut(strings.TrimSpace(msg.Text()), "\n")
			if r.Error {
				return "failed: " + shorten(text, maxLine), false
			}
			return "ok: " + shorten(text, 100), true
		}
	}
	return "no result", true
}

// A FailedCall is a call that failed.
type FailedCall struct {
	What  string `json:"what"`  // tool and input
	Why   string `json:"why"`   // the newest failure
	Times int    `json:"times"` // how often it failed
}

// FailedCalls are calls that failed, each once, in the order of their first failures.
type FailedCalls []FailedCall

// Add adds a call, or the failures of a call that is known.
func (f *FailedCalls) Add(other FailedCall) {
	i := slices.IndexFunc(*f, func(known FailedCall) bool { return known.What == other.What })
	if i < 0 {
		*f = append(*f, other)
		return
	}
	(*f)[i].Why = other.Why
	(*f)[i].Times += other.Times
}

// MostFrequent returns the 20 calls that failed most often, sorted by that.
func (f FailedCalls) MostFrequent() FailedCalls {
	out := slices.Clone(f)
	slices.SortStableFunc(out, func(a, b FailedCall) int { return b.Times - a.Times })
	return out[:min(len(out), maxAvoid)]
}

// Bounds of what is kept of attempts.
const (
	maxTried    = 30 // calls of an attempt
	maxAvoid    = 20
	maxLine     = 300 // bytes of a line
	maxLastText = 2_000
)

// shorten removes line breaks from a text and cuts it to at most limit bytes.
func shorten(s string, limit int) string {
	s = string([]rune(s)) // replaces invalid UTF-8 as JSON does, so that a replay cuts at the same place
	return cutBytes(strings.Join(strings.Fields(s), " "), limit)
}

// cutBytes cuts a text to at most limit bytes, between characters, and marks the cut.
func cutBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + " […]"
}
