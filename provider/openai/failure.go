package openai

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// person matches the words in the type or the code of an error that mean that a person has to do
// something; funds matches those that mean paying.
var (
	person = regexp.MustCompile(`(?i)insufficient_quota|billing|invalid_api_key|authentication_error|permission_error`)
	funds  = regexp.MustCompile(`(?i)quota|billing|credit|balance`)
)

// saysError reports whether the value of an error member is an error: some servers always send the
// member, without a value or with a code of success.
func saysError(raw json.RawMessage) bool {
	if !isSet(raw) {
		return false
	}
	switch text := adapter.Compact(raw); text {
	case "", `""`, "{}", "[]", "false", "0":
		return false
	default:
		f := adapter.ParseFailure(raw)
		return text[0] != '{' || f.Says() || f.Code == ""
	}
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
	e := &provider.Error{Class: adapter.ClassOf(&f, status), Status: status, Type: f.Type, Code: f.Code,
		Message: f.Message}
	e.Wait = f.Wait
	if e.Code == "" && status == http.StatusOK && f.Status != 0 {
		e.Code = strconv.Itoa(f.Status)
	}
	adapter.Judge(e, &f)
	if e.ContextLength == nil && e.Class == fault.UserFixable {
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
		if m.host.Billing != "" {
			return "check the plan, the budget and the payment details of the account: " + m.host.Billing
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
	if m.host.Key != "" {
		text = "set " + m.host.Key + ", or Config.APIKey or Config.Key,"
	}
	text += " to a valid key"
	if m.host.KeyPage != "" {
		text += "; keys are at " + m.host.KeyPage
	}
	return text
}
