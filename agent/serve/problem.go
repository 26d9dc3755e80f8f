package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
)

// Codes of the errors of this package's handlers, with their statuses.
const (
	CodeMalformed = "malformed"          // 400: the query or the body doesn't have the right form
	codeSignIn    = "sign_in"            // 401: Authorize has returned ErrSignIn
	codeForbidden = "forbidden"          // 403: the user may not do this
	codeCrossSite = "cross_site"         // 403: a page of another site makes the request
	CodeUnknown   = "unknown"            // 404: no such path, session or pause, or none that the user may see
	codeMethod    = "method_not_allowed" // 405
	codeSlow      = "slow"               // 408: the body hasn't come within 30 s
	codeUsed      = "used"               // 409: the pause was decided before
	CodeExpired   = "expired"            // 409: nobody decided in time
	// 409: an earlier decision couldn't be accepted, and the pause is open again under "new_id"
	codeReplaced    = "replaced"
	codeBusy        = "busy"        // 409: the session is in use
	CodeIdle        = "idle"        // 409: no run is in progress
	CodePaused      = "paused"      // 409: the session waits for decisions, and the input doesn't supersede them
	codeInterrupted = "interrupted" // 409: the last run was paused or interrupted, and the input doesn't supersede it
	codeRepeated    = "repeated"    // 409: the session had an input with this key before
	codeChanged     = "changed"     // 409: the agent has changed since the run began
	codeTooLarge    = "too_large"   // 413
	CodeMediaType   = "media_type"  // 415: not application/json, or a file of a type that isn't accepted
	CodeBad         = "bad"         // 422: the input, the decision or the value isn't acceptable
	codeElsewhere   = "elsewhere"   // 422: the session is of an agent that isn't served here
	codeAllowance   = "allowance"   // 429: the user's allowance is used up for now
	codeReaders     = "readers"     // 429: the user has too many streams open
	codeUnread      = "unread"      // 429: too many messages wait for the run in progress
	codeInternal    = "internal"    // 500: see the server's log
	codeUnavailable = "unavailable" // 503: try again later, or at another server
)

// retryAfter is how many seconds a client is asked to wait after codeBusy, codeUnread and
// codeUnavailable.
const retryAfter = "1"

// ProblemDetails are an error as the handlers of this package answer it: application/problem+json
// (RFC 9457). [Problem] makes them of an error.
type ProblemDetails struct {
	Title  string      `json:"title"` // of the status
	Status int         `json:"status"`
	Detail string      `json:"detail,omitempty"` // for the client; says nothing of what is internal
	Code   string      `json:"code"`             // one of the Code constants
	Class  fault.Class `json:"class"`
	Trace  string      `json:"trace,omitempty"`  // with which the server's log names it
	NewID  string      `json:"new_id,omitempty"` // for "replaced"
	Run    string      `json:"run,omitempty"`    // for "repeated"

	header http.Header
	cause  error // for the server's log
}

type problem = ProblemDetails

// Problem returns the answer to an error of package agent, of a hub or of an inbox, for routes of
// the host that answer as the handlers of this package do:
//
//	if _, err := hub.Decide(ctx, session, decision); err != nil {
//		serve.Problem(err).ServeHTTP(w, r)
//		return
//	}
//
// An error that it doesn't know is answered with "internal", and with "unavailable" if its
// class says that it may go away: the answer doesn't say more.
func Problem(err error) *ProblemDetails {
	if p, ok := errors.AsType[*ProblemDetails](err); ok && p != nil {
		return p
	}
	if errors.Is(err, ErrSignIn) {
		return signIn()
	}
	return failed(err)
}

// Error returns the code and the detail.
func (p *ProblemDetails) Error() string { return "serve: " + p.Code + ": " + p.Detail }

// Unwrap returns what the client isn't told; nil if there is nothing.
func (p *ProblemDetails) Unwrap() error { return p.cause }

