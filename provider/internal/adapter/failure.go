package adapter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Failure is an error as a server describes it.
type Failure struct {
	Type, Code, Message, RequestID string
	// State is a word that stands for the status, such as RESOURCE_EXHAUSTED; Status is a status in
	// the text, 0 if there is none.
	State   string
	Status  int
	Details json.RawMessage
	Wait    *time.Duration // when to try again, from a field; nil: no field says it
	// What the model takes and what the request has, in tokens, from fields of llama.cpp; 0: no
	// field says it.
	Limit, Size int
}

// ParseFailure decodes the error in a body or an event, in all known forms: an object or a string
// under "error", the fields without it, a list of such objects, or text that isn't JSON. A message
// that is such JSON itself is decoded, too.
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
		StatusMsg  json.RawMessage `json:"status_msg"` // of MiniMax, in base_resp
		Detail     json.RawMessage `json:"detail"`
		Details    json.RawMessage `json:"details"`
		Error      json.RawMessage `json:"error"`
		BaseResp   json.RawMessage `json:"base_resp"`
		Metadata   json.RawMessage `json:"metadata"`
		Value      struct {        // of gateways that validate an upstream's events
			Message string `json:"error_message"`
		} `json:"value"`
		RetryAfter json.RawMessage `json:"retry_after"`
		Context    json.RawMessage `json:"n_ctx"`
		Prompt     json.RawMessage `json:"n_prompt_tokens"`
	}
	var mistyped *json.UnmarshalTypeError
	switch err := json.Unmarshal(body, &e); {
	case err == nil || errors.As(err, &mistyped) && body[0] == '{':
	case json.Valid(body):
		return Failure{Message: word(body)}
	default:
		return Failure{Message: prose(body)}
	}
	f := Failure{Type: word(e.Type), Code: cmp.Or(word(e.Code), word(e.StatusCode)), RequestID: word(e.RequestID),
		State: word(e.Status), Details: e.Details, Limit: count(e.Context), Size: count(e.Prompt),
		Wait: seconds(e.RetryAfter)}
	for _, w := range []string{word(e.StatusCode), f.State, f.Code} {
		if n, err := strconv.Atoi(w); err == nil && n >= 400 && n < 600 && f.Status == 0 {
			f.Status = n
		}
	}
	if _, err := strconv.Atoi(f.State); err == nil {
		f.State = ""
	}
	for _, raw := range []json.RawMessage{e.Message, e.Detail, e.Error, e.Msg, e.StatusMsg, e.BaseResp} {
		switch {
		case f.Message != "" || IsNull(raw):
		case raw[0] == '"':
			f.Message = word(raw)
		case levels > 0 && (raw[0] == '{' || raw[0] == '['):
			f = f.with(parseFailure(raw, levels-1))
		}
	}
	for _, text := range []string{e.Value.Message, f.Message} { // an upstream's answer, as text
		if text = strings.TrimSpace(text); levels > 0 && strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			if in := parseFailure([]byte(text), levels-1); in.Message != "" {
				f = f.with(in)
				break
			}
		}
	}
	var metadata struct { // of OpenRouter
		Raw        json.RawMessage `json:"raw"`
		RetryAfter json.RawMessage `json:"retry_after"`
	}
	_ = json.Unmarshal(e.Metadata, &metadata) // there may be none
	if raw := word(metadata.Raw); raw != "" && !strings.Contains(f.Message, raw) {
		f.Message = strings.TrimSpace(f.Message + " (" + Brief(raw) + ")")
	}
	f.Wait = cmp.Or(f.Wait, seconds(metadata.RetryAfter))
	if f.Type == "error" { // the type of the event, not of the error
		f.Type = ""
	}
	return f
}

// with returns what a failure inside f says, and what f says besides.
func (f Failure) with(in Failure) Failure {
	in.Type, in.Code, in.State = cmp.Or(in.Type, f.Type), cmp.Or(in.Code, f.Code), cmp.Or(in.State, f.State)
	in.RequestID, in.Status = cmp.Or(in.RequestID, f.RequestID), cmp.Or(in.Status, f.Status)
	in.Wait, in.Limit, in.Size = cmp.Or(in.Wait, f.Wait), cmp.Or(in.Limit, f.Limit), cmp.Or(in.Size, f.Size)
	return in
}

// Certain reports whether the failure has a status, a code or a type of an error.
func (f Failure) Certain() bool {
	return f.Status != 0 || f.Code != "" && !f.succeeded() || strings.Contains(strings.ToLower(f.Type), "error")
}

// Says reports whether the failure says that something failed. An answer may have a message, too.
func (f Failure) Says() bool { return f.Certain() || f.Message != "" && !f.succeeded() }

// succeeded reports whether the code is one of success.
func (f Failure) succeeded() bool {
	switch strings.ToLower(f.Code) {
	case "ok", "success":
		return true
	}
	n, err := strconv.Atoi(f.Code)
	return err == nil && (n == 0 || n >= 200 && n < 300)
}

// count returns a field with a number of tokens; 0 without one.
func count(raw json.RawMessage) int {
	n, err := strconv.Atoi(word(raw))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// seconds returns a field with a time to wait; nil without one.
func seconds(raw json.RawMessage) *time.Duration {
	if wait, ok := fault.ParseRetryAfter(http.Header{"Retry-After": {word(raw)}}, time.Now()); ok {
		return &wait
	}
	return nil
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
