package openai

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A failure is an error as a server describes it.
type failure struct {
	kind    string
	code    string
	message string
	status  int // a status in the text; 0: none
}

// A word is a string or a number.
type word string

// UnmarshalJSON decodes a string or a number, and ignores other values.
func (w *word) UnmarshalJSON(b []byte) error {
	*w = ""
	switch {
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(w))
	case b[0] >= '0' && b[0] <= '9':
		*w = word(b)
	}
	return nil
}

// parse decodes the error in a body or an event, in all known forms: an object or a string under
// "error", the fields without it, a list of such objects, or text that isn't JSON.
func parse(body []byte) failure {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var e struct {
		Type       word            `json:"type"`
		Code       word            `json:"code"`
		Status     word            `json:"status"`
		StatusCode word            `json:"status_code"`
		Message    json.RawMessage `json:"message"`
		Detail     json.RawMessage `json:"detail"`
		Error      json.RawMessage `json:"error"`
		Metadata   struct {
			Raw looseText `json:"raw"`
		} `json:"metadata"`
	}
	if decode(body, &e) != nil {
		return failure{message: prose(body)}
	}
	f := failure{kind: string(e.Type), code: string(e.Code)}
	for _, w := range []word{e.StatusCode, e.Status, e.Code} {
		if n, err := strconv.Atoi(string(w)); err == nil && n >= 400 && n < 600 && f.status == 0 {
			f.status = n
		}
	}
	for _, raw := range []json.RawMessage{e.Message, e.Detail, e.Error} {
		switch {
		case f.message != "" || !isSet(raw):
		case raw[0] == '"':
			_ = json.Unmarshal(raw, &f.message) // it is a string
		case raw[0] == '{' || raw[0] == '[':
			inner := parse(raw)
			if inner.kind == "" {
				inner.kind = f.kind
			}
			if inner.code == "" {
				inner.code = f.code
			}
			if inner.status == 0 {
				inner.status = f.status
			}
			f = inner
		}
	}
	if raw := string(e.Metadata.Raw); raw != "" && !strings.Contains(f.message, raw) {
		f.message = strings.TrimSpace(f.message + " (" + adapter.Brief(raw) + ")")
	}
	if f.kind == "error" { // the type of the event, not of the error
		f.kind = ""
	}
	return f
}

var title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// prose returns the message of a body that isn't JSON: the title of a page, or the beginning of a
// text.
func prose(body []byte) string {
	if m := title.FindSubmatch(body); m != nil {
		return adapter.Brief(string(m[1]))
	}
	if len(body) > 0 && body[0] == '<' {
		return ""
	}
	return adapter.Brief(string(body))
}

// person matches the words in the type, the code or the text of an error that mean that a person
// has to do something; funds matches those that mean paying.
var (
	person = regexp.MustCompile(
		`(?i)insufficient_quota|billing|invalid_api_key|authentication_error|permission_error|` +
			`incorrect api key|invalid api key|unauthenticated|account_deactivated`)
	funds = regexp.MustCompile(`(?i)quota|billing|credit|balance`)
)

// inAnswer are the codes and types of errors inside an answer, which have no status.
var inAnswer = map[string]fault.Class{
	"rate_limit_error": fault.RateLimited, "rate_limit_exceeded": fault.RateLimited,
	"too_many_requests": fault.RateLimited,
	"overloaded_error":  fault.Degraded, "api_error": fault.Degraded, "server_error": fault.Degraded,
	"internal_error":        fault.Degraded,
	"internal_server_error": fault.Degraded, "service_unavailable": fault.Degraded,
	"server_is_overloaded": fault.Degraded, "slow_down": fault.Degraded,
	"upstream_error": fault.Degraded, "provider_unavailable": fault.Degraded, "bad_gateway": fault.Degraded,
	"timeout": fault.Transient, "timeout_error": fault.Transient, "vector_store_timeout": fault.Transient,
	"invalid_request_error": fault.Permanent, "invalid_prompt": fault.Permanent, "content_filter": fault.Permanent,
	"context_length_exceeded": fault.Permanent,
}

// class returns the class of an error: by words that mean that a person is needed, then by the
// status of the answer; inside an answer by its words, then by a status in its text.
func (f *failure) class(status int) fault.Class {
	if person.MatchString(f.kind) || person.MatchString(f.code) || status != http.StatusTooManyRequests &&
		person.MatchString(f.message) {
		return fault.UserFixable
	}
	if status >= 400 {
		return fault.FromStatus(status)
	}
	for _, w := range []string{f.code, f.kind} {
		if class, ok := inAnswer[strings.ToLower(w)]; ok {
			return class
		}
	}
	if f.status != 0 {
		return fault.FromStatus(f.status)
	}
	return fault.Permanent
}

// errorInAnswer returns the error inside an answer of status 200; event is the whole event.
func (a *answer) errorInAnswer(raw json.RawMessage, event []byte) *provider.Error {
	raw, event = a.res.Redact(raw), a.res.Redact(event)
	f := parse(event)
	if isSet(raw) {
		f = parse(raw)
		if outer := parse(event); f.message == "" {
			f.message = outer.message
		}
	}
	return a.m.failed(f, http.StatusOK)
}

// failed returns an error of the server.
func (m *Model) failed(f failure, status int) *provider.Error {
	e := &provider.Error{Class: f.class(status), Status: status, Type: f.kind, Code: f.code, Message: f.message}
	if e.Code == "" && status == http.StatusOK && f.status != 0 {
		e.Code = strconv.Itoa(f.status)
	}
	if adapter.Length(e); e.ContextLength == nil && e.Class == fault.UserFixable {
		e.Remedy = m.remedy(f, status)
	}
	return e
}

// remedy returns what a person can do about an error.
func (m *Model) remedy(f failure, status int) string {
	words := f.kind + " " + f.code
	switch {
	case status == http.StatusPaymentRequired, funds.MatchString(words),
		status != http.StatusForbidden && status != http.StatusUnauthorized && funds.MatchString(f.message):
		if m.host.billing != "" {
			return "check the plan, the budget and the payment details of the account: " + m.host.billing
		}
		return "check the plan, the budget and the payment details of the account with " + m.name
	case status == http.StatusForbidden && !person.MatchString(words):
		return "use a key that may call this model from here, or have its owner allow it"
	}
	return m.keyRemedy()
}

// keyRemedy returns how to set a key.
func (m *Model) keyRemedy() string {
	text := "set Config.APIKey or Config.Key"
	if m.host.env != "" {
		text = "set " + m.host.env + ", or Config.APIKey or Config.Key,"
	}
	text += " to a valid key"
	if m.host.keys != "" {
		text += "; keys are at " + m.host.keys
	}
	return text
}
