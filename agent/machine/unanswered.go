package machine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// When a run starts after one that didn't complete, the model gets a note about the earlier
// request. This file writes that note. It depends only on facts that older versions also stored, so
// it works for old logs, too.

// A callEffect is a call of a run that had or may have had an effect.
type callEffect struct {
	Call string `json:"call"` // its id
	What string `json:"what"` // its tool, its input, cut to 200 bytes with the name, and how it ended
}

// Limits of the note.
const (
	maxEffects     = 10
	maxEffectBytes = 200
	maxQuoteBytes  = 200
)

// addEffect remembers a call that has its result, if it may have had an effect. Those of tools that
// read only have none.
func (r *RunState) addEffect(c *CallState, f *ToolFinished) {
	if c.ReadOnly || !c.Started && !f.Result.Status.Ran() {
		return
	}
	if len(r.Effects) == maxEffects {
		r.Effects = r.Effects[1:]
	}
	r.Effects = append(r.Effects, callEffect{f.Call.ID, effect(f.Call, f.Result.Status)})
	r.Effected++
}

// effect returns what a call did, in one line.
func effect(c *provider.ToolCall, status tools.Status) string {
	input := c.Input
	if most := maxEffectBytes - len(c.Name); len(input) > most { // it may have megabytes
		input = append(bytes.ToValidUTF8(input[:max(most, 0)], nil), " […]"...)
	}
	return CleanName(c.Name + " " + string(input) + " (" + string(status) + ")")
}

// removeEffects forgets the calls that were undone, also those that aren't among the newest.
func (r *RunState) removeEffects(calls []UndoneCall) {
	// a Clone of the machine shares them
	r.Effects = slices.DeleteFunc(slices.Clone(r.Effects), func(e callEffect) bool {
		return slices.ContainsFunc(calls, func(c UndoneCall) bool { return c.Why == "" && c.Call.ID == e.Call })
	})
	for _, c := range calls {
		if c.Why == "" && strings.HasPrefix(c.Call.ID, r.ID+".") {
			r.Effected--
		}
	}
	r.Effected = max(r.Effected, len(r.Effects))
}

// marked returns the input of the next run. If the run before it didn't complete, the input begins
// with the note about that.
func (s *State) marked(input provider.Message) provider.Message {
	if text := s.unanswered(); text != "" {
		input.Parts = slices.Concat([]provider.Part{memory.ToldBefore(text)}, input.Parts)
	}
	return input
}

// unanswered returns the note about the newest run; "" if that completed, or there was none. The
// model isn't to carry out a request that was stopped, and isn't to go on by itself with one that
// failed.
func (s *State) unanswered() string {
	r := s.Run
	if r == nil || r.Direct != nil || r.Status != Stopped && r.Status != Failed {
		return ""
	}
	request := "the request above"
	if goal := s.Goal(); strings.TrimSpace(goal) != "" {
		request += " (" + quote(goal) + ")"
	}
	if n := len(r.UserMessages); n > 0 {
		request += ", with what was added to it (last " + quote(r.UserMessages[n-1]) + "),"
	}
	var b strings.Builder
	if r.Status == Stopped && StoppedByPerson(r.Code) {
		if r.Stage == StageReplied && (r.Stop == provider.StopDone || r.Stop == provider.StopUnknown) {
			return "" // the answer came before that
		}
		fmt.Fprintf(&b, "Note: %s was stopped before it was finished. Don't carry it out, or what is left of it, unless "+
			"the next message asks for it again.", request)
	} else {
		fmt.Fprintf(&b, "Note: the work on %s ended before it was finished (%s). Don't go on with it unless the next "+
			"message refers to it.", request, cutBytes(CleanName(r.Code), maxQuoteBytes))
	}
	if r.Effected > 0 {
		b.WriteString(" These calls of it had an effect, or may have had one:\n<calls>\n")
		if more := r.Effected - len(r.Effects); more > 0 {
			fmt.Fprintf(&b, "%d earlier ones\n", more)
		}
		for _, e := range r.Effects {
			b.WriteString(memory.EscapeMarker(e.What, "calls") + "\n")
		}
		b.WriteString("</calls>")
	}
	return b.String()
}

// quote returns the beginning of a text in quotation marks, in one line.
func quote(text string) string { return fmt.Sprintf("%q", shorten(text, maxQuoteBytes)) }

// Shown returns messages of a State as a model is shown them: what it is told before a message of
// the user is a message of its own. own says whether they are in a slice of the caller's own, and
// the result whether they are now. The argument isn't changed.
func Shown(messages []provider.Message, own bool) ([]provider.Message, bool) {
	marked := func(m provider.Message) bool {
		told, rest := memory.Told(&m)
		return len(told) > 0 && len(rest) > 0
	}
	if !slices.ContainsFunc(messages, marked) {
		return messages, own
	}
	out := make([]provider.Message, 0, len(messages)+4)
	for _, m := range messages {
		if marked(m) {
			told, rest := memory.Told(&m)
			out = append(out, provider.Message{Role: m.Role, Parts: told})
			m.Parts = rest
		}
		out = append(out, m)
	}
	return out, true
}
