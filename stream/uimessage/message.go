package uimessage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Message is a message as clients keep it.
type Message struct {
	ID    string `json:"id"`
	Role  string `json:"role"` // user, assistant or system
	Parts []Part `json:"parts"`

	open   map[openPart]int // the parts that are being written, by index
	inputs map[string]bool  // the calls whose inputs are being written
}

// MarshalJSON returns the message as clients keep it. They need a list of parts, even if it is
// empty.
func (m Message) MarshalJSON() ([]byte, error) {
	type plain Message // without this method
	if m.Parts == nil {
		m.Parts = []Part{}
	}
	return json.Marshal(plain(m))
}

// A Part is a part of a [Message]. Type says which of the other fields are used: text, reasoning,
// file, source-url, source-document, step-start, "data-" and a name, dynamic-tool, or "tool-" and
// the name of the tool.
type Part struct {
	Type string `json:"type"`
	ID   string `json:"id,omitempty"` // of data

	Text  string `json:"text,omitempty"`
	State string `json:"state,omitempty"` // of text, reasoning and calls

	MediaType string `json:"mediaType,omitempty"`
	Filename  string `json:"filename,omitempty"`
	URL       string `json:"url,omitempty"`
	SourceID  string `json:"sourceId,omitempty"`
	Title     string `json:"title,omitempty"`

	Data json.RawMessage `json:"data,omitempty"`

	Call
}

// MarshalJSON returns the part as clients keep it: with the texts that they require, even if these
// are empty.
func (p Part) MarshalJSON() ([]byte, error) {
	type plain Part // without this method
	switch {
	case p.Type == typeText || p.Type == typeReasoning:
		return json.Marshal(struct {
			plain
			Text string `json:"text"`
		}{plain(p), p.Text})
	case p.Type == typeDocument:
		return json.Marshal(struct {
			plain
			Title string `json:"title"`
		}{plain(p), p.Title})
	case p.State == stateOutputError:
		return json.Marshal(struct {
			plain
			ErrorText string `json:"errorText"`
		}{plain(p), p.ErrorText})
	}
	return json.Marshal(plain(p))
}

// A Call has the fields of a part that is a tool call. Clients also show what was written of an
// input that isn't complete; here it isn't kept.
type Call struct {
	ToolCallID       string          `json:"toolCallId,omitempty"`
	ToolName         string          `json:"toolName,omitempty"` // of a dynamic-tool; others have it in their Type
	Input            json.RawMessage `json:"input,omitempty"`
	Output           json.RawMessage `json:"output,omitempty"`
	ErrorText        string          `json:"errorText,omitempty"`
	Approval         *Approval       `json:"approval,omitempty"`
	ProviderExecuted bool            `json:"providerExecuted,omitempty"`
}

