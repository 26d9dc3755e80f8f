package serve

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/serve/page"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// A Config configures the handlers. Only Authorize is required.
type Config struct {
	// Authorize says who makes a request, and whether they may do that. The session is empty for
	// lists. An error refuses it: with status 401 for [ErrSignIn], with 503 for [ErrTryAgain] and
	// other errors that may go away, else with 403. It is called for each request, from several
	// goroutines at a time; a panic refuses the request. It needn't look at who owns the session:
	// that is checked afterwards.
	Authorize func(r *http.Request, session string, action Action) (user string, err error)
	// AuthorizeItem says whether a user whom Authorize has let decide may make one decision: the
	// item has the pause and the decision. It is asked about each decision of sessions/decide,
	// useChat and AG-UI, results of the front end's tools among them; its errors are those of
	// Authorize, and refuse the whole request. nil: all that Authorize lets them. Roles that hold
	// whichever way a decision comes are tools.Spec.Approvers.
	AuthorizeItem func(r *http.Request, user string, item Item) error
	// Widen admits somebody to a session that isn't theirs: it returns nil for that. [ErrTryAgain]
	// and other errors that may go away are answered with 503. Nil: nobody.
	Widen func(r *http.Request, a Access) error
	// Input sets what the server decides about an input: mode, limits, labels, tools of the front
	// end (tools.External). The input has the session, the text, the files, the user, the owner and
	// the mode that the client asks for, and is Interactive. An error refuses the input with status
	// 403, or 503 for [ErrTryAgain] and other errors that may go away. Its text isn't shown.
	Input func(r *http.Request, in *agent.Input) error

	MaxBody int64 // bytes of a body; 0: 4 MiB
	// MaxFiles is how many files a message may have; 0: 10; negative: none. They are PNG, JPEG, GIF
	// and WebP images, PDF, and plain text, by what they contain.
	MaxFiles int
	// MaxReaders is how many streams of events a user may have open at a time, from this handler in
	// this process: pages, tabs, and messages whose answer is streamed. Another one is refused with
	// status 429 before it starts anything. 0: 100; negative: no limit.
	MaxReaders int

	// Origins are those of other sites whose pages may make requests, with credentials, such as
	// "https://app.example.org". Empty: none.
	Origins []string

	// KeepApprovals refuses a message of useChat or AG-UI while the session waits for an approval:
	// the person has to decide first. By default the message supersedes what waits.
	KeepApprovals bool

	// StopOnDisconnect stops a run 2 s after a client of useChat or AG-UI has disconnected from
	// this process, if nobody else reads the session: for clients whose button to stop only closes
	// the connection. A page that is loaded again has come back by then. By default a client that
	// disconnects stops nothing.
	StopOnDisconnect bool

	// ChatLevel is what the clients of useChat understand; the zero value is ai 7.0.
	ChatLevel uimessage.Level
	// Allowance limits how many runs each user starts; nil: no limit. The key is the user. A run
	// counts from before it begins until it ends or pauses, also one that starts later with a
	// message that the run in progress hasn't read. If that one is refused for more than a minute,
	// the message waits, as long as this process lives, and the session's next run reads it.
	Allowance *ratelimit.Allowance

	Title    string   // of the page; empty: "Chat"
	Examples []string // requests that the page offers in an empty session
	// Preview returns what the page shows of what a pause asks about, besides the diff that the
	// tool gives (tools.Func.Preview): a picture, or a page in a frame. Nil: nothing. It is called
	// whenever a page is sent the pause, from several goroutines at a time, so it must be fast. A
	// panic shows nothing, and is logged.
	Preview func(session string, p *agent.Pause) page.Preview

	// Logger gets a line for each request that is refused or fails; nil: slog.Default(). Elsewhere
	// a nil Logger logs nothing, but here nobody else has the cause of an error.
	Logger *slog.Logger
}

// Defaults of a [Config].
const (
	DefaultMaxBody    = 4 << 20
	defaultMaxFiles   = 10
	defaultMaxReaders = 100
)

// maxMessage is how many bytes the text of a message may have.
const maxMessage = 64 << 10

// fileTypes are accepted, by what the files contain.
var fileTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"}

// A server is what the handlers have in common.
type server struct {
	cfg   Config
	hub   *live.Hub
	agent *agent.Agent
	log   *slog.Logger
	sites *http.CrossOriginProtection
	files http.Handler // of the page; nil without it
	// people are the paths whose errors are sentences for people, with those below them: clients
	// show them.
	people  []string
	readers readers
}

