package adapter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// A Failure is an error as a server describes it.
type Failure struct {
	Type, Code, Message, RequestID string
	// State is a word that stands for the status, such as RESOURCE_EXHAUSTED; Status is a status in
	// the text, 0 if there is none.
	State   string
	Status  int
	Details json.RawMessage
}

// ParseFailure decodes the error in a body or an event, in all known forms: an object or a string
// under "error", the fields without it, a list of such objects, or text that isn't JSON.
func ParseFailure(body []byte) Failure { return parseFailure(body, mostNested) }

// mostNested is how many errors may be inside one another.
const mostNested = 8

func parseFailure(body []byte, levels int) Failure {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var e struct {
		Type       json.RawMessage `json:"type"`
		Code       json.RawMessage `json:"code"`
		Status     json.RawMessage `json:"status"`
		StatusCode json.RawMessage `json:"status_code"`
		RequestID  json.RawMessage `json:"request_id"`
		Message    json.RawMessage `json:"message"`
		Msg        json.RawMessage `json:"msg"`
		Detail     json.RawMessage `json:"detail"`
		Details    json.RawMessage `json:"details"`
		Error      json.RawMessage `json:"error"`
		Metadata   json.RawMessage `json:"metadata"`
	}
	switch err := json.Unmarshal(body, &e); {
	case err != nil && json.Valid(body):
		return Failure{Message: word(body)}
	case err != nil:
		return Failure{Message: prose(body)}
	}
	f := Failure{Type: word(e.Type), Code: word(e.Code), RequestID: word(e.RequestID), State: word(e.Status),
		Details: e.Details}
	for _, w := range []string{word(e.StatusCode), f.State, f.Code} {
		if n, err := strconv.Atoi(w); err == nil && n >= 400 && n < 600 && f.Status == 0 {
			f.Status = n
		}
	}
	if _, err := strconv.Atoi(f.State); err == nil {
		f.State = ""
	}
	for _, raw := range []json.RawMessage{e.Message, e.Detail, e.Error, e.Msg} {
		switch {
		case f.Message != "" || IsNull(raw):
		case raw[0] == '"':
			f.Message = word(raw)
		case levels > 0 && (raw[0] == '{' || raw[0] == '['):
			in := parseFailure(raw, levels-1)
			f = Failure{cmp.Or(in.Type, f.Type), cmp.Or(in.Code, f.Code), in.Message, cmp.Or(in.RequestID, f.RequestID),
				cmp.Or(in.State, f.State), cmp.Or(in.Status, f.Status), in.Details}
		}
	}
	var metadata struct { // of OpenRouter
		Raw json.RawMessage `json:"raw"`
	}
	_ = json.Unmarshal(e.Metadata, &metadata) // there may be none
	if raw := word(metadata.Raw); raw != "" && !strings.Contains(f.Message, raw) {
		f.Message = strings.TrimSpace(f.Message + " (" + Brief(raw) + ")")
	}
	if f.Type == "error" { // the type of the event, not of the error
		f.Type = ""
	}
	return f
}

// word returns JSON that is a string or a number as text, otherwise "".
func word(raw json.RawMessage) string {
	var s string
	var n json.Number
	if json.Unmarshal(raw, &s) != nil && json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return s
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// prose returns the message of a body that isn't JSON: the title of a page, or the beginning of a
// text.
func prose(body []byte) string {
	if m := title.FindSubmatch(body); m != nil {
		return Brief(string(m[1]))
	}
	if bytes.HasPrefix(body, []byte("<")) {
		return ""
	}
	return Brief(string(body))
}
