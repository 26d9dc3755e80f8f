package agent

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// An Agent is a model with instructions and tools. It is safe for concurrent use: sessions run beside each other, one run
// at a time in each.
type Agent struct {
	setup // fixed at creation

	mu       sync.Mutex // guards what follows
	held     map[string]*sessionLog
	draining bool
	idle     chan struct{} // while draining: closed when no session is held
}

// A setup is what [New] makes of a Config.
type setup struct {
	cfg          Config
	provider     provider.Provider // with its guard
	store        journal.Store
	inMemory     bool // the store is the agent's own, and keeps facts as they are
	registry     *tools.Registry
	fingerprints []machine.ToolFingerprint // of the registry
	children     map[string]*agentTool     // subagents, by the name of the tool
	modes        []mode                    // at least one
	memoryConfig *memoryConfig             // nil without Config.Memory
	breakers     *circuit.Set              // of tools
	prices       map[string]*provider.Prices
	redact       machine.Redactor
	record       int // bytes that a record of the journal has at most
	logger       *slog.Logger
	abandoned    *atomic.Int64 // tool calls and writers of notes that still run though nobody waits for them
}

// Tools returns the agent's tools, in order.
func (a *Agent) Tools() *tools.Registry {
	if a == nil {
		return nil
	}
	return a.registry
}

// Abandoned returns how many tool calls, and functions that write notes ([ProgressNotes], [ContextReset]), ignored the end of
// their context, were abandoned, and still run.
func (a *Agent) Abandoned() int {
	if a == nil || a.abandoned == nil {
		return 0
	}
	return int(a.abandoned.Load())
}

// unnamedPrefix begins the names that sessions get whose input has none.
const unnamedPrefix = "unnamed/"

// newID returns an id that can't be guessed: 128 bits.
func newID(prefix string) string {
	var b [16]byte
	rand.Read(b[:]) // never fails: see its documentation
	return prefix + hex.EncodeToString(b[:])
}
