package memory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Report says what a compaction did. Tokens are those of the whole request.
type Report struct {
	Trigger string `json:"trigger"` // "share 0.70", "phase", "by hand", "window": it didn't fit
	Before  int    `json:"before"`
	After   int    `json:"after"`
	Target  int    `json:"target"`
	Budget  int    `json:"budget"` // the window less its reserve

	MessagesBefore int `json:"messages_before"`
	MessagesAfter  int `json:"messages_after"`

	Steps []StepReport `json:"steps"`
}

// A StepReport says what a strategy did.
type StepReport struct {
	Strategy string `json:"strategy"`
	Before   int    `json:"before"`
	After    int    `json:"after"`
	Dropped  int    `json:"dropped,omitempty"` // groups that were left out
	Cut      int    `json:"cut,omitempty"`     // results and messages that were shortened
	Notes    int    `json:"notes,omitempty"`   // texts that took the place of groups: summaries, subgoals
	// Skipped says why what it proposed wasn't taken: "nothing to do", "below its floor", "no
	// shorter".
	Skipped string `json:"skipped,omitempty"`
	Error   string `json:"error,omitempty"` // what went wrong; the next strategy went on
	// Usage is what the strategy's model calls took, of failed ones too; Cost what that is worth,
	// where prices are known. Priced says that they are, of all that was used.
	Usage  provider.Usage `json:"usage,omitzero"`
	Cost   provider.Money `json:"cost,omitempty"`
	Priced bool           `json:"priced,omitempty"`
}

// steps returns the steps; none of a nil Report.
func (r *Report) steps() []StepReport {
	if r == nil {
		return nil
	}
	return r.Steps
}

// Changed reports whether the conversation is another than before.
func (r *Report) Changed() bool {
	for i := range r.steps() {
		if s := &r.Steps[i]; s.Dropped+s.Cut+s.Notes > 0 {
			return true
		}
	}
	return false
}

// Usage returns what the model calls of all steps took.
func (r *Report) Usage() (sum provider.Usage) {
	for i := range r.steps() {
		sum = sum.Add(r.Steps[i].Usage)
	}
	return sum
}

// Cost returns what the model calls of all steps cost, where prices are known.
func (r *Report) Cost() (sum provider.Money) {
	for i := range r.steps() {
		sum = sum.Add(r.Steps[i].Cost)
	}
	return sum
}

// Priced reports whether Cost is all that the model calls cost: the prices of each are known, be
// they 0.
func (r *Report) Priced() bool {
	for i := range r.steps() {
		if s := &r.Steps[i]; !s.Priced && s.Usage.Total() > 0 {
			return false
		}
	}
	return true
}

// Warnings returns what went wrong, a sentence each.
func (r *Report) Warnings() []string {
	var out []string
	for i := range r.steps() {
		if s := &r.Steps[i]; s.Error != "" {
			out = append(out, s.Strategy+": "+s.Error)
		}
	}
	return out
}

// String says it in a line.
func (r *Report) String() string {
	if r == nil {
		return "no report"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d to %d tokens of %d, %d to %d messages", r.Trigger, r.Before, r.After, r.Budget,
		r.MessagesBefore, r.MessagesAfter)
	for i := range r.steps() {
		s := &r.Steps[i]
		switch {
		case s.Error != "":
			fmt.Fprintf(&b, "; %s failed", s.Strategy)
		case s.Skipped == "":
			fmt.Fprintf(&b, "; %s freed %d", s.Strategy, s.Before-s.After)
		}
	}
	return b.String()
}

// ErrContextTooLarge is what a [*ContextTooLargeError] is.
var ErrContextTooLarge = errors.New("memory: the request doesn't fit the window")

// A ContextTooLargeError says that a request doesn't fit the window of its model and can't be made
// to fit. The conversation is as it was.
type ContextTooLargeError struct {
	Window  int // tokens
	Reserve int // kept for the answer
	Total   int // the least that the request could be brought to
	// Biggest are the parts that take most of it, at most five, biggest first.
	Biggest []Sized
}

// A Sized is a part of a request with its tokens.
type Sized struct {
	What   string // "the system text", "the tool cms.search", "the result of fs.read", …
	Tokens int
}

// Error names the biggest parts.
func (e *ContextTooLargeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "memory: the request takes %d tokens, and a window of %d less %d for the answer has room for %d",
		e.Total, e.Window, e.Reserve, e.Window-e.Reserve)
	for i, s := range e.Biggest {
		if i == 0 {
			b.WriteString("; the biggest parts: ")
		} else {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%d)", s.What, s.Tokens)
	}
	b.WriteString("; make these smaller, or use a model with a larger window")
	return b.String()
}

// Is reports whether target is [ErrContextTooLarge].
func (e *ContextTooLargeError) Is(target error) bool { return target == ErrContextTooLarge }

// Fault returns Permanent: the same request would be refused again.
func (e *ContextTooLargeError) Fault() fault.Class { return fault.Permanent }

// biggest returns the five biggest parts of the request, in tokens of the provider.
func (j *job) biggest() []Sized {
	var all []Sized
	add := func(what string, n int) {
		if n > 0 {
			all = append(all, Sized{what, j.up(n)})
		}
	}
	c, req, groups := j.counter, j.req, j.groups
	add("the system text", c.CountText(j.system))
	if j.more != nil {
		add("the user context", c.CountText(j.more.User))
		add("the screen context", c.CountText(j.more.Screen))
		add("the host's note", c.CountText(j.more.HostNote))
	}
	add("the schema of the answer", countFrame(c, &provider.Request{Output: req.Output}).Output)
	for i := range req.Tools {
		add("the tool "+req.Tools[i].Name, c.CountTool(&req.Tools[i]))
	}
	for i := range groups {
		g := &groups[i]
		for j := range g.Messages {
			m := &g.Messages[j]
			if m.Role != provider.RoleTool {
				what, n := "a reply", g.tokens[j]
				if m.Role == provider.RoleUser {
					what = "a message of the user"
				}
				if g.Pinned != "" {
					what += " (" + string(g.Pinned) + ")"
				}
				for k := range m.Parts {
					if p := &m.Parts[k]; p.Media != nil {
						file := c.CountMessage(&provider.Message{Parts: m.Parts[k : k+1]})
						add("the file "+mediaText(p.Media), file)
						n -= file
					}
				}
				add(what, n)
				continue
			}
			for k := range m.Parts {
				if r := m.Parts[k].Result; r != nil {
					add("the result of "+r.Name, c.CountMessage(&provider.Message{Parts: r.Parts}))
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Sized) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return all[:min(len(all), 5)]
}
