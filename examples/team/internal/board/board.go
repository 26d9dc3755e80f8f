package board

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/serve"
)

// A Config configures the handler of [New]. Hub and Plans are required; what a nil function would
// tell isn't shown.
type Config struct {
	Hub   *live.Hub    // the conversations of the guide
	Plans *plan.Runner // whose plans are shown
	Feed  *Feed        // what workers do at the moment
	About string       // who answers, for the notice; empty: no notice
	Dir   string       // the directory in which the team works
	// Examples are requests that work, for the empty screen.
	Examples []string
	// Goless says why nothing can be built; empty if the go command is there.
	Goless string

	// Staged returns the files of the copy that a step of a run writes, with what has changed.
	Staged func(ctx context.Context, run, node string) ([]FileChange, error)
	// Checks returns the checks of a step so far, in their order.
	Checks func(ctx context.Context, run, node string) ([]CheckRun, error)
	// Done returns what a run has made; nil until it has completed.
	Done func(ctx context.Context, run string) (*Summary, error)
	// Background returns the work that a conversation has started beside it.
	Background func(ctx context.Context, session string) ([]BackgroundWork, error)
	// Undo takes back all that a run has written.
	Undo func(ctx context.Context, session, run string) error
	// Grants returns what is allowed in this project without a question. Revoke ends one.
	Grants func(ctx context.Context) ([]Grant, error)
	Revoke func(ctx context.Context, id string) error
}

// A FileChange is a file that a step has changed.
type FileChange struct {
	Name           string `json:"name"`
	Diff           string `json:"diff,omitempty"` // unified
	Added, Removed int    // lines
}

// A CheckRun is a check that was run on the result of a round of a step.
type CheckRun struct {
	Round   int           `json:"round"`  // from 1
	Rounds  int           `json:"rounds"` // how many there may be
	Name    string        `json:"name"`
	Command string        `json:"command"`
	Output  string        `json:"output,omitempty"`
	Passed  bool          `json:"passed"`
	Took    time.Duration `json:"took"`
}

// A Summary is what a completed run has made.
type Summary struct {
	Files   []FileChange `json:"files"`
	Command string       `json:"command"` // how the program was called
	Output  string       `json:"output"`  // what it printed
	Agents  []AgentRow   `json:"agents"`
}

// An AgentRow is what an agent has done in a run.
type AgentRow struct {
	Name    string  `json:"name"`
	Steps   int     `json:"steps"`
	In      int     `json:"in"`  // tokens
	Out     int     `json:"out"` // tokens
	Seconds float64 `json:"seconds"`
}

// A BackgroundWork is work beside the conversation.
type BackgroundWork struct {
	ID     string `json:"id"`
	Member string `json:"member"`
	Task   string `json:"task"`
	State  string `json:"state"`            // running, paused, completed, failed or canceled
	Report string `json:"report,omitempty"` // what came of it
}

// A Grant is a permission that holds in this project until it is revoked.
type Grant struct {
	ID   string `json:"id"`
	Text string `json:"text"` // what is allowed
	By   string `json:"by,omitempty"`
}

// A Feed keeps what is shown of workers that are at work: text, calls and output. It is safe for
// concurrent use.
type Feed struct{}

// NewFeed returns an empty Feed.
func NewFeed() *Feed { return &Feed{} }

// Node takes an event of the run of a step: see [plan.Config].Event.
func (f *Feed) Node(node string, ev agent.Event) {}

// New returns the handler of the pages, for the root of a server.
func New(cfg Config) (http.Handler, error) {
	if cfg.Hub.Agent() == nil || cfg.Plans == nil {
		return nil, errors.New("board: Config.Hub and Config.Plans are required")
	}
	if cfg.Feed == nil {
		cfg.Feed = NewFeed()
	}
	chat, err := serve.New(cfg.Hub, serve.Config{Authorize: serve.Local{}.Authorize, Title: "Team",
		Examples: cfg.Examples})
	if err != nil {
		return nil, err
	}
	return serve.Local{}.Handler(chat), nil
}
