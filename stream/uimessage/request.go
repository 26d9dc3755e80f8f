package uimessage

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// A Request is what a client posts. Clients post their whole conversation; only its last message is
// kept, and which messages it follows.
type Request struct {
	ID        string // of the chat
	Trigger   string // submit-message or regenerate-message; may be empty
	MessageID string // of the message that is to be replaced or continued; may be empty
	Last      *Message
	// Alone says that the client has posted a single "message", so that it isn't known what that
	// follows.
	Alone bool
	// Before are the messages before the last one, in order.
	Before []Earlier
	// Extra are the other keys of the body, which applications set.
	Extra map[string]json.RawMessage
}

// An Earlier names a message of a conversation.
type Earlier struct {
	ID   string `json:"id"`
	Role string `json:"role"`
}

// What a request may have at most.
const (
	maxMessages = 10_000
	maxParts    = 1_000 // of the last message
)

// ParseRequest reads the JSON that a client posts: with at most 10,000 "messages", or with a single
// "message", of which the last has at most 1,000 parts. The caller bounds the size of data.
func ParseRequest(data []byte) (*Request, error) {
	refuse := func(format string, args ...any) (*Request, error) {
		return nil, fmt.Errorf("uimessage: request: "+format, args...)
	}
	bad := func(err error) (*Request, error) { return refuse("it isn't an object with id and messages: %w", err) }
	if !utf8.Valid(data) {
		return refuse("it isn't valid UTF-8")
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal(data, &body); err != nil {
		return bad(err)
	}
	var r Request
	var messages []json.RawMessage
	for key, to := range map[string]any{"id": &r.ID, "trigger": &r.Trigger, "messageId": &r.MessageID,
		"messages": &messages} {
		if raw, ok := body[key]; ok {
			if err := json.Unmarshal(raw, to); err != nil {
				return bad(err)
			}
		}
		delete(body, key)
	}
	if one, ok := body["message"]; ok {
		messages, r.Alone = []json.RawMessage{one}, true
		delete(body, "message")
	}
	switch {
	case r.ID == "":
		return refuse("it has no id")
	case len(messages) == 0:
		return refuse("it has no messages")
	case len(messages) > maxMessages:
		return refuse("it has %d messages; at most %d are accepted, so post only the last", len(messages), maxMessages)
	}
	r.Extra, r.Last = body, new(Message)
	last := len(messages) - 1
	if err := json.Unmarshal(messages[last], r.Last); err != nil {
		return bad(err)
	}
	for _, raw := range messages[:last] {
		var m Earlier
		if err := json.Unmarshal(raw, &m); err != nil {
			return bad(err)
		}
		r.Before = append(r.Before, m)
	}
	if n := len(r.Last.Parts); n > maxParts {
		return refuse("the last message has %d parts; at most %d are accepted", n, maxParts)
	}
	return &r, nil
}

// A Decision is a user's answer to an approval.
type Decision struct {
	ApprovalID string
	ToolCallID string
	Approved   bool
	Reason     string
}

// Decisions returns the answers to approvals in the message whose calls have no result yet.
func (m *Message) Decisions() (out []Decision) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if _, ok := p.tool(); ok && p.State == stateApprovalResponded && p.Approval != nil &&
			p.Approval.Approved != nil {
			out = append(out, Decision{p.Approval.ID, p.ToolCallID, *p.Approval.Approved, p.Approval.Reason})
		}
	}
	return out
}

// A ToolResult is the result of a call that the client says to have made.
type ToolResult struct {
	ToolCallID string
	Output     json.RawMessage
	ErrorText  string // if it has failed
}

// Results returns the results of calls in the message. Most of them come from the server itself;
// the caller knows which calls it expects results of.
func (m *Message) Results() (out []ToolResult) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if _, ok := p.tool(); !ok {
			continue
		}
		switch p.State {
		case stateOutputAvailable:
			out = append(out, ToolResult{ToolCallID: p.ToolCallID, Output: orNull(p.Output)})
		case stateOutputError:
			out = append(out, ToolResult{ToolCallID: p.ToolCallID, ErrorText: p.ErrorText})
		}
	}
	return out
}

// Text returns the parts of text, joined by blank lines.
func (m *Message) Text() string {
	var texts []string
	for i := range m.Parts {
		if m.Parts[i].Type == typeText && m.Parts[i].Text != "" {
			texts = append(texts, m.Parts[i].Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// A FilePart is a file in a user's message: with its Data, or with a URL other than a data URL.
type FilePart struct {
	MediaType string
	Filename  string
	Data      []byte
	URL       string
}

// Files returns the files in the message. Nothing is fetched. A data URL that can't be decoded is
// an error.
func (m *Message) Files() (out []FilePart, err error) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type != typeFile {
			continue
		}
		f := FilePart{MediaType: p.MediaType, Filename: p.Filename}
		if rest, ok := strings.CutPrefix(p.URL, "data:"); !ok {
			f.URL = p.URL
		} else if f.Data, err = dataOf(rest); err != nil {
			return nil, fmt.Errorf("uimessage: file %d: its data URL can't be decoded: %w", len(out)+1, err)
		}
		out = append(out, f)
	}
	return out, nil
}

// dataOf returns the data of a data URL, which is given without its scheme.
func dataOf(rest string) ([]byte, error) {
	kind, data, ok := strings.Cut(rest, ",")
	if !ok {
		return nil, fmt.Errorf("it has no comma")
	}
	if strings.HasSuffix(kind, ";base64") {
		return base64.StdEncoding.DecodeString(data)
	}
	text, err := url.PathUnescape(data)
	return []byte(text), err
}
