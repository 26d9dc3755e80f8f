package machine

import (
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// The state knows which messages of the conversation have text from outside (tools.Spec.Outside),
// or a summary of such text. The facts that bring it say so: results of tools, replies with what
// the provider looked up, inputs and messages. What has left the conversation is forgotten.

// An OutsideText is text from outside in the conversation, or a summary of it, for tools that read
// logs.
type OutsideText struct {
	Message int      `json:"message"` // its index in [State].Messages
	From    []string `json:"from"`    // where it comes from: names of tools, or what an input said
}

// maxSources is how many sources of text from outside are named. Another one is left out.
const maxSources = 20

// OutsideFrom returns where the text from outside comes from that is in the conversation, the
// oldest first and at most 20; nil if there is none.
func (s *State) OutsideFrom() (from []string) {
	for i := range s.Outside {
		from = addSources(from, s.Outside[i].From)
	}
	return from
}

func addSources(from, more []string) []string {
	for _, name := range more {
		if len(from) < maxSources && !slices.Contains(from, name) {
			from = append(from, name)
		}
	}
	return from
}

// addOutside notes that the newest message has text from outside. It changes no slice in place,
// because others share them.
func (s *State) addOutside(from []string) {
	if from = addSources(nil, from); len(from) == 0 {
		return
	}
	s.Outside = append(slices.Clip(s.Outside), OutsideText{Message: len(s.Messages) - 1, From: from})
	s.HadOutside = true
}

// resultsFrom returns the tools with results from outside, of calls that all have their results.
func resultsFrom(calls []CallState) (from []string) {
	for i := range calls {
		if calls[i].Result.Outside {
			from = append(from, calls[i].Call.Name)
		}
	}
	return from
}

// OutsideInReply returns where the text from outside comes from that a reply has: what the provider
// has looked up or run itself, and what the answer cites.
func OutsideInReply(m *provider.Message) []string {
	var from []string
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == provider.PartProviderResult && p.Result != nil && p.Result.Name != "":
			from = append(from, p.Result.Name)
		case p.Kind == provider.PartProviderResult, p.Kind == provider.PartSource:
			from = append(from, "the model's provider")
		}
	}
	return addSources(nil, from)
}

// compactedOutside returns the text from outside in the conversation that a compaction makes of the
// present one. A message that stays keeps it, and so does one whose results were cut. A text that
// was written in the place of others may be about anything that hasn't stayed, wherever it stood,
// unless it only says that something was left out.
func (s *State) compactedOutside(spans []Span) (out []OutsideText) {
	if len(s.Outside) == 0 {
		return nil
	}
	var stayed, left []OutsideText
	for _, o := range s.Outside {
		if slices.ContainsFunc(spans, func(p Span) bool { return len(p.Messages) == 0 && p.has(o.Message) }) {
			stayed = append(stayed, o)
		} else {
			left = append(left, o)
		}
	}
	at := 0 // of the new conversation
	for _, p := range spans {
		if len(p.Messages) == 0 {
			for _, o := range stayed {
				if p.has(o.Message) {
					out = append(out, OutsideText{Message: at + o.Message - p.From, From: o.From})
				}
			}
			at += p.To - p.From
			continue
		}
		for i := range p.Messages {
			var from []string
			for _, o := range left {
				if mayTell(&p.Messages[i], p.has(o.Message)) {
					from = addSources(from, o.From)
				}
			}
			if len(from) > 0 {
				out = append(out, OutsideText{Message: at + i, From: from})
			}
		}
		at += len(p.Messages)
	}
	return out
}

// has reports whether the old conversation has a message within the span.
func (p *Span) has(message int) bool { return p.From <= message && message < p.To }

// mayTell reports whether a message that a compaction has written may tell what another one said
// that hasn't stayed. here says that it stood where the new one stands.
func mayTell(m *provider.Message, here bool) bool {
	if m.Role != provider.RoleUser || memory.IsHostMessage(m) && !memory.IsGap(m) {
		return here
	}
	return !memory.IsGap(m)
}

// outsideIn returns the text from outside in the first messages, as many as that.
func outsideIn(all []OutsideText, messages int) (out []OutsideText) {
	for _, o := range all {
		if o.Message < messages {
			out = append(out, o)
		}
	}
	return out
}

// checkOutside says why a conversation of so many messages can't have the text from outside.
func checkOutside(all []OutsideText, messages int) string {
	for i, o := range all {
		if o.Message < 0 || o.Message >= messages || len(o.From) == 0 {
			return fmt.Sprintf("text %d from outside is in no message, or from nowhere", i)
		}
	}
	return ""
}
