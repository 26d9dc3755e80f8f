package uimessage

import (
	"encoding/json"
	"maps"
	"strings"
)

// A Message is a message as clients keep it.
type Message struct {
	ID       string          `json:"id"`
	Role     string          `json:"role"` // user, assistant or system
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Parts    []Part          `json:"parts"`

	open   map[openPart]int  // the parts that are being written, by index
	inputs map[string][]byte // what was written of the inputs of calls, by id
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
// file, reasoning-file, source-url, source-document, custom, step-start, "data-" and a name,
// dynamic-tool, or "tool-" and the name of the tool.
type Part struct {
	Type string `json:"type"`
	ID   string `json:"id,omitempty"` // of data

	Text             string           `json:"text,omitempty"`
	State            State            `json:"state,omitempty"` // of text, reasoning and calls
	ProviderMetadata ProviderMetadata `json:"providerMetadata,omitempty"`

	MediaType string `json:"mediaType,omitempty"`
	Filename  string `json:"filename,omitempty"`
	URL       string `json:"url,omitempty"`
	SourceID  string `json:"sourceId,omitempty"`
	Title     string `json:"title,omitempty"`
	Kind      string `json:"kind,omitempty"` // of a custom part

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
	case p.State == StateOutputError:
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
	ToolCallID       string           `json:"toolCallId,omitempty"`
	ToolName         string           `json:"toolName,omitempty"` // of a dynamic-tool; others have it in their Type
	Input            json.RawMessage  `json:"input,omitempty"`
	Output           json.RawMessage  `json:"output,omitempty"`
	ErrorText        string           `json:"errorText,omitempty"`
	Approval         *Approval        `json:"approval,omitempty"`
	Preliminary      bool             `json:"preliminary,omitempty"`
	ProviderExecuted bool             `json:"providerExecuted,omitempty"`
	CallMetadata     ProviderMetadata `json:"callProviderMetadata,omitempty"`
}

// An Approval is the state of an approval. Approved is nil while it waits for an answer.
type Approval struct {
	ID          string `json:"id"`
	Approved    *bool  `json:"approved,omitempty"`
	Reason      string `json:"reason,omitempty"`
	IsAutomatic bool   `json:"isAutomatic,omitempty"`
}

// A State is the state of a part.
type State string

// The states of text and of reasoning, and those of calls.
const (
	stateStreaming State = "streaming"
	StateDone      State = "done"

	stateInputStreaming    State = "input-streaming"
	StateInputAvailable    State = "input-available"
	StateApprovalRequested State = "approval-requested"
	StateApprovalResponded State = "approval-responded"
	StateOutputAvailable   State = "output-available"
	StateOutputError       State = "output-error"
	StateOutputDenied      State = "output-denied"
)

const (
	typeText      = "text"
	typeReasoning = "reasoning"
	typeStep      = "step-start"
	typeDocument  = "source-document"
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

// Apply changes the message as a client does when it reads a chunk. What would end the client's
// stream with an error is a *[GrammarError].
func (m *Message) Apply(c Chunk) error {
	switch c := c.(type) {
	case Start:
		if c.MessageID != "" {
			m.ID = c.MessageID
		}
		m.merge(c.MessageMetadata)
	case Finish:
		m.merge(c.MessageMetadata)
	case MessageMetadata:
		m.merge(c.MessageMetadata)
	case Error, Abort:
	case StartStep:
		m.Parts = append(m.Parts, Part{Type: typeStep})
	case FinishStep:
		m.open = nil
	case ResetStep:
		for i := len(m.Parts) - 1; i >= 0; i-- {
			if m.Parts[i].Type == typeStep {
				m.Parts = m.Parts[:i+1]
				break
			}
		}
		m.open, m.inputs = nil, nil
	case TextStart:
		m.start(openPart{c.ID, false}, typeText, c.ProviderMetadata)
	case TextDelta:
		return m.write(c, openPart{c.ID, false}, c.Delta, false)
	case TextEnd:
		return m.write(c, openPart{c.ID, false}, "", true)
	case ReasoningStart:
		m.start(openPart{c.ID, true}, typeReasoning, c.ProviderMetadata)
	case ReasoningDelta:
		return m.write(c, openPart{c.ID, true}, c.Delta, false)
	case ReasoningEnd:
		return m.write(c, openPart{c.ID, true}, "", true)
	case SourceURL:
		m.Parts = append(m.Parts, Part{Type: c.kind(), SourceID: c.SourceID, URL: c.URL, Title: c.Title})
	case SourceDocument:
		m.Parts = append(m.Parts,
			Part{Type: c.kind(), SourceID: c.SourceID, MediaType: c.MediaType, Title: c.Title, Filename: c.Filename})
	case File:
		m.Parts = append(m.Parts, Part{Type: c.kind(), URL: c.URL, MediaType: c.MediaType})
	case ReasoningFile:
		m.Parts = append(m.Parts, Part{Type: c.kind(), URL: c.URL, MediaType: c.MediaType})
	case Custom:
		m.Parts = append(m.Parts, Part{Type: c.kind(), Kind: c.Kind, ProviderMetadata: c.ProviderMetadata})
	case Data:
		m.data(c)
	default:
		return m.tool(c)
	}
	return nil
}

// merge merges metadata into that of the message, at all depths.
func (m *Message) merge(meta json.RawMessage) {
	if len(meta) > 0 && string(meta) != "null" {
		m.Metadata = merged(m.Metadata, meta)
	}
}

func merged(old, more json.RawMessage) json.RawMessage {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(old, &a) != nil || json.Unmarshal(more, &b) != nil || a == nil || b == nil {
		return more
	}
	a = maps.Clone(a)
	for k, v := range b {
		a[k] = merged(a[k], v)
	}
	out, err := json.Marshal(a)
	if err != nil {
		return more
	}
	return out
}

func (m *Message) start(part openPart, kind string, meta ProviderMetadata) {
	if m.open == nil {
		m.open = make(map[openPart]int)
	}
	m.open[part] = len(m.Parts)
	m.Parts = append(m.Parts, Part{Type: kind, State: stateStreaming, ProviderMetadata: meta})
}

func (m *Message) write(c Chunk, part openPart, text string, end bool) error {
	i, ok := m.open[part]
	if !ok {
		return &GrammarError{Type: c.kind(), ID: part.id, Problem: "no such part is open"}
	}
	m.Parts[i].Text += text
	if end {
		m.Parts[i].State = StateDone
		delete(m.open, part)
	}
	return nil
}

func (m *Message) data(c Data) {
	if c.Transient {
		return
	}
	part := Part{Type: c.kind(), ID: c.ID, Data: orNull(c.Data)}
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
