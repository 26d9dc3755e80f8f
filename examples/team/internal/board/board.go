package board

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
)

// A Config configures the handler of [New]. All functions are required. What one of them can't tell
// isn't shown; the error is logged.
type Config struct {
	Hub   *live.Hub    // the conversations of the guide; they belong to the user "you"
	Plans *plan.Runner // whose plans are shown
	Feed  *Feed        // what workers do at the moment
	About string       // who answers, for the notice; empty: no notice
	Dir   string       // the directory in which the team works
	// Examples are requests that work, for the empty screen.
	Examples []string
	// Goless says why nothing can be built; empty if the go command is there.
	Goless string

	// Staged returns the files that a step of a run has changed, also after they were merged.
	Staged func(ctx context.Context, run, node string) ([]FileChange, error)
	// Checks returns the checks of a step so far, in their order.
	Checks func(ctx context.Context, run, node string) ([]CheckRun, error)
	// Done returns what a run has made; nil until it has completed.
	Done func(ctx context.Context, run string) (*Summary, error)
	// Background returns the work that a conversation has started beside it. [Feed.Poke] has pages
	// ask again.
	Background func(ctx context.Context, session string) ([]BackgroundWork, error)
	// Undo takes back all that a run has written.
	Undo func(ctx context.Context, session, run string) error
	// Grants returns what is allowed in this project without a question. Revoke ends one.
	Grants func(ctx context.Context) ([]Grant, error)
	Revoke func(ctx context.Context, id string) error
}

// A FileChange is a file that a step has changed.
type FileChange struct {
	Name    string `json:"name"`
	Diff    string `json:"diff,omitempty"` // unified
	Added   int    `json:"added"`          // lines
	Removed int    `json:"removed"`        // lines
}

// A CheckRun is a check that was run on the result of a round of a step.
type CheckRun struct {
	Round   int           `json:"round"`  // from 1
	Rounds  int           `json:"rounds"` // how many there may be
	Name    string        `json:"name"`
	Command string        `json:"command,omitempty"`
	Output  string        `json:"output,omitempty"`
	Passed  bool          `json:"passed"`
	Took    time.Duration `json:"took,omitempty"` // nanoseconds
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
