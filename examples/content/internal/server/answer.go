package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"

	"github.com/pawlkit/pawl/circuit/fault"
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
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		u, err := s.userOf(r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		in, err := decode[In](w, r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		out, err := fn(&call{r, w, u}, in)
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
func decode[In any](w http.ResponseWriter, r *http.Request) (in In, err error) {
	if _, ok := any(in).(none); ok {
		return in, nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return in, &refusal{http.StatusUnsupportedMediaType,
			portfolio.Errorf(portfolio.InvalidInput, "Send the body as application/json.")}
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&in); err == nil && !errors.Is(dec.Decode(&none{}), io.EOF) {
		err = errors.New("it has more than one value")
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("it is empty")
	}
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return in, &refusal{http.StatusRequestEntityTooLarge,
			portfolio.Errorf(portfolio.InvalidInput, "The body has more than %d bytes.", tooLong.Limit)}
	}
	if err != nil {
		return in, portfolio.Errorf(portfolio.InvalidInput, "The body can't be read: %v.", err)
	}
	return in, nil
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
	f := failure{Error: assistant.ErrorBody{TraceID: s.NewTrace()}}
	status := http.StatusInternalServerError
	var known *portfolio.Error
	own, refused := errors.AsType[*refusal](err)
	if refused {
		err = own.error
	}
	f.Error.Category = portfolio.ToolExecutionFailed
	f.Error.Message = fmt.Sprintf("Something went wrong. The log has more under %s.", f.Error.TraceID)
	if errors.As(err, &known) {
		f.Error.Category, f.Error.Message, status = known.Category, known.Message, statusOf(known.Category)
	}
	if refused {
		status = own.status
	}
	if status >= http.StatusInternalServerError {
		s.cfg.Logger.ErrorContext(r.Context(), "request failed", "component", "server", "trace", f.Error.TraceID,
			"path", r.URL.Path, "error", err, "cause", errors.Unwrap(err))
	}
	if wait, ok := fault.RetryAfter(err); ok {
		f.Error.RetryAfter = int(math.Ceil(wait.Seconds()))
	}
	f.Error.RecoveryOptions = assistant.Recoveries(contenttools.Explain(err))
	retryAfter(w, f.Error.RetryAfter)
	reply(w, status, f)
}

// retryAfter says in how many seconds to try again.
func retryAfter(w http.ResponseWriter, seconds int) {
	if seconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
	}
}
