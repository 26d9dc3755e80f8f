package agent

import (
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
)

// attempts is what runs have tried, in words: what is kept of a conversation when its work is handed on.
type attempts struct {
	Calls  int      `json:"calls"`            // how many there were
	Newest []string `json:"newest,omitempty"` // of them, mostTried, with what came of them
	Failed failures `json:"failed,omitempty"`
	Said   string   `json:"said,omitempty"` // what the model said last
}

// and returns what was tried in t and then in messages. It changes neither.
func (t *attempts) and(messages []provider.Message) *attempts {
	out := new(attempts)
	if t != nil {
		*out = *t
	}
	out.Newest, out.Failed = slices.Clone(out.Newest), slices.Clone(out.Failed)
	for i := range messages {
		m := &messages[i]
		for _, c := range m.Calls() {
			what := shorten(c.Name+" "+string(c.Input)+c.Invalid, mostLine)
			outcome, ok := outcomeOf(messages[i+1:], c.ID)
			if !ok {
				out.Failed.add(failedCall{what, outcome, 1})
			}
			out.Newest = append(out.Newest, what+" → "+outcome)
			out.Calls++
		}
		if m.Role == provider.RoleAssistant && m.Text() != "" {
			out.Said = m.Text()
		}
	}
	out.Said = shorten(out.Said, mostLastSaid)
	out.Newest = out.Newest[max(len(out.Newest)-mostTried, 0):]
	return out
}

// outcomeOf returns what came of a call, and whether it succeeded.
func outcomeOf(behind []provider.Message, id string) (string, bool) {
	for i := range behind {
		for j := range behind[i].Parts {
			r := behind[i].Parts[j].Result
			if r == nil || r.CallID != id {
				continue
			}
			msg := provider.Message{Parts: r.Parts}
			text, _, _ := strings.Cut(strings.TrimSpace(msg.Text()), "\n")
			if r.Error {
				return "failed: " + shorten(text, mostLine), false
			}
			return "ok: " + shorten(text, 100), true
		}
	}
	return "no result", true
}

// A failedCall is a call that failed, and why it did last.
type failedCall struct {
	What  string `json:"what"`
	Why   string `json:"why"`
	Times int    `json:"times"`
}

// failures are calls that failed, in the order in which they first did.
type failures []failedCall

func (f *failures) add(other failedCall) {
	i := slices.IndexFunc(*f, func(known failedCall) bool { return known.What == other.What })
	if i < 0 {
		*f = append(*f, other)
		return
	}
	(*f)[i].Why = other.Why
	(*f)[i].Times += other.Times
}

// worst returns the mostAvoid most frequent, these first.
func (f failures) worst() failures {
	out := slices.Clone(f)
	slices.SortStableFunc(out, func(a, b failedCall) int { return b.Times - a.Times })
	return out[:min(len(out), mostAvoid)]
}