// ServeHTTP answers a request with p, and logs it with slog.Default: as an error with the cause if
// there is one, else as information.
func (p *ProblemDetails) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if traceOf(r) == "" {
		r = withTrace(r)
	}
	own := *p
	own.log(r, slog.Default())
	own.write(w)
}

func fail(status int, code string, class fault.Class, format string, args ...any) *problem {
	return &problem{Title: http.StatusText(status), Status: status, Code: code, Class: class,
		Detail: fmt.Sprintf(format, args...)}
}

func signIn() *problem {
	return fail(http.StatusUnauthorized, codeSignIn, fault.UserFixable, "sign in first")
}

func malformed(format string, args ...any) *problem {
	return fail(http.StatusBadRequest, CodeMalformed, fault.Invalid, format, args...)
}

// unknown is the answer both for sessions that don't exist, and for those that the user may not
// see.
func unknown() *problem {
	return fail(http.StatusNotFound, CodeUnknown, fault.NotFound, "there is no such session, or it isn't yours")
}

func internal(err error) *problem {
	p := fail(http.StatusInternalServerError, codeInternal, fault.Permanent, "it failed; the server's log says why")
	p.cause = err
	return p
}

func unavailable(err error) *problem {
	p := fail(http.StatusServiceUnavailable, codeUnavailable, fault.Transient, "it can't be done now; try again")
	p.cause, p.header = err, http.Header{"Retry-After": {retryAfter}}
	return p
}

// failed returns the problem that an error of the packages below is.
func failed(err error) *problem {
	var (
		decision *agent.DecisionError
		spent    *ratelimit.AllowanceError
		paused   *agent.PausedError
		changed  *agent.ChangedError
		arg      *agent.ArgError
		limit    *agent.LimitError
		invalid  *journal.InvalidError
		hook     *agent.HookError
	)
	session, ok := errors.AsType[*agent.SessionError](err)
	if !ok {
		session = new(agent.SessionError)
	}
	switch {
	case errors.As(err, &decision):
		return refused(decision)
	case errors.Is(err, approvals.ErrUnknown):
		return noItem()
	case errors.Is(err, approvals.ErrElsewhere):
		return fail(http.StatusUnprocessableEntity, codeElsewhere, fault.Invalid, "%s",
			strings.TrimPrefix(err.Error(), "approvals: "))
	case errors.As(err, &spent):
		p := fail(http.StatusTooManyRequests, codeAllowance, fault.RateLimited, "no more can be started now")
		p.header = make(http.Header)
		spent.SetHeader(p.header)
		return p
	case session.Code == agent.ErrNotOwner:
		return unknown()
	case session.Code == agent.ErrDuplicate:
		p := fail(http.StatusConflict, codeRepeated, fault.Invalid, "the session had an input with this key before")
		p.Run = session.Run
		return p
	case errors.Is(err, live.ErrClosed), errors.Is(err, agent.ErrDraining):
		return unavailable(nil)
	case session.Code == agent.ErrBusy:
		p := fail(http.StatusConflict, codeBusy, fault.Transient,
			"the session is in use; wait for the end of its run")
		p.header = http.Header{"Retry-After": {retryAfter}}
		return p
	case session.Code == agent.ErrUnread:
		p := fail(http.StatusTooManyRequests, codeUnread, fault.Transient, "%s", session.Problem)
		p.header = http.Header{"Retry-After": {retryAfter}}
		return p
	case session.Code == agent.ErrNothingOpen:
		if session.Status == "" {
			return unknown()
		}
		return fail(http.StatusConflict, CodeIdle, fault.Invalid, "no run of the session is in progress")
	case errors.As(err, &paused) && !paused.Started && len(paused.Pending) == 0:
		// its process has died, or somebody has paused it
		return fail(http.StatusConflict, codeInterrupted, fault.Transient,
			"the last run was paused or interrupted; wait until it goes on, continue it, or supersede it")
	case errors.As(err, &paused) && !paused.Started: // one that has started is that of another session, within a hook
		return fail(http.StatusConflict, CodePaused, fault.Invalid,
			"the session waits for %d decisions; decide, or supersede them", len(paused.Pending))
	case errors.As(err, &changed):
		return fail(http.StatusConflict, codeChanged, fault.Permanent, "the agent has changed since the run began")
	case errors.As(err, &limit):
		return fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid, "the input is too large: limit %s",
			limit.Limit)
	case errors.As(err, &arg) && arg.Fault() == fault.Invalid:
		return fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid, "%s: %s",
			strings.TrimPrefix(arg.Field, "Input."),
			arg.Problem)
	case session.Code == agent.ErrRefused && !errors.As(err, &hook): // one that failed is an internal error
		return fail(http.StatusUnprocessableEntity, CodeBad, fault.Denied, "the text is refused; put it in other words")
	case session.Code == agent.ErrNoRule:
		return fail(http.StatusNotFound, CodeUnknown, fault.NotFound,
			"the session has no standing approval of the tool")
	case session.Code == agent.ErrCannotFork:
		return fail(http.StatusConflict, CodeBad, fault.Invalid, "the session can't be forked: %s", session.Problem)
	case errors.As(err, &invalid):
		return unknown()
	case errors.Is(err, context.Canceled), fault.Retryable(fault.Of(err)):
		return unavailable(err)
	}
	return internal(err)
}

