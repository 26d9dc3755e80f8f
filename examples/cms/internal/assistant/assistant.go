package assistant

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve"
)

// A Config configures the handler. Only Hub is required.
type Config struct {
	Hub *live.Hub
	// Preview is the address of the preview server, such as "http://localhost:4000"; empty: the
	// page has no preview.
	Preview string
	// System returns the instructions of a mode, which the log shows; nil: it shows none.
	System func(mode string) string
	// User is who all sessions belong to, because there is no login; empty: "you".
	User string
	// Title is that of the page; empty: "Assistant". Examples are requests that it offers.
	Title    string
	Examples []string
	// Note is a sentence at the top of the page, about the model for example.
	Note   string
	Logger *slog.Logger // nil: nothing is logged
}

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
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := &server{cfg, http.NewCrossOriginProtection()}
	chat, err := serve.New(cfg.Hub, serve.Config{
		Title: cfg.Title, Examples: cfg.Examples, Logger: cfg.Logger,
		Authorize: func(*http.Request, string, serve.Action) (string, error) { return cfg.User, nil },
		Widen:     func(*http.Request, serve.Access) error { return nil }, // sessions of the terminal belong to nobody
		Input: func(r *http.Request, in *agent.Input) error {
			path := r.Header.Get(screenHeader)
			in.Labels = Screen(path)
			return sees(r.Context(), cfg.Hub.Agent().Session(in.Session), path)
		},
	})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	if err := s.addPage(mux, chat); err != nil {
		return nil, err
	}
	mux.HandleFunc("GET /assistant/log", s.route(s.log))
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

func (p *problem) Error() string { return p.Message }

// codes are those of the API for the statuses of errors.
var codes = map[int]string{http.StatusBadRequest: "VALIDATION_ERROR", http.StatusForbidden: "FORBIDDEN",
	http.StatusNotFound: "NOT_FOUND", http.StatusConflict: "CONFLICT", http.StatusGone: "EXPIRED",
	http.StatusRequestEntityTooLarge: "VALIDATION_ERROR", http.StatusServiceUnavailable: "UNAVAILABLE",
	http.StatusInternalServerError: "INTERNAL_ERROR"}

func fail(status int, format string, args ...any) error {
	return &problem{status: status, Code: codes[status], Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error { return fail(http.StatusBadRequest, format, args...) }

// route returns the handler of a function that may fail before it has answered.
func (s *server) route(f func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		err := s.sites.Check(r)
		if err != nil {
			err = fail(http.StatusForbidden, "a page of another site makes this request")
		} else {
			r.Body = http.MaxBytesReader(w, r.Body, serve.DefaultMaxBody)
			err = f(w, r)
		}
		if err == nil {
			return
		}
		p, own := errors.AsType[*problem](err)
		if !own {
			known := serve.Problem(err)
			switch {
			case known.Status == http.StatusUnprocessableEntity:
				known.Status = http.StatusBadRequest
			case known.Code == serve.CodeExpired:
				known.Status = http.StatusGone
			}
			p = &problem{status: known.Status, Code: cmp.Or(codes[known.Status], "INTERNAL_ERROR"),
				Message: cmp.Or(known.Detail, "it failed; the server's log says why")}
			if known.NewID != "" {
				p.Details = map[string]string{"approvalId": known.NewID}
			}
		}
		level := slog.LevelInfo
		if p.status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
		s.Logger.Log(r.Context(), level, "assistant: a request failed", "path", r.URL.Path, "status", p.status,
			"error", err)
		answer(w, p.status, map[string]any{"error": p, "statusCode": p.status})
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have disconnected
}

// decode reads a body of JSON.
func decode(r *http.Request, body any) error {
	err := json.NewDecoder(r.Body).Decode(body)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return invalid("%s is a %s; it should be a %s", wrong.Field, wrong.Value, wrong.Type.Kind())
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fail(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", large.Limit)
	}
	if err != nil {
		return invalid("the body isn't the JSON that this path takes: %v", err)
	}
	return nil
}
