package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A Config configures the handler. Only Hub is required.
type Config struct {
	Hub *live.Hub
	// Preview is the address of the preview server, such as "http://localhost:4000"; empty: the
	// page has no preview.
	Preview string
	// System returns the instructions of a mode, which the message history shows; nil: it shows
	// none.
	System func(mode string) string
	// User is who all sessions belong to, because there is no login; empty: "you".
	User string
	// Title is that of the page; empty: "Assistant". Examples are requests that it offers.
	Title    string
	Examples []string
	// Note is a sentence below the composer, about the model for example.
	Note   string
	Logger *slog.Logger // nil: nothing is logged
}

const (
	maxBody   = 4 << 20
	heartbeat = 15 * time.Second
)

type server struct {
	Config
	sites *http.CrossOriginProtection
}

// New returns the handler of the paths in the package comment. There is no login: requests of pages
// of other sites are refused, and the server should listen on this machine only.
func New(cfg Config) (http.Handler, error) {
	if cfg.Hub == nil {
		return nil, errors.New("assistant: Config.Hub is missing")
	}
	cfg.Title, cfg.User = cmp.Or(cfg.Title, "Assistant"), cmp.Or(cfg.User, "you")
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &server{cfg, http.NewCrossOriginProtection()}
	chat, err := serve.New(cfg.Hub, serve.Config{
		Title: cfg.Title, Examples: cfg.Examples, Logger: cfg.Logger,
		Authorize: func(*http.Request, string, serve.Action) (string, error) { return cfg.User, nil },
		Widen:     func(*http.Request, serve.Access) error { return nil }, // sessions of the terminal belong to nobody
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	if err := s.addPage(mux, chat); err != nil {
		return nil, err
	}
	mux.HandleFunc("GET /assistant/log", s.route(s.follow))
	for _, prefix := range []string{"/v1/agent/", "/api/agent/"} {
		mux.HandleFunc("POST "+prefix+"stream", s.route(s.stream))
		mux.HandleFunc("GET "+prefix+"stream", s.route(s.follow))
		mux.HandleFunc("POST "+prefix+"approve", s.route(s.approve))
		mux.HandleFunc("POST "+prefix+"resume", s.route(s.resume))
		mux.HandleFunc("POST "+prefix+"cancel", s.route(s.cancel))
		mux.HandleFunc("POST "+prefix+"message", s.route(s.message))
		mux.HandleFunc("GET "+prefix+"traces", s.route(s.traces))
	}
	mux.HandleFunc("POST /api/agent", s.route(s.stream))
	return mux, nil
}

// A problem is an error as it is answered.
type problem struct {
	status  int
	Code    string `json:"code"`
	Message string `json:"message"`
	Details any    `json:"details,omitempty"`
}

// Error returns the message.
func (p *problem) Error() string { return p.Message }

func fail(status int, code, format string, args ...any) error {
	return &problem{status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return fail(http.StatusBadRequest, "VALIDATION_ERROR", format, args...)
}

// route returns the handler of a function that may fail before it has answered.
func (s *server) route(f func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		err := s.sites.Check(r)
		if err != nil {
			err = fail(http.StatusForbidden, "FORBIDDEN", "a page of another site makes this request")
		} else {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			err = f(w, r)
		}
		if err != nil {
			p := problemOf(err)
			s.Logger.InfoContext(r.Context(), "assistant: a request failed", "path", r.URL.Path, "status", p.status,
				"error", err)
			answer(w, p.status, map[string]any{"error": p, "statusCode": p.status})
		}
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
}

// problemOf returns what is answered because of an error.
func problemOf(err error) *problem {
	var (
		p        *problem
		large    *http.MaxBytesError
		decision *agent.DecisionError
		paused   *agent.PausedError
		arg      *agent.ArgError
		changed  *agent.ChangedError
	)
	make := func(status int, code, format string, args ...any) *problem {
		return &problem{status: status, Code: code, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &large):
		return make(http.StatusRequestEntityTooLarge, "VALIDATION_ERROR", "the body is larger than %d bytes",
			large.Limit)
	case errors.As(err, &decision):
		switch decision.Code {
		case machine.DecisionUnknown:
			return make(http.StatusNotFound, "NOT_FOUND", "the session has no such approval")
		case machine.DecisionUsed:
			return make(http.StatusConflict, "CONFLICT", "it was decided before")
		case machine.DecisionExpired:
			return make(http.StatusGone, "EXPIRED", "nobody decided in time, so the call counts as rejected")
		case machine.DecisionReplaced:
			p := make(http.StatusConflict, "CONFLICT", "the approval was asked for again")
			p.Details = map[string]string{"approvalId": decision.NewID}
			return p
		}
		return make(http.StatusBadRequest, "VALIDATION_ERROR", "%s", decision.Problem)
	case errors.Is(err, agent.ErrNothingOpen):
		if session, _ := errors.AsType[*agent.SessionError](err); session == nil || session.Status == "" {
			return make(http.StatusNotFound, "NOT_FOUND", "there is no such session")
		}
		return make(http.StatusConflict, "CONFLICT", "no run of the session is in progress or interrupted")
	case errors.Is(err, agent.ErrBusy):
		return make(http.StatusConflict, "CONFLICT",
			"a run of the session is in progress; send the message to it with /v1/agent/message")
	case errors.As(err, &paused) && len(paused.Pending) == 0:
		return make(http.StatusConflict, "CONFLICT",
			"the last run of the session was interrupted; continue it with /v1/agent/resume")
	case errors.As(err, &paused):
		return make(http.StatusConflict, "CONFLICT",
			"the session waits for %d decisions; decide them with /v1/agent/approve", len(paused.Pending))
	case errors.As(err, &changed):
		return make(http.StatusConflict, "CONFLICT", "the agent has changed since the run began; start a new request")
	case errors.Is(err, agent.ErrNotOwner):
		return make(http.StatusNotFound, "NOT_FOUND", "there is no such session")
	case errors.As(err, &arg) && arg.Fault() == fault.Invalid:
		return make(http.StatusBadRequest, "VALIDATION_ERROR", "%s: %s", strings.TrimPrefix(arg.Field, "Input."),
			arg.Problem)
	case errors.Is(err, live.ErrClosed), errors.Is(err, agent.ErrDraining):
		return make(http.StatusServiceUnavailable, "UNAVAILABLE", "the server is going away; try again")
	}
	return make(http.StatusInternalServerError, "INTERNAL_ERROR", "it failed; the server's log says why")
}

// decode reads a body of JSON.
func decode(r *http.Request, body any) error {
	err := json.NewDecoder(r.Body).Decode(body)
	var large *http.MaxBytesError
	if err != nil && !errors.As(err, &large) {
		return invalid("the body isn't the JSON that this path takes: %v", err)
	}
	return err
}

func (s *server) session(id string) *agent.Session { return s.Hub.Agent().Session(id) }

// approve takes a decision, and resumes the run.
func (s *server) approve(w http.ResponseWriter, r *http.Request) error {
	var body struct{ SessionID, TraceID, StepID, ApprovalID, Decision, Message string }
	if err := decode(r, &body); err != nil {
		return err
	}
	if body.SessionID == "" {
		return invalid("sessionId is missing")
	}
	ctx := context.WithoutCancel(r.Context()) // a client that leaves has decided nevertheless
	if body.ApprovalID == "" {
		pending, err := s.session(body.SessionID).Pending(ctx)
		switch {
		case err != nil:
			return err
		case len(pending) == 0:
			return fail(http.StatusNotFound, "NOT_FOUND", "the session waits for no approval")
		case len(pending) > 1:
			return invalid("the session waits for %d approvals; name one with approvalId", len(pending))
		}
		body.ApprovalID = pending[0].ID
	}
	var d agent.Decision
	switch body.Decision {
	case "approve":
		d = agent.Approve(body.ApprovalID)
	case "reject":
		d = agent.Reject(body.ApprovalID, body.Message)
	case "alternative":
		d = agent.Suggest(body.ApprovalID, cmp.Or(strings.TrimSpace(body.Message), "Suggest another approach."))
	case "answer":
		d = agent.Answer(body.ApprovalID, body.Message)
	default:
		return invalid("decision is %q; it should be approve, reject, alternative or answer", body.Decision)
	}
	d = d.By(s.User)
	if _, err := s.Hub.Decide(ctx, body.SessionID, d); err != nil {
		return err
	}
	answer(w, http.StatusOK, map[string]bool{"success": true})
	return nil
}

func (s *server) cancel(w http.ResponseWriter, r *http.Request) error {
	var body struct{ SessionID string }
	if err := decode(r, &body); err != nil {
		return err
	}
	if err := s.Hub.Cancel(r.Context(), body.SessionID); err != nil {
		return err
	}
	answer(w, http.StatusOK, map[string]bool{"success": true})
	return nil
}

// message sends a message to the run in progress, and answers when the run has read it.
func (s *server) message(w http.ResponseWriter, r *http.Request) error {
	var body struct{ SessionID, Message string }
	if err := decode(r, &body); err != nil {
		return err
	}
	if strings.TrimSpace(body.Message) == "" {
		return invalid("message is empty")
	}
	receipt, err := s.session(body.SessionID).Steer(r.Context(), body.Message)
	if err != nil {
		return err
	}
	if _, err := receipt.Wait(r.Context()); err != nil {
		return fail(http.StatusConflict, "CONFLICT", "the run ended before it could read the message; start a new one")
	}
	answer(w, http.StatusOK, map[string]bool{"success": true})
	return nil
}

// maxTraced is how many of the newest sessions are searched for a trace.
const maxTraced = 200

// traces answers with the events of a trace.
func (s *server) traces(w http.ResponseWriter, r *http.Request) error {
	trace, session := r.FormValue("traceId"), r.FormValue("sessionId")
	if trace == "" {
		return invalid("traceId is missing")
	}
	sessions := []string{session}
	if session == "" {
		sessions = nil
		for info, err := range s.Hub.Agent().Sessions(r.Context(), agent.SessionFilter{Limit: maxTraced}) {
			if err != nil {
				return err
			}
			sessions = append(sessions, info.Session)
		}
	}
	for _, id := range sessions {
		facts, err := s.session(id).Facts(r.Context())
		if err != nil {
			return err
		}
		events, t := []Event{}, newTranslator(id, s.System)
		for _, f := range facts {
			for _, e := range t.event(f) {
				if e["traceId"] == trace {
					events = append(events, e)
				}
			}
		}
		if len(events) > 0 {
			answer(w, http.StatusOK,
				map[string]any{"data": map[string]any{"sessionId": id, "traceId": trace, "events": events},
					"message": "OK", "statusCode": http.StatusOK})
			return nil
		}
	}
	return fail(http.StatusNotFound, "NOT_FOUND", "no session has the trace %s", trace)
}
