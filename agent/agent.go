package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/tools"
)

// A Config makes an [Agent]. Only Provider is needed.
type Config struct {
	Name         string
	Provider     provider.Provider
	Instructions string // the system text
	Tools        []tools.Tool

	Model     string // asked of the Provider; empty: its own
	MaxOutput int    // tokens of one answer; 0: the provider's default
	Sampling  *provider.Sampling
	Reasoning *provider.ReasoningOptions
	// DisableParallelToolCalls asks the model for at most one tool call at a time, where the provider can be told.
	DisableParallelToolCalls bool
	// Options are passed to the provider named by the key: see provider.Request.
	Options map[string]json.RawMessage

	// Journal keeps the facts of sessions. Without one they are kept in memory, as values, by the Agent: named sessions
	// until [Agent.Delete], unnamed ones until their run ends.
	Journal journal.Store
	// Owner names this process to the Journal; empty: a name is made up.
	Owner string
	// Lease is how long a session in the Journal is this process's own after it was last heard of: for so long nobody goes
	// on with a session whose process has died. 0: 30 s; at least 100 ms. It is renewed after a third of it.
	Lease time.Duration

	Limits Limits
	Modes  []Mode
	// Policies judge calls by their final input: deny beats ask beats allow. They may be called from several goroutines.
	Policies []tools.Policy
	// Rules are standing approvals that hold in every session, beside those that people give in one: each for a tool with
	// the schema of that fingerprint, see [tools.Definition.SchemaHash]. They can't be revoked but here.
	Rules []Rule
	Hooks []Hooks
	// StopWhen ends a run, as completed, when one of the conditions holds after a step.
	StopWhen []Condition
	// PauseExpires is how long a person has to decide, for tools that don't say; 0: for ever.
	PauseExpires time.Duration
	// Breakers has the breakers of tools and of what they depend on (tools.Spec.Resource), shared by all sessions; give the same
	// to all agents that call the same resources. Its ProbeTimeout shouldn't be shorter than the longest time limit of a tool.
	// nil: the Agent has its own, with the figures of circuit.Tool(), and a ProbeTimeout that is long enough. A tool without a
	// breaker says so (tools.Spec.NoBreaker).
	Breakers *circuit.Set
	// InDoubt says what is done with a call that was started and that nobody knows the end of, unless it may be repeated.
	InDoubt InDoubt

	// Memory keeps conversations within the model's window; nil: they are sent whole.
	Memory *Memory
	// Compose returns the system text for a mode ("" without modes), in place of Instructions and of the mode's: package
	// agent/prompt composes it from files. It is asked before each model call and should be quick; a text that differs from
	// that of the step before is recorded, and costs the provider's prompt cache. Its failure fails the run.
	Compose func(mode string) (string, error)

	// Redact is applied to text before it is journaled or shown to a model: prompts, replies, inputs and results of tools,
	// errors. Deltas are shown to a person as they come.
	Redact func(string) string
	Logger *slog.Logger // nil: nothing is logged
	// NoGuard leaves out the guard that is otherwise put around Provider: retries by class, and its timeouts.
	NoGuard bool
}

// InDoubt says what is done with a call in doubt.
type InDoubt uint8

// What is done with a call in doubt. One that may be repeated is repeated, always.
const (
	AskInDoubt  InDoubt = iota // a person decides
	TellInDoubt                // the model is told that nobody knows, and goes on
)

// A Mode is a way of working: other tools, other limits, more instructions.
type Mode struct {
	Name         string
	Instructions string // after those of the Config
	// Tools keeps some of the agent's tools, of those whose Spec permits the mode; nil: all of them.
	Tools  tools.Filter
	Limits *Limits // over those of the Config
	Model  string  // asked of the Provider in this mode; empty: the Config's
}

// A mode is a Mode with what follows from it.
type mode struct {
	Mode
	offered []*tools.Definition
	names   []string
	told    []provider.Tool
	system  string
	limits  Limits // the mode's over the Config's over the defaults
}

