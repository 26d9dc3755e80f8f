package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// maxBody is how many bytes a body may have: 100,000 characters of four bytes, and the rest.
const maxBody = 512 << 10

// A call is a request of a user.
type call struct {
	*http.Request
	w    http.ResponseWriter
	user portfolio.User
}

// none is the body of a request that has none.
type none struct{}

// answered is the result of a function that has answered itself.
var answered = &none{}

// on adds a path for users that have logged in. What fn returns is the answer.
func on[In any](s *Server, mux *http.ServeMux, pattern string, fn func(c *call, in In) (any, error)) {
	open(s, mux, pattern, func(c *call) (out any, err error) {
		if c.user, err = s.userOf(c.Request); err != nil {
			return nil, err
		}
		in, err := decode[In](c)
		if err != nil {
			return nil, err
		}
		return fn(c, in)
	})
}

// open adds a path for everybody.
func open(s *Server, mux *http.ServeMux, pattern string, fn func(c *call) (any, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		out, err := fn(&call{Request: r, w: w})
		switch {
		case err != nil:
			s.fail(w, r, err)
		case out == any(answered):
		case out == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			reply(w, http.StatusOK, out)
		}
	})
}

// decode reads a body.
func decode[In any](c *call) (in In, err error) {
	if _, ok := any(in).(none); ok {
		return in, nil
	}
	if kind, _, err := mime.ParseMediaType(c.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return in, &refusal{http.StatusUnsupportedMediaType,
			portfolio.Errorf(portfolio.InvalidInput, "Send the body as application/json.")}
	}
	dec := json.NewDecoder(http.MaxBytesReader(c.w, c.Body, maxBody))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&in); err == nil && !errors.Is(dec.Decode(&none{}), io.EOF) {
		err = errors.New("it has more than one value")
	}
	if err == nil {
		return in, nil
	}
	status := http.StatusBadRequest
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		status = http.StatusRequestEntityTooLarge
	}
	return in, &refusal{status, portfolio.Errorf(portfolio.InvalidInput, "The body can't be read: %v.", err)}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // an error means that the client has gone
}

// A refusal is an error with a status of its own.
type refusal struct {
	status int
	error
}

// Unwrap returns the error.
func (r *refusal) Unwrap() error { return r.error }

// statuses are those of categories; the others are 400.
var statuses = map[portfolio.Category]int{
	portfolio.ToolExecutionFailed: http.StatusInternalServerError, portfolio.ToolTimeout: http.StatusGatewayTimeout,
	portfolio.AIProviderError: http.StatusBadGateway,
	portfolio.AIRateLimit:     http.StatusTooManyRequests, portfolio.AIContentFilter: http.StatusUnprocessableEntity,
	portfolio.ArtifactNotFound: http.StatusNotFound,
	portfolio.ResearchNotFound: http.StatusNotFound, portfolio.Conflict: http.StatusConflict,
	portfolio.Unauthorized:      http.StatusForbidden,
	portfolio.RateLimitExceeded: http.StatusTooManyRequests, portfolio.UnclearIntent: http.StatusOK,
}

func statusOf(c portfolio.Category) int {
	if status, ok := statuses[c]; ok {
		return status
	}
	return http.StatusBadRequest
}

// A failure is the body of an error.
type failure struct {
	Success bool                `json:"success"`
	Error   assistant.ErrorBody `json:"error"`
}

// fail answers with an error. The text of an unexpected one is only logged.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := contenttools.Explain(err)
	f := failure{Error: assistant.ErrorBody{Category: p.Category, Message: p.Message, RetryAfter: p.RetryAfter,
		TraceID: s.NewTrace(), RecoveryOptions: assistant.Recoveries(p)}}
	status := statusOf(p.Category)
	if own, ok := errors.AsType[*refusal](err); ok {
		status = own.status
	}
	if status >= http.StatusInternalServerError {
		s.cfg.Logger.ErrorContext(r.Context(), "request failed", "component", "server", "trace", f.Error.TraceID,
			"path", r.URL.Path, "error", err, "cause", errors.Unwrap(err))
	}
	if _, known := errors.AsType[*portfolio.Error](err); !known {
		f.Error.Message = fmt.Sprintf("Something went wrong. The log has more under %s.", f.Error.TraceID)
	}
	retryAfter(w, f.Error.RetryAfter)
	reply(w, status, f)
}

// retryAfter says in how many seconds to try again.
func retryAfter(w http.ResponseWriter, seconds int) {
	if seconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
	}
}
