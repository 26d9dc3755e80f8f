package assistant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/screen"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/internal/consent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mock"
	"github.com/pawlkit/pawl/tools/web"
)

// A Config configures [Services]. Model and Images are required.
type Config struct {
	DB    string // the file
	Model provider.Provider
	// Real says that the model isn't the stand-in: it answers what people write, and summarizes old
	// parts of conversations.
	Real   bool
	Images provider.Provider
	// ImageSize is in the terms of the provider of images; "": what it usually makes.
	ImageSize string
	Sources   []web.Searcher // none: nothing is searched, and research says so
	Mocks     *mock.Set      // nil: nothing is mocked
	Mocked    bool           // everything is mocked; trace ids begin with mock-
	// Recover is the time between two searches for conversations of processes that have died; 0:
	// nobody searches.
	Recover time.Duration
	Drain   time.Duration // how long runs may take to come to a safe point when the Hub is closed; 0: 10 s
	// Lease is how long a pipeline belongs to a process that has died; 0: 4 s.
	Lease time.Duration
	// Admit says whether a user may start these tools now, or try them again; nil: always. release
	// is called when they have ended.
	Admit func(ctx context.Context, u portfolio.User, names []string) (release func(), err error)
	// Observe is called with what happens; nil: it isn't. It may be called from several goroutines
	// at a time, and must not block.
	Observe func(Event)
	Hooks   []agent.Hooks // of the agent, besides those that screen texts
	Logger  *slog.Logger  // nil: nothing is logged
	Salt    string        // of the hashes of user ids in the names of sessions
}

// An Event is something that has happened. Its kind says which fields are set.
type Event struct {
	Kind     EventKind
	Intent   string             // of a request
	Category portfolio.Category // of the error of a request or a pipeline; empty if it has succeeded
	Pipeline Pipeline
	Took     time.Duration // of what has ended; 0 if it has begun before this process
}

// An EventKind is a kind of [Event].
type EventKind string

// The kinds of events.
const (
	RequestEnded    EventKind = "request_ended"
	RequestRefused  EventKind = "request_refused" // before it began; see [Services.Refused]
	PipelineBegan   EventKind = "pipeline_started"
	PipelineRetried EventKind = "pipeline_retried"
	// PipelineEnded says that a pipeline is completed or has failed. The tool that failed is rolled
	// back, unless the status forbids it.
	PipelineEnded EventKind = "pipeline_ended"
)

// Services are what a content agent consists of. They are safe for concurrent use.
type Services struct {
	Store   *portfolio.Store
	Journal *sqlite.Store
	Agent   *agent.Agent
	Runner  *plan.Runner
	Hub     *live.Hub // runs the conversations

	cfg    Config
	screen *screen.Screen

	mu        sync.Mutex
	pipelines map[string]*driven // those in progress here, by their artifacts
}