// An Agent is a model with instructions and tools. It is safe for concurrent use: sessions run beside each other, one run
// at a time in each.
type Agent struct {
	// fixed at creation
	cfg      Config
	provider provider.Provider
	guarded  *guard.Guard // the same; nil for a NoGuard agent
	registry *tools.Registry
	prints   []ToolFingerprint     // of the registry
	breakers *circuit.Set          // of tools
	memory   *gear                 // nil without a Config.Memory
	children map[string]*agentTool // agents that are tools, by the name of the tool
	plain    mode                  // without modes
	modes    []mode
	log      *slog.Logger
	owner    string
	lease    time.Duration
	prices   map[string]*provider.Prices // of the models that the Config asks for; nil: not known
	redact   func(string) string
	record   int // bytes that a record of the Journal has at most
	hooked   struct{ step, afterStep, tool, afterTool bool }

	left   atomic.Int64 // tool calls and writers of notes that were left behind and still run
	models sync.Pool    // of *modelCall

	mu       sync.Mutex // guards what follows
	sessions map[string]*session
	draining bool
	idle     chan struct{} // while draining: closed when no run is under way
}

// New returns an agent. The error joins everything that is wrong with the Config, tools and modes included.
func New(cfg Config) (*Agent, error) {
	a := &Agent{cfg: cfg, log: cfg.Logger, owner: cfg.Owner, lease: cmp.Or(cfg.Lease, defaultLease), record: journal.MaxRecord, sessions: make(map[string]*session)}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.owner == "" {
		a.owner = newID("o-")
	}
	if a.redact = contained(cfg.Redact); cfg.Redact == nil {
		a.redact = valid
	}
	a.cfg.Journal = containStore(cfg.Journal)
	errs := a.checkTexts()
	if err := a.addMemory(); err != nil {
		errs = append(errs, err)
	}
	reg, err := tools.NewRegistry(a.adopt(a.cfg.Tools)...)
	if err != nil {
		errs = append(errs, &ConfigError{Field: "Tools", Problem: err.Error(), Err: err})
		reg, _ = tools.NewRegistry()
	}
	a.registry, a.prints = reg, prints(reg)
	if a.breakers = cfg.Breakers; a.breakers == nil {
		a.breakers = a.ownBreakers()
	}
	errs = append(errs, a.addModes()...)
	if a.provider, err = a.guard(); err != nil {
		errs = append(errs, err)
	}
	for i, p := range cfg.Policies {
		if p == nil {
			errs = append(errs, &ConfigError{Field: fmt.Sprintf("Policies[%d]", i), Problem: "it is nil"})
		}
	}
	if v := reflect.ValueOf(cfg.Journal); v.Kind() == reflect.Pointer && v.IsNil() {
		errs = append(errs, &ConfigError{Field: "Journal", Problem: fmt.Sprintf("it is a nil %T; look at the error with which it was opened, or leave it out", cfg.Journal)})
	}
	if a.lease < 100*time.Millisecond || a.lease > journal.MaxTTL {
		errs = append(errs, &ConfigError{Field: "Lease", Problem: fmt.Sprintf("it is %v; give 100 ms to %v, or 0 for %v", cfg.Lease, journal.MaxTTL, defaultLease)})
	}
	if cfg.MaxOutput < 0 || cfg.PauseExpires < 0 || cfg.InDoubt > TellInDoubt {
		errs = append(errs, &ConfigError{Field: "MaxOutput, PauseExpires or InDoubt", Problem: "it is out of range; 0 is the default"})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	a.addPrices()
	for _, h := range cfg.Hooks {
		a.hooked.step = a.hooked.step || h.BeforeStep != nil
		a.hooked.afterStep = a.hooked.afterStep || h.AfterStep != nil
		a.hooked.tool = a.hooked.tool || h.BeforeTool != nil
		a.hooked.afterTool = a.hooked.afterTool || h.AfterTool != nil
	}
	return a, nil
}

// contained returns a host's function for redacting that withholds the text if it panics. Its text is valid UTF-8.
func contained(redact func(string) string) func(string) string {
	return func(s string) (out string) {
		defer func() {
			if recover() != nil {
				out = "[withheld: redacting it failed]"
			}
		}()
		return valid(redact(s))
	}
}

// valid returns s as valid UTF-8: what else is in a text comes back from a journal as another.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// checkTexts says which of the Config's names and texts are no valid UTF-8.
func (a *Agent) checkTexts() (errs []error) {
	check := func(field, text string) {
		if !utf8.ValidString(text) {
			errs = append(errs, &ConfigError{Field: field, Problem: "it is no valid UTF-8"})
		}
	}
	check("Name", a.cfg.Name)
	check("Model", a.cfg.Model)
	check("Instructions", a.cfg.Instructions)
	for i, m := range a.cfg.Modes {
		check(fmt.Sprintf("Modes[%d]", i), m.Name+m.Instructions+m.Model)
	}
	return errs
}

// guard returns the Provider with a guard around it, unless the Config leaves it out.
func (a *Agent) guard() (provider.Provider, error) {
	idle := a.cfg.Limits.Idle // 0: guard's default, which is for providers without a guard of their own
	if idle < 0 {
		idle = 365 * 24 * time.Hour // the longest that a guard takes
	}
	g, err := guard.New(a.cfg.Provider, guard.Config{
		Name: a.cfg.Name, Idle: idle, FirstChunk: idle,
		OnRetry: func(ctx context.Context, f guard.Failure) {
			if c, ok := ctx.(runContext); ok { // else it is a note's, whose writer may have been left behind
				mc := c.x.model
				mc.tried, mc.rough = append(mc.tried, f.Err), true
			}
			a.log.WarnContext(ctx, "agent: a model call failed and is made again", "attempt", f.Attempt, "class", f.Class, "wait", f.Wait, "error", f.Err)
		},
	})
	if err != nil { // a nil Provider, first of all: that is no use without a guard either
		return nil, &ConfigError{Field: "Provider", Problem: err.Error(), Err: err}
	}
	if a.cfg.NoGuard {
		return a.cfg.Provider, nil
	}
	a.guarded = g
	return g, nil
}

func (a *Agent) addModes() []error {
	var errs []error
	known := make(map[string]bool)
	build := func(m Mode) mode {
		keep := []tools.Filter{tools.InMode(m.Name)}
		if m.Tools != nil {
			keep = append(keep, m.Tools)
		}
		out := mode{Mode: m, offered: a.registry.Filter(keep...), system: a.cfg.Instructions}
		if m.Limits != nil {
			out.limits = *m.Limits
		}
		out.limits = out.limits.or(a.cfg.Limits).withDefaults()
		for _, d := range out.offered {
			out.names = append(out.names, d.Name())
		}
		out.told = tools.Told(out.offered)
		if m.Instructions != "" {
			if out.system != "" {
				out.system += "\n\n"
			}
			out.system += m.Instructions
		}
		return out
	}
	a.plain = build(Mode{})
	for i, m := range a.cfg.Modes {
		if m.Name == "" || known[m.Name] {
			errs = append(errs, &ConfigError{Field: fmt.Sprintf("Modes[%d]", i), Problem: fmt.Sprintf("the name %q is empty or used twice", m.Name)})
			continue
		}
		known[m.Name] = true
		a.modes = append(a.modes, build(m))
	}
	for _, d := range a.registry.All() {
		for _, name := range d.Spec().Modes {
			if !known[name] {
				errs = append(errs, &ConfigError{Field: "Tools", Problem: fmt.Sprintf("the tool %q names the mode %q, which isn't in Config.Modes", d.Name(), name)})
			}
		}
	}
	return errs
}

// Tools returns the agent's tools, in order.
func (a *Agent) Tools() *tools.Registry { return a.registry }

// LeftBehind returns how many tool calls, and functions that write notes ([ProgressNotes], [ContextReset]), ignored the end of their
// context, were left behind, and still run.
func (a *Agent) LeftBehind() int { return int(a.left.Load()) }

// Run runs an input to its end or to a pause, and returns what came of it. The error is set for failed runs and for inputs
// that can't be taken; a run that was stopped, by a limit or by the end of ctx, has its reason in [Result.Err]. The Result
// is nil only if no run was begun.
func (a *Agent) Run(ctx context.Context, in Input) (*Result, error) {
	var res *Result
	var failure error
	a.drive(ctx, &in, false, func(ev Event, err error) bool {
		if err != nil {
			failure = err
		}
		if end, ok := ev.(RunEnded); ok {
			res = end.Result
		}
		return true
	})
	return res, failure
}
