package agui

import (
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A RunInput is what a client sends to start a run, without its state, context and tools. Nothing
// in it is to be trusted: a client can send any messages.
type RunInput struct {
	ThreadID string `json:"threadId"`
	RunID    string `json:"runId"`
	// what the client speaks; empty: a version before 1.0
	ProtocolVersion string        `json:"protocolVersion"`
	Messages        []Message     `json:"messages"` // the conversation as the client has it
	Resume          []ResumeEntry `json:"resume"`   // answers to the interrupts of the last run
}

// A ResumeEntry answers an [Interrupt].
type ResumeEntry struct {
	InterruptID string          `json:"interruptId"`
	Status      ResumeStatus    `json:"status"`
	Payload     json.RawMessage `json:"payload"` // the answer, any JSON; nil if there is none
}

// A ResumeStatus says whether an interrupt was answered.
type ResumeStatus string

// Whether an interrupt was answered.
const (
	Resolved  ResumeStatus = "resolved"
	Cancelled ResumeStatus = "cancelled" // nobody answers it
)

// What a RunInput may have at most.
const (
	maxMessages = 10_000
	maxParts    = 1000 // of a message, and its tool calls
	maxResume   = 1000
)

// ParseRunInput reads what a client sent: at most 10,000 messages, of which each has at most 1,000
// parts or tool calls, and 1,000 answers. The caller bounds the size of data. Messages of unknown
// roles, parts of unknown kinds and unknown properties are left out, as the protocol wants it. The
// class of errors is fault.Invalid.
func ParseRunInput(data []byte) (*RunInput, error) {
	in := new(RunInput)
	if err := json.Unmarshal(data, in); err != nil {
		return nil, fault.Errorf(fault.Invalid, "agui: the input isn't that of a run: %w", err)
	}
	in.Messages = slices.DeleteFunc(in.Messages, func(m Message) bool { return !slices.Contains(roles, m.Role) })
	many := func(m Message) bool { return max(len(m.Content.Parts), len(m.ToolCalls)) > maxParts }
	switch {
	case in.ThreadID == "" || in.RunID == "":
		return nil, fault.New(fault.Invalid, "agui: the input needs threadId and runId")
	case len(in.Messages) > maxMessages || slices.ContainsFunc(in.Messages, many):
		return nil, fault.Errorf(fault.Invalid,
			"agui: the input has more than %d messages, or one with more than %d parts or tool calls", maxMessages,
			maxParts)
	case len(in.Resume) > maxResume:
		return nil, fault.Errorf(fault.Invalid, "agui: resume of the input has more than %d elements", maxResume)
	}
	for i := range in.Resume {
		r := &in.Resume[i]
		// The protocol would leave the entry out. But it is a decision, and what the client wants
		// isn't known.
		if r.InterruptID == "" || r.Status != Resolved && r.Status != Cancelled {
			return nil, fault.Errorf(fault.Invalid, "agui: resume[%d] of the input needs interruptId, and %q or %q as status",
				i, Resolved, Cancelled)
		}
		if string(r.Payload) == "null" {
			r.Payload = nil
		}
	}
	return in, nil
}