// New opens the file and makes the services.
func New(cfg Config) (s *Services, err error) {
	cfg.Lease, cfg.Logger = cmp.Or(cfg.Lease, 4*time.Second), cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Recover, cfg.Drain = cmp.Or(cfg.Recover, -1), cmp.Or(cfg.Drain, 10*time.Second)
	if cfg.Observe == nil {
		cfg.Observe = func(Event) {}
	}
	s = &Services{cfg: cfg, pipelines: map[string]*driven{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.Store, err = portfolio.Open(cfg.DB); err != nil {
		return s, err
	}
	if s.Journal, err = sqlite.Open(s.Store.Path(), sqlite.Config{}); err != nil {
		return s, err
	}
	list, err := contenttools.All(contenttools.Config{Store: s.Store, Sources: cfg.Sources, Images: cfg.Images,
		ImageSize: cfg.ImageSize, Mocks: cfg.Mocks, Logger: cfg.Logger})
	if err != nil {
		return s, err
	}
	if s.screen, err = screen.New(screen.Config{Logger: cfg.Logger}); err != nil {
		return s, err
	}
	mem, err := s.memory()
	if err != nil {
		return s, err
	}
	instructions, err := contenttools.Instructions()
	if err != nil {
		return s, err
	}
	hooks, policies := []agent.Hooks{s.screen.Hooks()}, []tools.Policy{s.policy}
	if cfg.Real {
		heard := consent.Listen(func() *agent.Agent { return s.Agent })
		hooks, policies = append(hooks, heard.Hooks()), append(policies, s.consent(heard))
	}
	s.Agent, err = agent.New(agent.Config{Name: "content", Provider: &router{s, cfg.Model}, Instructions: instructions,
		Tools: append(list, s.workTools()...), Policies: policies,
		Journal: s.Journal, Lease: cfg.Lease, Memory: mem, Hooks: append(hooks, cfg.Hooks...),
		StopWhen: []stop.Condition{stop.AfterTool(contenttools.StructuredResponse)}, Logger: cfg.Logger})
	if err != nil {
		return s, err
	}
	if s.Runner, err = plan.New(plan.Config{Agent: s.Agent, AskOnFailure: true, Lease: cfg.Lease,
		AcceptChanges: true, // a newer program continues what an older one began; the tools can be repeated
		Grace:         time.Second, Input: s.input, Event: s.event,
		Logger: cfg.Logger}); err != nil {
		return s, err
	}
	s.Hub, err = live.New(live.Config{Agent: s.Agent, Recover: cfg.Recover, Drain: cfg.Drain, Logger: cfg.Logger})
	return s, err
}

// Close waits for runs to come to a safe point, and closes the file.
func (s *Services) Close() (err error) {
	if s.Hub != nil {
		if err = s.Hub.Close(); errors.Is(err, context.DeadlineExceeded) {
			s.cfg.Logger.Info("what is in progress is continued by the next process", "runs", err)
			err = nil
		}
	}
	if s.Journal != nil {
		err = errors.Join(err, s.Journal.Close())
	}
	if s.Store != nil {
		err = errors.Join(err, s.Store.Close())
	}
	return err
}

// input gives the calls of a pipeline its user and trace.
func (s *Services) input(node *plan.Node, in *agent.Input) {
	id, _ := node.Input["artifactId"].(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pipelines[id]
	if p == nil { // it was canceled
		return
	}
	in.User, in.Labels, in.Pipeline = p.User, map[string]string{"trace": p.Trace}, p.Name
}

// event passes on what a tool of a pipeline reports.
func (s *Services) event(node string, ev agent.Event) {
	note, ok := ev.(*agent.Progress)
	if d := s.driven(ev.Envelope().Session()); ok && d != nil {
		d.report(Progress{Tool: node, Text: upper(results[node]) + ": " + note.Text, Done: note.Done})
	}
}

// Recover continues the pipelines of processes that have died, and rolls back what nobody
// continues. It waits for their leases.
func (s *Services) Recover(ctx context.Context) error {
	var left []Pipeline
	for head, err := range s.Journal.Heads(ctx,
		journal.Filter{Prefix: contenttools.PipelinePrefix, Kind: "plan", Status: statusRunning}) {
		if err != nil {
			return err
		}
		p, ok, err := s.Store.PipelineNamed(ctx, head.Session)
		if err != nil {
			return err
		}
		if ok && !p.Stopped && len(head.Open) == 0 && !s.running(p.Artifact) {
			left = append(left, Pipeline{Pipeline: p, State: PipelineRunning})
		}
	}
	var errs []error
	for _, p := range left {
		// so that it counts; it was admitted before, so it goes on in any case
		release, err := s.admit(ctx, p.User, p.Tools)
		if err != nil {
			release = func() {}
		}
		d, err := s.begin(ctx, p, Job{})
		if err != nil { // somebody has been quicker
			release()
			continue
		}
		out, err := s.drive(d)
		d.end()
		release()
		if err != nil {
			errs = append(errs, fmt.Errorf("assistant: continuing %s: %w", p.Name, err))
		}
		s.ended(&out, 0)
	}
	_, err := s.Store.RollBackAbandoned(ctx)
	return errors.Join(append(errs, err)...)
}

func (s *Services) running(artifact string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.pipelines[artifact]
	return ok
}
