package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/observe"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// A Config configures a [Server]. Services and Limits are required.
type Config struct {
	Services *assistant.Services
	Limits   *Limits

	Model    string            // what the pages say about where texts come from; empty: nothing
	Pages    http.Handler      // serves what isn't listed in the package comment; nil: nothing does
	Observer *observe.Observer // has what administrators see; nil: they see nothing
	Admins   []string          // the ids of administrators; nil: eva

	// MetricsToken is a bearer token that a Prometheus reads /metrics with. Unlike that of a login,
	// it doesn't expire. Empty: there is none.
	MetricsToken string

	Secret []byte       // signs tokens; empty: a random one, and logins end with the process
	Salt   string       // of the hashes of user ids in logs
	Logger *slog.Logger // nil: nothing is logged
}

// A Server is the handler of all paths. It is safe for concurrent use.
type Server struct {
	*assistant.Services
	cfg     Config
	handler http.Handler
	closing context.Context
	close   context.CancelFunc
}

// New returns the server of a configuration.
func New(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Services == nil || cfg.Limits == nil {
		return nil, errors.New("server: Config.Services and Config.Limits are required")
	}
	if len(cfg.Secret) == 0 {
		cfg.Secret = []byte(rand.Text())
	}
	if cfg.Admins == nil {
		cfg.Admins = []string{"eva"}
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := &Server{Services: cfg.Services, cfg: cfg}
	s.closing, s.close = context.WithCancel(context.WithoutCancel(ctx))
	if err := cfg.Limits.load(ctx, s.Store); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	mux := http.NewServeMux()
	s.loginRoutes(mux)
	s.artifactRoutes(mux)
	s.agentRoutes(mux)
	if err := s.chatRoutes(mux); err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	if cfg.Observer != nil {
		s.adminRoutes(mux)
	}
	if cfg.Pages != nil {
		mux.Handle("/", cfg.Pages)
		mux.Handle("GET /agent/page/", cfg.Pages) // the login needs some of these files
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, &refusal{http.StatusNotFound,
			portfolio.Errorf(portfolio.InvalidInput, "There is no path %s %s.", r.Method, r.URL.Path)})
	})
	// there are no passwords, so the server is for this computer alone
	s.handler = s.logged(serve.Local{}.Handler(mux))
	return s, nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close stops pipelines; the next process continues them. It doesn't wait for the requests;
// http.Server.Shutdown does.
func (s *Server) Close() { s.close() }

// detached returns a context for work that goes on without the client, until Close.
func (s *Server) detached(r *http.Request) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	stop := context.AfterFunc(s.closing, func() {
		cancel(portfolio.Errorf(portfolio.ToolExecutionFailed,
			"The server is closing. It continues this when it is back."))
	})
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// adminRoutes are what administrators see. The bearer of the MetricsToken may read /metrics, too.
func (s *Server) adminRoutes(mux *http.ServeMux) {
	o := s.cfg.Observer
	on := func(name string, get func(r *http.Request) (any, error)) {
		on(s, mux, "GET "+name, func(c *call, _ none) (any, error) {
			if err := s.isAdmin(c.user); err != nil {
				return nil, err
			}
			return get(c.Request)
		})
	}
	on("/api/admin/dashboard", func(r *http.Request) (any, error) {
		return o.Dashboard(r.Context(), s.Services, s.cfg.Limits.Used)
	})
	on("/api/admin/alerts", func(r *http.Request) (any, error) {
		err := o.Evaluate(r.Context(), s.Services, s.cfg.Limits.Used)
		return map[string]any{"alerts": o.Alerts()}, err
	})
	on("/api/admin/traces", func(r *http.Request) (any, error) {
		spans, err := o.Trace(r.Context(), s.Services, r.FormValue("traceId"))
		return map[string]any{"spans": spans}, err
	})
	want := []byte("Bearer " + s.cfg.MetricsToken)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if s.cfg.MetricsToken == "" || subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1 {
			u, err := s.userOf(r)
			if err == nil {
				err = s.isAdmin(u)
			}
			if err != nil {
				s.fail(w, r, err)
				return
			}
		}
		o.Metrics().ServeHTTP(w, r)
	})
}

func (s *Server) isAdmin(u portfolio.User) error {
	if slices.Contains(s.cfg.Admins, u.ID) {
		return nil
	}
	return portfolio.Errorf(portfolio.Unauthorized, "Only administrators can see this.")
}

// A recorder notes the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int // 0: the answer hasn't begun
}

// WriteHeader begins the answer.
func (w *recorder) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
	w.ResponseWriter.WriteHeader(status)
}

// Write writes a part of the answer.
func (w *recorder) Write(p []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// logged writes a line for each request, and answers after a panic, unless the answer has begun.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		began, rec := time.Now(), &recorder{ResponseWriter: w}
		defer func() {
			v := recover()
			if v != nil {
				s.cfg.Logger.ErrorContext(r.Context(), "panic", "component", "server", "path", r.URL.Path, "error", v)
			}
			if v != nil && rec.status > 0 {
				defer panic(http.ErrAbortHandler) // so that the client sees that it isn't whole
			} else if v != nil {
				s.fail(rec, r, fmt.Errorf("panic: %v", v))
			}
			user, _ := s.userOf(r) // else there is none
			s.cfg.Logger.InfoContext(r.Context(), "request", "component", "server", "method", r.Method,
				"path", r.URL.Path, "status", cmp.Or(rec.status, http.StatusOK), "userId",
				portfolio.Hash(user.ID, s.cfg.Salt), "durationMs", time.Since(began).Milliseconds())
		}()
		next.ServeHTTP(rec, r)
	})
}