// An Approval is the state of an approval. Approved is nil while it waits for an answer.
type Approval struct {
	ID       string `json:"id"`
	Approved *bool  `json:"approved,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// The states of text and of reasoning, and those of calls.
const (
	stateStreaming = "streaming"
	stateDone      = "done"

	stateInputStreaming    = "input-streaming"
	stateInputAvailable    = "input-available"
	stateApprovalRequested = "approval-requested"
	stateApprovalResponded = "approval-responded"
	stateOutputAvailable   = "output-available"
	stateOutputError       = "output-error"
	stateOutputDenied      = "output-denied"
)

const (
	typeText      = "text"
	typeReasoning = "reasoning"
	typeStep      = "step-start"
	typeDocument  = "source-document"
	typeFile      = "file"
	dynamicTool   = "dynamic-tool"
	toolPrefix    = "tool-"
)

// tool returns the name of the tool that a part calls.
func (p *Part) tool() (name string, ok bool) {
	if p.Type == dynamicTool {
		return p.ToolName, true
	}
	return strings.CutPrefix(p.Type, toolPrefix)
}

// Steps returns how many steps the message has.
func (m *Message) Steps() (n int) {
	for i := range m.Parts {
		if m.Parts[i].Type == typeStep {
			n++
		}
	}
	return n
}

// Has reports whether the message has a call by that id.
func (m *Message) Has(call string) bool { return m.call(call) != nil }

// call returns the part of a call: that of the current step, or else the last of the message.
func (m *Message) call(id string) *Part {
	for i := len(m.Parts) - 1; i >= 0; i-- {
		if p := &m.Parts[i]; p.ToolCallID == id && id != "" {
			if _, ok := p.tool(); ok {
				return p
			}
		}
	}
	return nil
}

// waits reports whether the part is a call whose input is complete, and that has no result.
func (p *Part) waits() bool {
	return p.State == stateInputAvailable || p.State == stateApprovalRequested || p.State == stateApprovalResponded
}

// asked returns the part of a call that an approval is about.
func (m *Message) asked(approval string) *Part {
	i := slices.IndexFunc(m.Parts, func(p Part) bool { return p.Approval != nil && p.Approval.ID == approval })
	if i < 0 {
		return nil
	}
	return &m.Parts[i]
}

// thisStep returns the parts of the current step.
func (m *Message) thisStep() []Part {
	i := len(m.Parts)
	for i > 0 && m.Parts[i-1].Type != typeStep {
		i--
	}
	return m.Parts[i:]
}

// A piece is a chunk as a client reads it.
type piece struct {
	Type, MessageID, ID, Delta string

	ToolCallID, ToolName, ErrorText, ApprovalID, Reason string

	ProviderExecuted, Dynamic, Approved, Transient bool

	Input, Output, Data json.RawMessage
}

// Apply changes the message as a client does when it reads the JSON of a chunk. What would end the
// client's stream with an error is an error.
func (m *Message) Apply(data []byte) error {
	var c piece
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("uimessage: it isn't a chunk: %w", err)
	}
	switch c.Type {
	case "start":
		m.ID = cmp.Or(c.MessageID, m.ID)
	case "finish", "error":
	case "start-step":
		m.Parts = append(m.Parts, Part{Type: typeStep})
	case "finish-step":
		m.open = nil
	case "reset-step":
		if m.Steps() > 0 {
			m.Parts = m.Parts[:len(m.Parts)-len(m.thisStep())]
		}
		m.open, m.inputs = nil, nil
	case "text-start":
		m.start(openPart{c.ID, false}, typeText)
	case "text-delta", "text-end":
		return m.write(&c, openPart{c.ID, false})
	case "reasoning-start":
		m.start(openPart{c.ID, true}, typeReasoning)
	case "reasoning-delta", "reasoning-end":
		return m.write(&c, openPart{c.ID, true})
	case "source-url", typeDocument, typeFile:
		var p Part // it has the same fields
		if err := json.Unmarshal(data, &p); err != nil {
			return err
		}
		m.Parts = append(m.Parts, p)
	default:
		if strings.HasPrefix(c.Type, dataPrefix) {
			m.data(&c)
			return nil
		}
		return m.tool(&c)
	}
	return nil
}

func (m *Message) start(part openPart, kind string) {
	if m.open == nil {
		m.open = make(map[openPart]int)
	}
	m.open[part] = len(m.Parts)
	m.Parts = append(m.Parts, Part{Type: kind, State: stateStreaming})
}

func (m *Message) write(c *piece, part openPart) error {
	i, ok := m.open[part]
	if !ok {
		return &GrammarError{Type: c.Type, ID: part.id, Problem: "no such part is open"}
	}
	m.Parts[i].Text += c.Delta
	if strings.HasSuffix(c.Type, "-end") {
		m.Parts[i].State = stateDone
		delete(m.open, part)
	}
	return nil
}

func (m *Message) data(c *piece) {
	if c.Transient {
		return
	}
	part := Part{Type: c.Type, ID: c.ID, Data: orNull(c.Data)}
	for i := range m.Parts {
		if c.ID != "" && m.Parts[i].Type == part.Type && m.Parts[i].ID == c.ID {
			m.Parts[i] = part
			return
		}
	}
	m.Parts = append(m.Parts, part)
}

func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}
