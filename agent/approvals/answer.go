package approvals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// Codes of the errors that a [Handler] answers with, and their statuses.
const (
	CodeUnknown   = "unknown"    // 404: no such path, item, session or rule, or none that the user may see
	CodeForbidden = "forbidden"  // 403: the asker may see the item, but not do this
	CodeCrossSite = "cross_site" // 403: a page of another site makes the request
	CodeUsed      = "used"       // 409: it was decided before
	CodeBusy      = "busy"       // 409: the session is being written to; try again
	// 409: a decision on it couldn't be accepted, and it is open again under "new_id"
	CodeReplaced   = "replaced"
	CodeExpired    = "expired"            // 410: too late
	CodeBad        = "bad"                // 422: not possible for this item, or the input or value doesn't fit
	CodeElsewhere  = "elsewhere"          // 422: the session is of an agent that isn't served here
	CodeMalformed  = "malformed"          // 400: the query or the body isn't of the right form
	CodeMethod     = "method_not_allowed" // 405
	CodeSlow       = "slow"               // 408: the body hasn't come within 30 s
	CodeTooLarge   = "too_large"          // 413
	CodeMediaType  = "media_type"         // 415: not application/json
	CodeInternal   = "internal"           // 500: see the server's log
	CodeNotNow     = "unavailable"        // 503: try again later
	retryAfterSecs = 1
)

// A problem is an error as it is answered.
type problem struct {
	status  int
	code    string
	message string
	newID   string // for CodeReplaced
	cause   error  // for the server's log
}

func fail(status int, code, format string, args ...any) *problem {
	return &problem{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

// unknown is the answer both for missing items and for items that the user may not see.
func unknown() *problem {
	return fail(http.StatusNotFound, CodeUnknown, "there is no such item, or it isn't yours to see")
}

// failed returns the problem that an error of the packages below is.
func failed(err error) *problem {
	var (
		decision *agent.DecisionError
		arg      *agent.ArgError
		invalid  *journal.InvalidError
	)
	switch {
	case errors.As(err, &decision):
		return refused(decision)
	case errors.Is(err, ErrUnknown), errors.As(err, &invalid), errors.As(err, &arg) && arg.Fault() == fault.Invalid:
		return unknown()
	case errors.Is(err, agent.ErrNoRule):
		return fail(http.StatusNotFound, CodeUnknown, "the session has no standing approval of the tool")
	case errors.Is(err, agent.ErrBusy):
		return fail(http.StatusConflict, CodeBusy, "the session is being written to; try again")
	case errors.Is(err, context.Canceled), fault.Of(err) == fault.Transient, fault.Of(err) == fault.Degraded:
		return &problem{status: http.StatusServiceUnavailable, code: CodeNotNow,
			message: "it can't be done now; try again later", cause: err}
	}
	return internal(err)
}

func internal(err error) *problem {
	return &problem{status: http.StatusInternalServerError, code: CodeInternal,
		message: "it failed; the server's log says why", cause: err}
}

// refused returns the problem for a decision that is rejected.
func refused(e *agent.DecisionError) *problem {
	switch e.Code {
	case machine.DecisionUsed:
		return fail(http.StatusConflict, CodeUsed, "%s", e.Problem)
	case machine.DecisionReplaced:
		return replaced(e.NewID)
	case machine.DecisionExpired:
		return tooLate()
	case machine.DecisionUnknown:
		return unknown()
	}
	return fail(http.StatusUnprocessableEntity, CodeBad, "%s", e.Problem)
}

func replaced(newID string) *problem {
	p := fail(http.StatusConflict, CodeReplaced,
		"an earlier decision on it couldn't be accepted; see the item %s, which has replaced it", newID)
	p.newID = newID
	return p
}

func used() *problem { return fail(http.StatusConflict, CodeUsed, "the pause was decided before") }

func tooLate() *problem {
	return fail(http.StatusGone, CodeExpired,
		"the item has expired: nobody decided in time, and the call counts as rejected")
}

// An errorBody is the body of an answer that is an error.
type errorBody struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		NewID   string `json:"new_id,omitempty"`
	} `json:"error"`
}

// say responds to a request with a problem.
func (h *Handler) say(w http.ResponseWriter, r *http.Request, p *problem) {
	if p.cause != nil {
		h.log.ErrorContext(r.Context(), "approvals: request", "method", r.Method, "path", r.URL.Path,
			"status", p.status, "error", p.cause)
	} else {
		h.log.LogAttrs(r.Context(), slog.LevelInfo, "approvals: request refused",
			slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", p.status),
			slog.String("code", p.code), slog.String("why", p.message))
	}
	if p.code == CodeBusy || p.code == CodeNotNow {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfterSecs))
	}
	var body errorBody
	body.Error.Code, body.Error.Message, body.Error.NewID = p.code, p.message, p.newID
	answer(w, p.status, body)
}

// answer answers a request with JSON.
func answer(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body) // escapes <, > and &
	if err != nil {
		status, raw = http.StatusInternalServerError,
			[]byte(`{"error":{"code":"internal","message":"the answer can't be encoded"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // the client may have disconnected
}