// refused returns the problem for a decision that is refused.
func refused(e *agent.DecisionError) *problem {
	switch e.Code {
	case machine.DecisionUsed:
		return fail(http.StatusConflict, codeUsed, fault.Invalid, "the pause was decided before")
	case machine.DecisionExpired:
		return fail(http.StatusConflict, CodeExpired, fault.Invalid,
			"nobody decided in time, and the call counts as rejected")
	case machine.DecisionReplaced:
		p := fail(http.StatusConflict, codeReplaced, fault.Invalid,
			"an earlier decision couldn't be accepted, and the pause is open again")
		p.NewID = e.NewID
		return p
	case machine.DecisionForbidden:
		return fail(http.StatusForbidden, codeForbidden, fault.Denied, "%s", e.Problem)
	case machine.DecisionUnknown:
		return fail(http.StatusNotFound, CodeUnknown, fault.NotFound, "the session has no such pause")
	}
	return fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid, "%s", e.Problem)
}

// say answers a request with a problem.
func (s *server) say(w http.ResponseWriter, r *http.Request, p *problem) {
	p.log(r, s.log)
	if s.forPeople(r.URL.Path) {
		maps.Copy(w.Header(), p.header)
		p.writeSentence(w)
		return
	}
	p.write(w)
}

// log logs a problem, and gives it the id with which the log names it.
func (p *problem) log(r *http.Request, logger *slog.Logger) {
	p.Trace = traceOf(r)
	level, attrs := slog.LevelInfo, []slog.Attr{slog.String("method", r.Method), slog.String("path", r.URL.Path),
		slog.Int("status", p.Status), slog.String("code", p.Code), slog.String("detail", p.Detail),
		slog.String("trace", p.Trace)}
	if p.cause != nil {
		level, attrs = slog.LevelError, append(attrs, slog.Any("error", p.cause))
	}
	logger.LogAttrs(r.Context(), level, "serve: a request was refused", attrs...)
}

func (p *problem) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.header)
	w.Header().Set("Content-Type", "application/problem+json")
	write(w, p.Status, p)
}

// answer answers a request with JSON.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	write(w, status, body)
}

func write(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body) // escapes <, > and &
	if err != nil {
		slog.Error("serve: an answer can't be encoded", "error", err)
		status, raw = http.StatusInternalServerError,
			[]byte(
				`{"title":"Internal Server Error","status":500,"code":"internal","detail":"the answer can't be encoded"}`)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(raw, '\n')) // the client may have disconnected
}
