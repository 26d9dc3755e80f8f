package board

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/stream/sse"
)

//go:embed web
var web embed.FS

// contentSecurity lets the page load its own files and talk to its own server. It runs no inline
// code.
const contentSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const (
	every     = 100 * time.Millisecond // between two messages to a page
	again     = time.Second            // between two looks at what no event tells of
	heartbeat = 15 * time.Second
	maxBody   = 64 << 10
)

// New returns the handler of the pages, for the root of a server: the conversation, as package
// agent/serve has it, and the board. It answers only this computer: see [serve.Local].
func New(cfg Config) (http.Handler, error) {
	local := serve.Local{User: "you"}
	chat, err := serve.Page(cfg.Hub,
		serve.Config{Authorize: local.Authorize, Title: "Team", Examples: cfg.Examples, MaxFiles: -1})
	if err != nil {
		return nil, err
	}
	files, _ := fs.Sub(web, "web") // the name is valid
	own := http.StripPrefix("/team/", http.FileServerFS(files))
	mux := http.NewServeMux()
	mux.Handle("/", chat)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, files, "page.html")
	})
	mux.Handle("GET /team/", own)
	mux.HandleFunc("GET /team/config", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"about": cfg.About, "dir": cfg.Dir, "goless": cfg.Goless})
	})
	mux.HandleFunc("GET /board", cfg.watch)
	mux.HandleFunc("POST /board/decide", cfg.post(cfg.decide))
	mux.HandleFunc("POST /board/undo", cfg.post(func(ctx context.Context, in request) error {
		return cfg.Undo(ctx, in.Session, in.Run)
	}))
	mux.HandleFunc("POST /board/revoke", cfg.post(func(ctx context.Context, in request) error {
		return cfg.Revoke(ctx, in.Grant)
	}))
	return local.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", contentSecurity)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		mux.ServeHTTP(w, r)
	})), nil
}

// A request is the body of the requests that change something.
type request struct {
	Session  string         `json:"session"`
	Run      string         `json:"run"`
	Decision agent.Decision `json:"decision"`
	Grant    string         `json:"grant"`
}

// post returns a handler that does what a request asks for. What was begun is completed, even if
// the page has gone.
func (cfg *Config) post(do func(context.Context, request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in request
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		err := do(context.WithoutCancel(r.Context()), in)
		cfg.Feed.Poke()
		if errors.Is(err, agent.ErrCannotUndo) { // what a person has changed since stays
			err = &serve.ProblemDetails{Status: http.StatusConflict, Code: "left", Detail: err.Error()}
		}
		if err != nil {
			serve.Problem(err).ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// decide takes a decision, in the conversation if it asks for it, and else in the plan, whose other
// steps are still at work then.
func (cfg *Config) decide(ctx context.Context, in request) error {
	d := in.Decision.By("you")
	waits := func() bool {
		pending, _ := cfg.Hub.Agent().Session(in.Session).Pending(ctx)
		return has(pending, d.ID)
	}
	if in.Run != "" && !waits() {
		err := cfg.Plans.Decide(ctx, in.Run, d)
		if err == nil {
			cfg.hand(ctx, in, d, waits)
		}
		if refused, ok := errors.AsType[*agent.DecisionError](err); !ok || refused.Code != "unknown" {
			return err
		}
	}
	_, err := cfg.Hub.Decide(ctx, in.Session, d)
	return err
}

func has(pending []agent.Pause, id string) bool {
	return slices.ContainsFunc(pending, func(p agent.Pause) bool { return p.ID == id })
}

// hand waits until the plan has taken a decision, for 2 s at most. The conversation that drives the
// plan may pause just then, and ask for the same: it gets the decision, too, or nothing would go
// on.
func (cfg *Config) hand(ctx context.Context, in request, d agent.Decision, waits func() bool) {
	for range 200 {
		if waits() {
			_, _ = cfg.Hub.Decide(ctx, in.Session, d)
			return
		}
		pending, err := cfg.Plans.Pending(ctx, in.Run)
		if err != nil || !has(pending, d.ID) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// watch streams the board of a conversation: first the whole, then the parts that have changed.
func (cfg *Config) watch(w http.ResponseWriter, r *http.Request) {
	v := &viewer{Config: *cfg, sent: make(map[string][]byte), pokes: -1}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if v.talk.session = r.FormValue("session"); v.talk.session != "" {
		facts, err := cfg.Hub.Agent().Session(v.talk.session).Facts(r.Context())
		if err == nil && len(facts) == 0 {
			err = &agent.SessionError{Session: v.talk.session, Code: agent.ErrNothingOpen}
		}
		if err != nil {
			serve.Problem(err).ServeHTTP(w, r)
			return
		}
		for _, f := range facts {
			v.talk.event(f)
		}
		var reading sync.WaitGroup
		defer reading.Wait()
		defer cancel()
		reading.Go(func() {
			defer cancel() // the page connects again
			v.follow(ctx, facts[len(facts)-1].Envelope().Seq)
		})
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := sse.NewWriter(w)
	defer out.Heartbeat(heartbeat)()
	for v.next(ctx, out) {
	}
}
