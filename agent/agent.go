package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync/atomic"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// An Agent is a model with instructions and tools. Make one with [New]. It is safe for concurrent
// use: different sessions run in parallel, and each session has one run at a time.
type Agent struct {
	setup // fixed at creation

	sessions *session.Sessions
}

// A setup is what [New] makes from a Config. Subagents without a journal share it.
type setup struct {
	cfg          Config
	provider     provider.Provider // with its guard
	registry     *tools.Registry
	own          *toolset              // of the registry
	sources      []namedSource         // in the order of their names
	lists        *openLists            // what they have listed for runs that are open
	changeable   bool                  // runs may have other tools: there are sources or lazy tools
	children     map[string]*agentTool // subagents, by the name of the tool
	owners       map[string]work.Owner // tools whose calls own work, among them the subagents
	modes        []mode                // at least one
	pending      pending               // what each run begins with
	memoryConfig *memoryConfig         // nil without Config.Memory
	breakers     *circuit.Set          // of tools
	redact       machine.Redactor
	logger       *slog.Logger
	abandoned    *atomic.Int64 // functions that were abandoned and still run
}

// Name returns Config.Name; "" for a nil Agent.
func (a *Agent) Name() string {
	if a == nil {
		return ""
	}
	return a.cfg.Name
}

// Owner returns Config.Owner, or the name that was made up: with it begin the owners of the leases
// that this process takes.
func (a *Agent) Owner() string {
	if a == nil {
		return ""
	}
	return a.cfg.Owner
}

// Journal returns the store of the agent's sessions: Config.Journal, or one in memory.
func (a *Agent) Journal() journal.Store {
	if a == nil || a.sessions == nil {
		return nil
	}
	return a.sessions.Store
}

// Tools returns the agent's own tools, in order. Those of its sources belong to a run.
func (a *Agent) Tools() *tools.Registry {
	if a == nil {
		return nil
	}
	return a.registry
}

// Modes returns the names of the agent's modes, in order; none if Config.Modes is empty.
func (a *Agent) Modes() []string {
	if a == nil {
		return nil
	}
	names := make([]string, len(a.cfg.Modes))
	for i := range names {
		names[i] = a.cfg.Modes[i].Name
	}
	return names
}

// Abandoned returns how many abandoned functions still run: model calls, tool calls, compactions,
// calls of Config.Journal, and functions that write notes (package notes) or list tools
// (Config.Sources).
// A function is abandoned if it hasn't returned 5 s after the end of its context. What it returns
// later is dropped.
func (a *Agent) Abandoned() int {
	if a == nil || a.abandoned == nil {
		return 0
	}
	return int(a.abandoned.Load())
}

// newID returns an id that can't be guessed: 128 bits.
func newID(prefix string) string {
	var b [16]byte
	rand.Read(b[:]) // never fails: see its documentation
	return prefix + hex.EncodeToString(b[:])
}

// orBackground returns ctx, or the background context if it is nil.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
