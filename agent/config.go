package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/stop"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Config configures an [Agent]. Only Provider is required: an agent that answers and uses tools
// needs nothing beyond the first group. [New] checks the Config; it mustn't be changed afterwards.
type Config struct {
	// Provider is the model. These four fields are what you need first: the model, what it is told,
	// and what it may use.
	Provider     provider.Provider
	Instructions string // the system text
	Tools        []tools.Tool
	// Name names the agent in events and traces. The open run of an agent with another name is
	// resumed only with AcceptChanges of a [Resumption] or a [Leg].
	Name string

	// Where sessions are stored: by default in this process, which is enough until a run must
	// survive a restart.
	//
	// Journal keeps the facts of sessions. Without one the Agent keeps them in memory: named
	// sessions until [Session.Delete], unnamed ones until their run ends.
	Journal journal.Store
	// Owner names this process to the Journal, in at most 256 bytes without control characters;
	// empty: a name is made up.
	Owner string
	// Lease is how long a session in the Journal belongs to this process without renewal. If the
	// process dies, other processes can resume the session after that time. It is renewed after a
	// third of it. 0: 30 s; at least 100 ms.
	Lease time.Duration

	// Who decides what a run may do: by default each tool's own Spec says which calls need
	// approval.
	//
	// Policies decide on calls by their final input: deny overrides ask, and ask overrides allow.
	// One may permit a call that its tool asks about: see tools.Verdict. They may be called from
	// several goroutines at a time.
	Policies []tools.Policy
	// Rules are standing approvals for all sessions, in addition to those that people give in one
	// session. Each is for a tool whose schema and description have that fingerprint: see
	// [tools.Definition.Fingerprint]. They can't be revoked during the agent's lifetime.
	Rules []Rule
	// Roles returns the roles that a user has, for tools whose Spec has Approvers; it is required
	// if there is one. It is asked whenever somebody decides on a call of such a tool, whichever
	// way the decision comes, again when the run takes a decision that another process has
	// recorded, before an approved call starts (if it isn't known then, the call is asked about
	// again), and about who gave a standing approval when that would answer. session is the one in
	// which people decide: for work of subagents, plans and teams that of the conversation. It has
	// 10 s, and may be called from several goroutines at a time. An error, or a panic, is neither
	// yes nor no: the decision is a *[RolesError], or waits where it is recorded and is looked at
	// again.
	Roles func(ctx context.Context, session, user string) ([]string, error)
	// PauseExpires is how long a person has to decide, for tools that don't set Spec.Expires; 0:
	// without a limit.
	PauseExpires time.Duration
	// InDoubt says what happens to a call that was started and of which it isn't known how it
	// ended, unless it may be repeated.
	InDoubt InDoubt
	// Hooks observe and change what a run does, in this order.
	Hooks []Hooks

	// What the model is shown: by default the instructions, the tools, and the whole conversation.
	//
	// Params go with every request.
	Params Params
	// Modes are ways of working with their own tools and instructions. A session begins in the
	// first of them; none: all runs work in the same way.
	Modes []Mode
	// Sources are tools that may change during the agent's lifetime. They are listed when a run
	// starts or is resumed, all at the same time, with a context that says for whom
	// ([tools.ListingOf]). A change takes effect when the next run starts, or with [LoadTools] in
	// the next step; it is recorded as a [machine.ToolsChanged]. The model is offered the agent's
	// own tools first, then those of sources in the order of the sources' names, then those that
	// came later. A tool that disappears is offered until its run ends, and a call of it is
	// answered that it is gone.
	//
	// A source has 10 s to list, and 1 s for 30 s after it didn't list in time. If it fails when a
	// run starts, the run has none of its tools. If it fails in the middle of a run, or when one is
	// resumed that this process has driven before, the run keeps those that it has. In another
	// process a run with open calls of them isn't resumed ([ChangedError]). The failure is logged
	// and shown ([SourceFailed]), and so are tools that can't be used, for example because another
	// tool has the name.
	Sources []tools.Source
	// Memory keeps conversations within the model's window; nil: the whole conversation is sent.
	Memory *Memory
	// Compose returns the system text, instead of Instructions and the mode's: package agent/prompt
	// composes it from files. It is called before each model call and should be quick. A text that
	// differs from that of the step before is stored, and costs the provider's prompt cache. If it
	// fails, the run fails.
	Compose func(ctx context.Context, in ComposeInput) (string, error)
	// NoPromptCache turns prompt caching off: the requests of steps have Cache set otherwise. It
	// saves most of the price of a conversation that is sent again with each step, but some
	// providers charge more for what they put into the cache, which single calls don't make up for.
	// What Params.Options mark is marked in either case.
	NoPromptCache bool
	// Redact is applied to text before it is stored, logged or shown to a model: prompts, replies,
	// inputs and results of tools with their keys, names of files, addresses of sources, the names
	// of calls that no tool has, errors. A key that is then equal to another one of its object gets
	// a number. Its results are redacted again when they are part of a later fact, so it must leave
	// its own replacements alone. It may be called from several goroutines at a time.
	//
	// Not redacted are deltas while they are shown, what must match something (names and schemas of
	// tools, ids, users, roles, owners, keys and labels, by which sessions are found), the content
	// and address of a file, opaque data of a provider, Instructions, and the error of Run, which
	// is the host's.
	Redact func(string) string

	// Failures and limits: by default runs are limited, and failing models and tools are handled.
	//
	// Limits bound each run; the zero value stands for the defaults, which [Limits] lists.
	Limits Limits
	// StopWhen completes a run when one of the conditions holds after a step.
	StopWhen []stop.Condition
	// Breakers are the breakers of tools and of the resources that they depend on
	// (tools.Spec.Resource), shared by all sessions. Give the same set to all agents that use the
	// same resources. Its ProbeTimeout should be at least the longest time limit of a tool. nil:
	// the Agent has its own set, with the figures of circuit.Tool() and a sufficient ProbeTimeout.
	// tools.Spec.NoBreaker exempts a tool.
	Breakers *circuit.Set
	// NoGuard uses Provider without the guard that otherwise wraps it: retries by class, and
	// timeouts.
	NoGuard bool
	Logger  *slog.Logger // nil: nothing is logged
}

