package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

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

	Hosts  []string     // names under which the server may be addressed, besides those of this computer
	Secret []byte       // signs tokens; empty: a random one, and logins end with the process
	Salt   string       // of the hashes of user ids in logs
	Logger *slog.Logger // nil: nothing is logged
}

// A Server is the handler of all paths. It is safe for concurrent use.
type Server struct {
	*assistant.Services
	cfg     Config
	handler http.Handler
	closing chan struct{} // is closed by Close
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
	s := &Server{Services: cfg.Services, cfg: cfg, closing: make(chan struct{})}
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
	s.handler = s.logged(s.guarded(mux))
	return s, nil
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Close stops pipelines; the next process continues them. It doesn't wait for the requests;
// http.Server.Shutdown does. It can be called once.
func (s *Server) Close() { close(s.closing) }

// detached returns a context for work that goes on without the client, until Close.
func (s *Server) detached(r *http.Request) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	ended := make(chan struct{})
	go func() {
		select {
		case <-s.closing:
			cancel(portfolio.Errorf(portfolio.ToolExecutionFailed,
				"The server is closing. It goes on with this when it is back."))
		case <-ctx.Done():
		}
		close(ended)
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
	}
}

// guarded refuses requests that pages of other sites make. There are no passwords, so a name that
// somebody has made resolve to this computer is refused, too.
func (s *Server) guarded(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, portfolio.Errorf(portfolio.Unauthorized, "Requests of pages of other sites aren't accepted."))
	}))
	checked := cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		if host != "localhost" && (ip == nil || !ip.IsLoopback()) && !slices.Contains(s.cfg.Hosts, host) {
			s.fail(w, r,
				portfolio.Errorf(portfolio.Unauthorized, "The server isn't known under this name; use localhost."))
			return
		}
		checked.ServeHTTP(w, r)
	})
}

// adminRoutes are what administrators see. The bearer of the MetricsToken may read /metrics, too.
func (s *Server) adminRoutes(mux *http.ServeMux) {
	o := s.cfg.Observer
	on := func(name string, get func(r *http.Request) (any, error)) {
		on(s, mux, "GET "+name, func(c *call, _ none) (any, error) {
			if !s.isAdmin(c.user) {
				return nil, portfolio.Errorf(portfolio.Unauthorized, "Only administrators can see this.")
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
			if err == nil && !s.isAdmin(u) {
				err = portfolio.Errorf(portfolio.Unauthorized, "Only administrators can see this.")
			}
			if err != nil {
				s.fail(w, r, err)
				return
			}
		}
		o.Metrics().ServeHTTP(w, r)
	})
}

func (s *Server) isAdmin(u portfolio.User) bool { return slices.Contains(s.cfg.Admins, u.ID) }

// A recorder notes the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int // 0: the answer hasn't begun
}

func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// logged writes a line for each request, and answers after a panic. An answer that has begun is
// broken off, so that the client sees that it isn't whole.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, rec := time.Now(), &recorder{ResponseWriter: w}
		defer func() {
			v := recover()
			switch {
			case v != nil && rec.status == 0:
				s.fail(rec, r, fmt.Errorf("panic: %v", v))
			case v != nil:
				s.cfg.Logger.ErrorContext(r.Context(), "request failed", "component", "server", "path", r.URL.Path,
					"error", fmt.Errorf("panic: %v", v))
				defer panic(http.ErrAbortHandler)
			}
			user := ""
			if u, err := s.userOf(r); err == nil {
				user = portfolio.Hash(u.ID, s.cfg.Salt)
			}
			s.cfg.Logger.InfoContext(r.Context(), "request", "component", "server", "method", r.Method,
				"path", r.URL.Path, "status", cmp.Or(rec.status, http.StatusOK),
				"userId", user, "durationMs", time.Since(began).Milliseconds())
		}()
		next.ServeHTTP(rec, r)
	})
}
