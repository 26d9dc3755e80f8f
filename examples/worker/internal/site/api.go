package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit/fault"
)

// problem returns an error of this package.
func problem(status int, code, detail string) *serve.ProblemDetails {
	class := fault.Invalid
	if status == http.StatusNotFound {
		class = fault.NotFound
	}
	return &serve.ProblemDetails{Title: http.StatusText(status), Status: status, Code: code, Detail: detail,
		Class: class}
}

// none is the body of a request that has none.
type none struct{}

// api adds the paths for programs.
func (s *server) api(mux *http.ServeMux) {
	on(mux, "POST /runs", s.post)
	on(mux, "GET /runs", func(r *http.Request, _ none) (any, error) {
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil || limit < 1 || limit > 200 {
			limit = 50
		}
		return s.list(r.Context(), agent.SessionFilter{Status: agent.Status(r.FormValue("status")), Limit: limit})
	})
	on(mux, "GET /runs/{id}", func(r *http.Request, _ none) (any, error) {
		return s.run(r.Context(), r.PathValue("id"))
	})
	on(mux, "POST /runs/{id}/cancel", func(r *http.Request, _ none) (any, error) {
		err := s.session(r).Cancel(r.Context())
		s.Wake(r.PathValue("id"))
		return nil, err
	})
	on(mux, "POST /runs/{id}/retry", func(r *http.Request, _ none) (any, error) {
		err := s.Worker.Retry(r.Context(), r.PathValue("id"))
		if errors.Is(err, machine.ErrCannotRetry) {
			return nil, problem(http.StatusConflict, serve.CodeIdle, err.Error())
		}
		s.Wake(r.PathValue("id"))
		return nil, err
	})
	on(mux, "POST /runs/{id}/respond", s.respond)
	on(mux, "DELETE /runs/{id}", func(r *http.Request, _ none) (any, error) {
		if _, err := s.session(r).Info(r.Context()); err != nil {
			return nil, err
		}
		if err := s.session(r).Delete(r.Context()); err != nil {
			return nil, err
		}
		return nil, s.Ledger.Forget(r.Context(), r.PathValue("id"))
	})
	on(mux, "POST /workers/{id}/kill", func(r *http.Request, _ none) (any, error) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil || s.Kill == nil {
			return nil, problem(http.StatusNotFound, serve.CodeUnknown, "start the program with -workers 3 to have workers to kill")
		}
		if err := s.Kill(r.Context(), id); err != nil {
			return nil, problem(http.StatusConflict, serve.CodeIdle, err.Error())
		}
		return nil, nil
	})
}

// on adds a path. What fn returns is the answer; nil is 204.
func on[In any](mux *http.ServeMux, pattern string, fn func(r *http.Request, in In) (any, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		in, err := decode[In](w, r)
		var out any
		if err == nil {
			out, err = fn(r, in)
		}
		switch made, ok := out.(created); {
		case err != nil:
			serve.Problem(err).ServeHTTP(w, r)
		case out == nil:
			w.WriteHeader(http.StatusNoContent)
		case ok:
			answer(w, made.status, made)
		default:
			answer(w, http.StatusOK, out)
		}
	})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has gone
}

// decode reads a body of JSON.
func decode[In any](w http.ResponseWriter, r *http.Request) (in In, err error) {
	if _, ok := any(in).(none); ok {
		return in, nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return in, problem(http.StatusUnsupportedMediaType, serve.CodeMediaType, "send the body as application/json")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(30 * time.Second)) // a test's writer has none
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return in, problem(http.StatusBadRequest, serve.CodeMalformed, fmt.Sprintf("the body can't be read: %v", err))
	}
	return in, nil
}

func (s *server) session(r *http.Request) *agent.Session { return s.Agent.Session(r.PathValue("id")) }

// created is the answer to POST /runs.
type created struct {
	ID     string `json:"id"`
	status int
}

// post asks for a report. A repeated Idempotency-Key is answered with the run that it has made.
func (s *server) post(r *http.Request, in struct {
	Topic string `json:"topic"`
}) (any, error) {
	session, err := Enqueue(r.Context(), s.Queue, s.Ledger, in.Topic, r.Header.Get("Idempotency-Key"))
	if errors.Is(err, agent.ErrDuplicate) {
		return created{session, http.StatusOK}, nil
	}
	if err != nil {
		return nil, err
	}
	s.Wake(session)
	return created{session, http.StatusCreated}, nil
}

// A response decides on a pause of a run.
type response struct {
	ID       string `json:"id"`
	Decision string `json:"decision"` // approve, reject, or answer
	Reason   string `json:"reason"`   // of reject
	Value    string `json:"value"`    // of answer: what the result of a call in doubt was
}

func (s *server) respond(r *http.Request, in response) (any, error) {
	var d agent.Decision
	switch in.Decision {
	case "approve":
		d = agent.Approve(in.ID)
	case "reject":
		d = agent.Reject(in.ID, in.Reason)
	case "answer":
		d = agent.Answer(in.ID, in.Value)
	default:
		return nil, problem(http.StatusUnprocessableEntity, serve.CodeBad,
			fmt.Sprintf("the decision %q is unknown; give approve, reject or answer", in.Decision))
	}
	err := s.session(r).Decide(r.Context(), d.By("page"))
	s.Wake(r.PathValue("id"))
	return nil, err
}