// A ComposeInput says for what Config.Compose composes the system text.
type ComposeInput struct {
	Session string
	Run     string
	Mode    string // "" without modes
	User    string
	Labels  provider.LabelSet // of the run
}

// Params are part of every request to the model. The zero value leaves everything to the provider.
type Params struct {
	Model     string // empty: the provider's own
	MaxOutput int    // tokens of one answer; 0: the provider's default
	Sampling  *provider.Sampling
	Reasoning *provider.ReasoningOptions
	// DisableParallelToolCalls asks the model for at most one tool call at a time, if the provider
	// supports that.
	DisableParallelToolCalls bool
	// Options are passed to the provider named by the key: see provider.Request.
	Options map[string]json.RawMessage
}

// InDoubt says what happens to a call in doubt: see Config.InDoubt.
type InDoubt uint8

// What happens to a call in doubt. A call that may be repeated is always repeated.
const (
	AskInDoubt  InDoubt = iota // a person decides
	TellInDoubt                // the model reads that it isn't known how the call ended, and the run continues
)

// A Mode is a way of working, with its own selection of tools, limits and additional instructions.
type Mode struct {
	Name         string
	Instructions string // after those of the Config
	// Tools keeps some of the agent's tools, of those whose Spec permits the mode; nil: all of
	// them.
	Tools  tools.Filter
	Limits *Limits // override those of the Config
	Model  string  // asked of the Provider in this mode; empty: the Config's
}

// A mode is a Mode with the values that New derives from it.
type mode struct {
	Mode
	index  int // in Agent.modes
	system string
	limits Limits // the mode's over the Config's over the defaults
}

// defaultLease is how long the lease of a session lasts: see Config.Lease.
const defaultLease = 30 * time.Second

