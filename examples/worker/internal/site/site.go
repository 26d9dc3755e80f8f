package site

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/agent/serve/page"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

// Config is what [New] needs.
type Config struct {
	Agent  *agent.Agent
	Worker *work.Worker // counts and retries; it needn't run
	Ledger *ledger.Ledger
	Queue  Queue
	Wake   func(session string)                        // something has to be done for the session
	Kill   func(ctx context.Context, worker int) error // nil: workers can't be killed
	Lease  time.Duration                               // how long the run of a killed worker is held
	Chaos  bool                                        // workers are killed
	Auto   bool                                        // publications are approved by the program
	Logger *slog.Logger
}

//go:embed web
var web embed.FS

// contentSecurity lets the page load its own files, talk to its own server and show its reports. It
// runs no inline code.
const contentSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A server has what the handlers need.
type server struct {
	Config
	done <-chan struct{} // closed when streams have to end

	mu   sync.Mutex  // guards what follows
	last *operations // what was read last; nil: nothing yet
	away time.Time   // since when nothing can be read; zero: it can
}

// New returns the handler. Its streams end with ctx.
func New(ctx context.Context, cfg Config) http.Handler {
	s := &server{Config: cfg, done: ctx.Done()}
	mux := http.NewServeMux()
	s.api(mux)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /reports/{id}", s.report)

	files, _ := fs.Sub(web, "web") // the name is valid
	mux.Handle("GET /page/", secure(page.Assets()))
	mux.Handle("GET /app/{file}", secure(http.StripPrefix("/app/", http.FileServerFS(files))))
	for _, path := range []string{"/{$}", "/show/{id}", "/dead"} {
		mux.Handle("GET "+path, secure(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, files, "page.html")
		})))
	}
	return serve.Local{}.Handler(mux)
}

// secure adds the headers of pages.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", contentSecurity)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r)
	})
}

// report serves the page that a run has made, which may neither load nor run anything.
func (s *server) report(w http.ResponseWriter, r *http.Request) {
	text, err := s.Ledger.Artifact(r.Context(), r.PathValue("id"), report.ArtifactPage)
	switch {
	case err != nil:
		serve.Problem(err).ServeHTTP(w, r)
		return
	case text == "":
		problem(http.StatusNotFound, serve.CodeUnknown, "there is no such report, or it isn't written yet").ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", report.Security(text))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write([]byte(text)) // the client may have gone
}
