package openai

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

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
func classOf(f *adapter.Failure, status int) fault.Class {
	if person.MatchString(f.Type) || person.MatchString(f.Code) || status != http.StatusTooManyRequests &&
		person.MatchString(f.Message) {
		return fault.UserFixable
	}
	if status >= 400 {
		return fault.FromStatus(status)
	}
	for _, w := range []string{f.Code, f.Type} {
		if class, ok := inAnswer[strings.ToLower(w)]; ok {
			return class
		}
	}
	if f.Status != 0 {
		return fault.FromStatus(f.Status)
	}
	return fault.Permanent
}

// errorInAnswer returns the error inside an answer of status 200; event is the whole event.
func (a *answer) errorInAnswer(raw json.RawMessage, event []byte) *provider.Error {
	raw, event = a.Res.Redact(raw), a.Res.Redact(event)
	f := adapter.ParseFailure(event)
	if isSet(raw) {
		f = adapter.ParseFailure(raw)
		if outer := adapter.ParseFailure(event); f.Message == "" {
			f.Message = outer.Message
		}
	}
	return a.m.failed(f, http.StatusOK)
}

// failed returns an error of the server.
func (m *Model) failed(f adapter.Failure, status int) *provider.Error {
	e := &provider.Error{Class: classOf(&f, status), Status: status, Type: f.Type, Code: f.Code, Message: f.Message}
	if e.Code == "" && status == http.StatusOK && f.Status != 0 {
		e.Code = strconv.Itoa(f.Status)
	}
	if adapter.Length(e); e.ContextLength == nil && e.Class == fault.UserFixable {
		e.Remedy = m.remedy(f, status)
	}
	return e
}

// remedy returns what a person can do about an error.
func (m *Model) remedy(f adapter.Failure, status int) string {
	words := f.Type + " " + f.Code
	switch {
	case status == http.StatusPaymentRequired, funds.MatchString(words),
		status != http.StatusForbidden && status != http.StatusUnauthorized && funds.MatchString(f.Message):
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
