package agui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A RunInput is what a client sends to start a run. Nothing in it is to be trusted: a client can
// send any messages and tools.
type RunInput struct {
	ThreadID string `json:"threadId"`
	RunID    string `json:"runId"`
	// what the client speaks; empty: a version before 1.0
	ProtocolVersion string          `json:"protocolVersion,omitempty"`
	ParentRunID     string          `json:"parentRunId,omitempty"`
	State           json.RawMessage `json:"state,omitempty"` // of the client; none means {}
	Messages        []Message       `json:"messages"`        // the conversation as the client has it
	Tools           []Tool          `json:"tools,omitempty"` // of the front end
	Context         []Context       `json:"context,omitempty"`
	ForwardedProps  json.RawMessage `json:"forwardedProps,omitempty"` // of the application
	Resume          []ResumeEntry   `json:"resume,omitempty"`         // answers to the interrupts of the last run
}

// A Tool is a tool of the front end.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // a JSON Schema; none: no parameters
	Metadata    Metadata        `json:"metadata,omitempty"`
}

// A Context is something that the model should know in this run.
type Context struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// A ResumeEntry answers an [Interrupt].
type ResumeEntry struct {
	InterruptID string          `json:"interruptId"`
	Status      ResumeStatus    `json:"status"`
	Payload     json.RawMessage `json:"payload,omitempty"` // the answer, any JSON but null
	Metadata    Metadata        `json:"metadata,omitempty"`
}

// A ResumeStatus says whether an interrupt was answered.
type ResumeStatus string

// Whether an interrupt was answered.
const (
	Resolved  ResumeStatus = "resolved"
	Cancelled ResumeStatus = "cancelled" // nobody answers it
)

// Limits are what [ParseRunInput] accepts at most. A figure of 0 or less means the default.
type Limits struct {
	Bytes    int // of the whole; default 4 MiB
	Messages int // default 10,000
	Parts    int // of a message, and its tool calls; default 1,000
	Entries  int // of tools, context and resume each; default 1,000
	Nesting  int // of arrays and objects; default 64
}

func (l Limits) withDefaults() Limits {
	for _, of := range []struct {
		figure *int
		or     int
	}{{&l.Bytes, 4 << 20}, {&l.Messages, 10_000}, {&l.Parts, 1000}, {&l.Entries, 1000}, {&l.Nesting, 64}} {
		if *of.figure <= 0 {
			*of.figure = of.or
		}
	}
	return l
}

// A RequestError says why what a client sent is no [RunInput]. Its class is fault.Invalid. It never
// contains what the client sent.
type RequestError struct {
	Field   string // for example "messages[2].content"; empty: the whole
	Problem string
	Limit   int // the limit that it exceeds; 0: none
}

// Error says what is wrong with which field.
func (e *RequestError) Error() string {
	if e.Field == "" {
		return "agui: the input " + e.Problem
	}
	return "agui: " + e.Field + " of the input " + e.Problem
}

// Fault returns Invalid.
func (e *RequestError) Fault() fault.Class { return fault.Invalid }

// ParseRunInput reads what a client sent, within limits. Messages of unknown roles, parts of
// unknown kinds and unknown properties are left out, as the protocol wants it. Errors are
// *[RequestError].
func ParseRunInput(data []byte, limits Limits) (*RunInput, error) {
	limits = limits.withDefaults()
	if len(data) > limits.Bytes {
		return nil, &RequestError{Problem: fmt.Sprintf("has more than %d bytes", limits.Bytes), Limit: limits.Bytes}
	}
	if nesting(data) > limits.Nesting {
		return nil,
			&RequestError{Problem: fmt.Sprintf("is nested deeper than %d", limits.Nesting), Limit: limits.Nesting}
	}
	if !json.Valid(data) {
		return nil, &RequestError{Problem: "isn't valid JSON"}
	}
	input := new(RunInput)
	if err := decodeInto(data, input, ""); err != nil {
		field, ok := errors.AsType[*fieldError](err)
		if !ok {
			return nil, &RequestError{Problem: "can't be read"}
		}
		return nil, &RequestError{Field: field.path, Problem: field.problem}
	}
	if err := input.check(limits); err != nil {
		return nil, err
	}
	return input, nil
}

func (in *RunInput) check(limits Limits) error {
	for _, of := range []struct {
		field   string
		n, most int
	}{
		{"messages", len(in.Messages), limits.Messages}, {"tools", len(in.Tools), limits.Entries},
		{"context", len(in.Context), limits.Entries}, {"resume", len(in.Resume), limits.Entries},
	} {
		if of.n > of.most {
			return &RequestError{Field: of.field, Problem: fmt.Sprintf("has more than %d elements", of.most),
				Limit: of.most}
		}
	}
	for i, m := range in.Messages {
		if max(len(m.Content.Parts), len(m.ToolCalls)) > limits.Parts {
			return &RequestError{
				Field:   "messages[" + strconv.Itoa(i) + "]",
				Problem: fmt.Sprintf("has more than %d parts or tool calls", limits.Parts),
				Limit:   limits.Parts,
			}
		}
	}
	for i, r := range in.Resume {
		// The protocol would leave the entry out. But it is a decision, and what the client wants
		// isn't known.
		if r.Status != Resolved && r.Status != Cancelled {
			return &RequestError{
				Field:   "resume[" + strconv.Itoa(i) + "].status",
				Problem: fmt.Sprintf("must be %q or %q", Resolved, Cancelled),
			}
		}
	}
	for _, of := range []struct{ field, value string }{{"threadId", in.ThreadID}, {"runId", in.RunID}} {
		if of.value == "" {
			return &RequestError{Field: of.field, Problem: "is empty"}
		}
	}
	return nil
}

// nesting returns how deep the arrays and objects of data are nested. It may be wrong if data isn't
// valid JSON, but never lower than what a decoder meets before the error.
func nesting(data []byte) int {
	depth, most := 0, 0
	inString := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}