// New returns an agent. The error joins an *[ArgError] for everything that is wrong with the
// Config, its tools and its modes.
func New(cfg Config) (*Agent, error) {
	a := new(Agent)
	errs := checkConfig(&cfg)
	cfg.Owner, cfg.Lease = cmp.Or(cfg.Owner, newID("o-")), cmp.Or(cfg.Lease, defaultLease)
	cfg.Hooks = slices.Clone(cfg.Hooks)
	a.setup = setup{cfg: cfg, logger: slog.New(slog.DiscardHandler), redact: machine.Redactor(cfg.Redact),
		abandoned: new(atomic.Int64)}
	if cfg.Logger != nil {
		a.logger = slog.New(contain.Handler(cfg.Logger.Handler(), a.redact.Text))
	}
	stored := session.Config{Store: contain.Store(cfg.Journal, a.counted()), Record: journal.MaxRecord,
		Owner: cfg.Owner, Lease: cfg.Lease, Grace: grace, Redact: a.redact, Logger: a.logger, NewID: newID,
		Delete: a.deleteOwn}
	if cfg.Journal == nil {
		stored.Store, stored.InMemory, stored.Lease = &journal.MapStore{}, true, journal.MaxTTL
	}
	a.sessions = session.New(stored)
	errs = append(errs, a.addMemory())
	var err error
	if a.registry, err = tools.NewRegistry(a.adopt(a.cfg.Tools)...); err != nil {
		errs = append(errs, &ArgError{Field: "Config.Tools", Problem: err.Error(), Err: err})
		a.registry, _ = tools.NewRegistry()
	}
	for _, d := range a.registry.All() {
		if err := a.checkApprovers(d); err != nil {
			errs = append(errs, &ArgError{Field: "Config.Roles", Problem: err.Error(), Err: err})
		}
	}
	errs = append(errs, a.addSources()...)
	if a.breakers = cfg.Breakers; a.breakers == nil {
		a.breakers = a.ownBreakers()
	}
	errs = append(append(errs, a.addModes()...), a.addOwnTools())
	a.pending = a.newPending()
	a.provider, err = a.guard()
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return a, nil
}

// newPending says which facts of the agent's runs may wait for the next append.
func (a *Agent) newPending() pending {
	cfg := &a.cfg
	return pending{
		resultWaits: cfg.Memory == nil && cfg.Compose == nil && len(cfg.StopWhen) == 0 && len(a.hooksAt(
			func(h *Hooks) bool { return h.BeforeStep != nil || h.AfterStep != nil || h.Around != nil })) == 0,
		replyWaits: len(cfg.Policies) == 0 && len(a.sources) == 0 &&
			len(a.hooksAt(func(h *Hooks) bool { return h.BeforeTool != nil || h.Around != nil })) == 0,
	}
}

// checkConfig returns what is wrong with single fields of a Config.
func checkConfig(cfg *Config) (errs []error) {
	bad := func(field, format string, args ...any) {
		errs = append(errs, &ArgError{Field: "Config." + field, Problem: fmt.Sprintf(format, args...)})
	}
	text := func(field, text string) {
		if !utf8.ValidString(text) {
			bad(field, "it isn't valid UTF-8")
		}
	}
	text("Name", cfg.Name)
	text("Params.Model", cfg.Params.Model)
	text("Instructions", cfg.Instructions)
	for i, m := range cfg.Modes {
		text(fmt.Sprintf("Modes[%d]", i), m.Name+m.Instructions+m.Model)
	}
	for i, h := range cfg.Hooks {
		if h.required && h.BeforeFinish == nil {
			bad(fmt.Sprintf("Hooks[%d]", i), "Require has no function; give it one that says what is missing")
		}
	}
	for i, p := range cfg.Policies {
		if p == nil {
			bad(fmt.Sprintf("Policies[%d]", i), "it is nil")
		}
	}
	if checkLine("Owner", cfg.Owner, journal.MaxLabelValue) != nil {
		bad("Owner", "it has to be valid UTF-8 of at most %d bytes without control characters", journal.MaxLabelValue)
	}
	for name, value := range cfg.Params.Options {
		if !json.Valid(value) {
			bad(fmt.Sprintf("Params.Options[%q]", name), "it isn't JSON")
		}
	}
	if v := reflect.ValueOf(cfg.Journal); v.Kind() == reflect.Pointer && v.IsNil() {
		bad("Journal", "it is a nil %T; look at the error with which it was opened, or leave it out", cfg.Journal)
		cfg.Journal = nil
	}
	if cfg.Lease != 0 && cfg.Lease < 100*time.Millisecond || cfg.Lease > journal.MaxTTL {
		bad("Lease", "it is %v; give 100 ms to %v, or 0 for %v", cfg.Lease, journal.MaxTTL, defaultLease)
	}
	if cfg.Params.MaxOutput < 0 {
		bad("Params.MaxOutput", "it is %d; give a number of tokens, or 0 for the provider's default",
			cfg.Params.MaxOutput)
	}
	if cfg.PauseExpires < 0 {
		bad("PauseExpires", "it is %v; give a time, or 0 for ever", cfg.PauseExpires)
	}
	if cfg.InDoubt > TellInDoubt {
		bad("InDoubt", "it is %d; give AskInDoubt or TellInDoubt", cfg.InDoubt)
	}
	return errs
}

