package anthropic

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// statusError returns the error of an answer with an error status.
func statusError(status int, body []byte) *provider.Error {
	f := adapter.ParseFailure(body)
	e := &provider.Error{Provider: Name, Status: status, Type: cmp.Or(f.Type, f.State), Code: f.Code,
		Message: f.Message, RequestID: f.RequestID}
	if e.Message == "" && e.Type == "" {
		e.Message = adapter.Brief(string(body))
	}
	if e.Class = adapter.ClassOf(&f, status); outOfMoney(e) {
		e.Class = fault.UserFixable
	}
	e.Remedy = remedyOf(e)
	adapter.Judge(e, &f)
	return e
}

// errorIn returns the error that a server reports inside an answer.
func (d *decoder) errorIn(data []byte) error { return statusError(http.StatusOK, d.Res.Redact(data)) }

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
