package anthropic

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// statusError returns the error of an answer with an error status.
func statusError(status int, body []byte) *provider.Error {
	e := parseError(body)
	e.Status = status
	e.Class = classOf(e)
	e.Remedy = remedyOf(e)
	adapter.Length(e)
	return e
}

// errorIn returns the error that a server reports inside an answer.
func (d *decoder) errorIn(data []byte) error { return statusError(http.StatusOK, d.res.Redact(data)) }

// parseError decodes the known forms of errors of the API and of gateways.
func parseError(data []byte) *provider.Error {
	e := &provider.Error{Provider: Name}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 { // from Vertex AI
		data = list[0]
	}
	var body struct {
		Type      string          `json:"type"`
		Error     json.RawMessage `json:"error"`
		RequestID string          `json:"request_id"`
		Message   string          `json:"message"`
		Detail    json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(data, &body) != nil {
		e.Message = adapter.Brief(string(data))
		return e
	}
	e.RequestID = body.RequestID
	var inner struct {
		Type    string          `json:"type"`
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
		Status  string          `json:"status"` // from Vertex AI
	}
	if json.Unmarshal(body.Error, &inner) == nil {
		e.Type, e.Message, e.Code = cmp.Or(inner.Type, inner.Status), inner.Message, word(inner.Code)
	}
	if e.Type == "" && body.Type != "error" {
		e.Type = body.Type
	}
	for _, s := range []string{word(body.Error), body.Message, word(body.Detail)} {
		if e.Message == "" {
			e.Message = s
		}
	}
	if e.Message == "" && e.Type == "" {
		e.Message = adapter.Brief(string(data))
	}
	return e
}

// word returns JSON that is a string or a number as text, otherwise "".
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// classOf returns the class of an error: by its status, or inside an answer by its type.
func classOf(e *provider.Error) fault.Class {
	if outOfMoney(e) {
		return fault.UserFixable
	}
	if e.Status != http.StatusOK {
		if class := fault.FromStatus(e.Status); class != fault.None {
			return class
		}
		return fault.Permanent
	}
	switch e.Type {
	case "overloaded_error", "api_error", "timeout_error":
		return fault.Degraded
	case "rate_limit_error":
		return fault.RateLimited
	case "authentication_error", "permission_error", "billing_error":
		return fault.UserFixable
	}
	return fault.Permanent
}

// outOfMoney reports whether an error ends when somebody pays or raises a limit. The API sends such
// errors with other statuses.
func outOfMoney(e *provider.Error) bool {
	return e.Type == "billing_error" || strings.Contains(e.Message, "credit balance is too low") ||
		strings.Contains(e.Message, "API usage limits")
}

func remedyOf(e *provider.Error) string {
	switch {
	case e.Class != fault.UserFixable:
		return ""
	case outOfMoney(e):
		return "add credit or raise the limit at https://platform.claude.com/settings/billing"
	case e.Status == http.StatusForbidden || e.Type == "permission_error":
		return "use a key whose workspace is allowed this model and what the request asks for"
	}
	return "the key was rejected: " + remedy
}
