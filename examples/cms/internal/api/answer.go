package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// An Answer is the envelope of a result.
type Answer struct {
	Data       any    `json:"data"`
	Message    string `json:"message"`
	StatusCode int    `json:"statusCode"`
}

// A Failure is the envelope of an error.
type Failure struct {
	Error struct {
		Code    string            `json:"code"`
		Message string            `json:"message"`           // what was wrong, and what would be right
		Details map[string]string `json:"details,omitempty"` // by field; for CONFLICT: expected, actual and suggestion
	} `json:"error"`
	StatusCode int `json:"statusCode"`
}

// A refusal is an error of a request that isn't about the site.
type refusal struct {
	status  int
	code    string
	text    string
	details map[string]string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, code, format string, args ...any) *refusal {
	return &refusal{status: status, code: code, text: fmt.Sprintf(format, args...)}
}

func answer(w http.ResponseWriter, status int, message string, data any) {
	write(w, status, Answer{data, message, status})
}

func fail(w http.ResponseWriter, status int, code, message string, details map[string]string) {
	f := Failure{StatusCode: status}
	f.Error.Code, f.Error.Message, f.Error.Details = code, message, details
	write(w, status, f)
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // an error means that the client has gone
}

// statuses are the status and the code of the errors of a site.
var statuses = map[string]struct {
	status int
	code   string
}{
	site.CodeInvalid:    {http.StatusBadRequest, "VALIDATION_ERROR"},
	site.CodeNotFound:   {http.StatusNotFound, "NOT_FOUND"},
	site.CodeSlugExists: {http.StatusConflict, "CONFLICT"},
	site.CodeKeyExists:  {http.StatusConflict, "CONFLICT"},
	site.CodeConflict:   {http.StatusConflict, "CONFLICT"},
	site.CodeTooLarge:   {http.StatusRequestEntityTooLarge, "VALIDATION_ERROR"},
	site.CodeMediaType:  {http.StatusUnsupportedMediaType, "VALIDATION_ERROR"},
	site.CodeBusy:       {http.StatusServiceUnavailable, "BUSY"},
	site.CodeStorage:    {http.StatusServiceUnavailable, "STORAGE"},
	site.CodeFull:       {http.StatusInsufficientStorage, "STORAGE_FULL"},
}

// failed answers with an error. The text of an unexpected one is only logged.
func (s *server) failed(w http.ResponseWriter, r *http.Request, err error) {
	var (
		own     *refusal
		ofSite  *site.Error
		tooLong *http.MaxBytesError
		arg     *agent.ArgError
	)
	switch {
	case errors.As(err, &own):
		fail(w, own.status, own.code, own.text, own.details)
		return
	case errors.As(err, &tooLong):
		fail(w, http.StatusRequestEntityTooLarge, "VALIDATION_ERROR",
			fmt.Sprintf("the body has more than %d bytes; send less", tooLong.Limit), nil)
		return
	case errors.Is(err, agent.ErrBusy):
		fail(w, http.StatusConflict, "CONFLICT", "a run of the session is in progress; wait for its end, or stop it",
			nil)
		return
	case errors.Is(err, agent.ErrNothingOpen):
		fail(w, http.StatusNotFound, "NOT_FOUND",
			"there is no such session, or nothing of it is in progress; list the sessions", nil)
		return
	case errors.As(err, &arg) && arg.Fault() == fault.Invalid:
		fail(w, http.StatusBadRequest, "VALIDATION_ERROR", err.Error(), nil)
		return
	case errors.As(err, &ofSite):
		if known, ok := statuses[ofSite.Code]; ok {
			if known.status >= http.StatusInternalServerError {
				s.logged(r, err)
			}
			details := ofSite.Fields
			if known.code == "CONFLICT" {
				details = map[string]string{"expected": ofSite.Expected, "actual": ofSite.Actual,
					"suggestion": ofSite.Hint}
			}
			fail(w, known.status, known.code, ofSite.Error(), details)
			return
		}
	}
	s.logged(r, err)
	fail(w, http.StatusInternalServerError, "INTERNAL_ERROR", "the request failed; the log of the server says why", nil)
}

func (s *server) logged(r *http.Request, err error) {
	s.log.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err)
}