func newServer(hub *live.Hub, cfg Config) (*server, error) {
	switch {
	case hub.Agent() == nil:
		return nil, &agent.ArgError{Func: "serve.New", Field: "Config.Hub",
			Problem: "it is nil or empty; make one with live.New"}
	case cfg.Authorize == nil:
		return nil, &agent.ArgError{Func: "serve.New", Field: "Config.Authorize",
			Problem: "it is nil, so that everything would be refused; say who may do what"}
	case cfg.MaxBody < 0:
		return nil, &agent.ArgError{Func: "serve.New", Field: "Config.MaxBody",
			Problem: "it is negative; 0 is the default"}
	}
	cfg.MaxBody, cfg.MaxFiles = cmp.Or(cfg.MaxBody, DefaultMaxBody), cmp.Or(cfg.MaxFiles, defaultMaxFiles)
	cfg.MaxReaders = cmp.Or(cfg.MaxReaders, defaultMaxReaders)
	cfg.Title = cmp.Or(cfg.Title, "Chat")
	s := &server{cfg: cfg, hub: hub, agent: hub.Agent()}
	s.readers.server = s
	return s, s.common()
}

// common sets what all handlers need.
func (s *server) common() error {
	s.log, s.sites = s.cfg.Logger, http.NewCrossOriginProtection()
	if s.log == nil {
		s.log = slog.Default()
	}
	for _, o := range s.cfg.Origins {
		if err := s.sites.AddTrustedOrigin(o); err != nil {
			return &agent.ArgError{Func: "serve.New", Field: "Config.Origins",
				Problem: fmt.Sprintf("%q: %v", o, err), Err: err}
		}
	}
	return nil
}

// New returns a handler with all paths: see the package comment. Mount it with http.StripPrefix.
// The error is a *[agent.ArgError].
func New(hub *live.Hub, cfg Config) (http.Handler, error) {
	return build(hub, cfg, (*server).addChat, (*server).addAGUI, (*server).addEvents, (*server).addSessions,
		(*server).addPage)
}

// Chat returns a handler for useChat. It is mounted as its "api": POST of a message at its root,
// and the paths that follow "chat" in the package comment below it. The error is a
// *[agent.ArgError].
func Chat(hub *live.Hub, cfg Config) (http.Handler, error) {
	return build(hub, cfg, func(s *server, add adder) {
		s.people = []string{""}
		s.addChat(func(method, path string, h handler) { add(method, strings.TrimPrefix(path, "/chat"), h) })
	})
}

// AGUI returns a handler for clients of AG-UI. The path of the runs is its root, and "cancel" is
// below it. The error is a *[agent.ArgError].
func AGUI(hub *live.Hub, cfg Config) (http.Handler, error) {
	return build(hub, cfg, func(s *server, add adder) {
		s.addAGUI(func(method, path string, h handler) { add(method, strings.TrimPrefix(path, "/agui"), h) })
	})
}

// Events returns a handler that has only the path "events". The error is a *[agent.ArgError].
func Events(hub *live.Hub, cfg Config) (http.Handler, error) {
	return build(hub, cfg, (*server).addEvents)
}

// Sessions returns a handler that has only the path "sessions" and those below it. The error is a
// *[agent.ArgError].
func Sessions(hub *live.Hub, cfg Config) (http.Handler, error) {
	return build(hub, cfg, (*server).addSessions)
}

// Page returns a handler with the page, and the paths that it uses: those of [Sessions], "config"
// and "view". The error is a *[agent.ArgError].
func Page(hub *live.Hub, cfg Config) (http.Handler, error) {
	return build(hub, cfg, (*server).addSessions, (*server).addPage)
}

func build(hub *live.Hub, cfg Config, parts ...func(*server, adder)) (http.Handler, error) {
	s, err := newServer(hub, cfg)
	if err != nil {
		return nil, err
	}
	rt := &router{server: s, paths: make(map[string]map[string]handler)}
	for _, add := range parts {
		add(s, rt.add)
	}
	rt.rest = s.files
	return rt, nil
}

// allowed reports whether pages of an origin may make requests.
func (s *server) allowed(origin string) bool { return slices.Contains(s.cfg.Origins, origin) }
