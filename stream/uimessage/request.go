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

// A RequestError says what is wrong with what a client has posted.
type RequestError struct {
	Problem string
	Err     error
}

// Error says what would be right.
func (e *RequestError) Error() string { return "uimessage: request: " + e.Problem }

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// Limits bound what ParseRequest accepts. A field that is 0 has its default.
type Limits struct {
	Messages int // 10,000
	Parts    int // of the last message: 1,000
	Depth    int // of the JSON: 64
}

// ParseRequest reads the JSON that a client posts: with "messages", or with a single "message". The
// caller bounds the size of data. The error is a *[RequestError].
func ParseRequest(data []byte, limits Limits) (*Request, error) {
	limits = limits.withDefaults()
	if !utf8.Valid(data) {
		return nil, &RequestError{Problem: "it isn't valid UTF-8"}
	}
	if deep(data, limits.Depth) {
		return nil, &RequestError{Problem: fmt.Sprintf("it is nested deeper than %d levels", limits.Depth)}
	}
	bad := func(err error) (*Request, error) {
		return nil, &RequestError{Problem: "it isn't an object with id and messages: " + err.Error(), Err: err}
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
		return nil, &RequestError{Problem: "it has no id"}
	case len(messages) == 0:
		return nil, &RequestError{Problem: "it has no messages"}
	case len(messages) > limits.Messages:
		return nil,
			&RequestError{Problem: fmt.Sprintf("it has %d messages; at most %d are accepted, so post only the last",
				len(messages), limits.Messages)}
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
	if len(r.Last.Parts) > limits.Parts {
		return nil,
			&RequestError{Problem: fmt.Sprintf("the last message has %d parts; at most %d are accepted",
				len(r.Last.Parts), limits.Parts)}
	}
	return &r, nil
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		to    *int
		value int
	}{{&l.Messages, 10_000}, {&l.Parts, 1_000}, {&l.Depth, 64}} {
		if *f.to <= 0 {
			*f.to = f.value
		}
	}
	return l
}

// deep reports whether JSON is nested deeper than a number of levels.
func deep(data []byte, most int) bool {
	open, quoted, escaped := 0, false, false
	for _, c := range data {
		switch {
		case escaped:
			escaped = false
		case quoted:
			quoted, escaped = c != '"', c == '\\'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			if open++; open > most {
				return true
			}
		case c == '}' || c == ']':
			open--
		}
	}
	return false
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
		if _, ok := p.tool(); ok && p.State == StateApprovalResponded && p.Approval != nil &&
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
		if _, ok := p.tool(); !ok || p.Preliminary {
			continue
		}
		switch p.State {
		case StateOutputAvailable:
			out = append(out, ToolResult{ToolCallID: p.ToolCallID, Output: orNull(p.Output)})
		case StateOutputError:
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

// Files returns the files in the message. Nothing is fetched. A data URL that can't be decoded is a
// *[RequestError].
func (m *Message) Files() (out []FilePart, err error) {
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type != "file" {
			continue
		}
		f := FilePart{MediaType: p.MediaType, Filename: p.Filename}
		if rest, ok := strings.CutPrefix(p.URL, "data:"); !ok {
			f.URL = p.URL
		} else if f.Data, err = dataOf(rest); err != nil {
			return nil,
				&RequestError{Problem: fmt.Sprintf("file %d: its data URL can't be decoded", len(out)+1), Err: err}
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