// addModes makes the agent's modes: those of the Config, or one without a name.
func (a *Agent) addModes() (errs []error) {
	known := make(map[string]bool)
	for i, m := range a.cfg.Modes {
		if m.Name == "" || known[m.Name] {
			errs = append(errs, &ArgError{Field: fmt.Sprintf("Config.Modes[%d]", i),
				Problem: fmt.Sprintf("the name %q is empty or used twice", m.Name)})
			continue
		}
		known[m.Name] = true
		a.modes = append(a.modes, a.newMode(m))
	}
	if len(a.modes) == 0 {
		a.modes = []mode{a.newMode(Mode{})}
	}
	for _, d := range a.registry.All() {
		for _, name := range d.Spec().Modes {
			if !known[name] {
				errs = append(errs, &ArgError{Field: "Config.Tools",
					Problem: fmt.Sprintf("the tool %q names the mode %q, which isn't in Config.Modes", d.Name(), name)})
			}
		}
	}
	return errs
}

func (a *Agent) newMode(m Mode) mode {
	out := mode{Mode: m, index: len(a.modes), system: a.cfg.Instructions}
	if m.Limits != nil {
		out.limits = *m.Limits
	}
	out.limits = out.limits.Or(a.cfg.Limits)
	requirePrices(&out.limits, out.limits.Cost)
	out.limits = out.limits.WithDefaults()
	if m.Instructions != "" {
		if out.system != "" {
			out.system += "\n\n"
		}
		out.system += m.Instructions
	}
	return out
}

// mode returns the mode with that name; for the empty name it is the first.
func (a *Agent) mode(name string) (*mode, error) {
	for i := range a.modes {
		if name == "" || a.modes[i].Name == name {
			return &a.modes[i], nil
		}
	}
	known := "the agent has none (Config.Modes)"
	if len(a.cfg.Modes) > 0 {
		known = "the modes are " + strings.Join(a.Modes(), ", ")
	}
	return nil, &ArgError{Field: "Input.Mode", Problem: fmt.Sprintf("there is no mode %q; %s", name, known)}
}

// ownBreakers returns the breakers of an agent whose Config names none. A call takes as long as it
// may: a probe that takes longer than that doesn't exist, and one that takes less must not count as
// lost, or the breaker would never close.
func (a *Agent) ownBreakers() *circuit.Set {
	cfg := circuit.Tool()
	if len(a.cfg.Sources) > 0 { // their tools aren't known yet
		cfg.ProbeTimeout = max(cfg.ProbeTimeout, tools.ProgressLimit+2*grace)
	}
	for _, d := range a.registry.All() {
		longest := d.Spec().Timeout
		if d.Spec().Progress {
			longest = max(longest, d.Spec().ProgressLimit)
		}
		cfg.ProbeTimeout = max(cfg.ProbeTimeout, longest+2*grace)
	}
	cfg.OnChange = func(c circuit.Change) {
		if c.To == circuit.Open {
			a.logger.Warn("agent: calls of a tool are stopped for a while", "breaker", c.Name, "reason", c.Reason,
				"until", c.Until, "error", c.Cause)
		} else {
			a.logger.Info("agent: a breaker has changed", "breaker", c.Name, "from", c.From, "to", c.To,
				"reason", c.Reason)
		}
	}
	return circuit.NewSet(cfg)
}
