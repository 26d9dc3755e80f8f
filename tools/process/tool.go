package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Config is the configuration of a [Tool]. Root and Programs are required.
type Config struct {
	// Root is the absolute path of the directory in and below which programs run.
	Root     string
	Programs []Program

	// Spec is the tool's specification. The zero value is safe: the name is "process.run", the risk
	// is High, and calls aren't idempotent, read-only or parallel-safe. A Risk of Medium is kept,
	// for programs whose arguments are checked. Under the zero Approval, calls of programs whose
	// [Program.Risk] is High ask for approval. Timeout is the default for programs without one (0:
	// 60 s). Without a Description, one is made from the programs. Schema is set by the tool. There
	// is a breaker only if Resource names one.
	Spec tools.Spec

	// Inherit names variables of this process that programs get in addition to those of [SafeEnv].
	Inherit []string
	// Set are variables that all programs get, as NAME=value. Some that can make a program run
	// others (GOFLAGS, GIT_DIR, CC, …) are passed only from here and from [Program.Set]: their
	// values must not come from a model or from files of the working root.
	Set []string
	// Jail, if it isn't nil, is where the programs run: see [Jail]. One that doesn't work is an
	// error of [tools.NewRegistry].
	Jail *Jail
	// Wrap, if it isn't nil, puts a program into another jail: it gets the path of the program and
	// its arguments, and returns them, unchanged, after the path and the arguments of a program
	// that runs them: firejail, or a client of containers. It may be called from several goroutines
	// at a time. Checks, risk and approvals are about the words that it gets; the [Result] names
	// its own program. A jail that doesn't work is an error of [tools.NewRegistry], for which the
	// program "true" of PATH is run in it, for 10 s at most.
	Wrap func(argv []string) []string

	// Outputs is the absolute path of a folder for the outputs that are too long for the model,
	// which is made if need be; empty: only what the model reads is kept. All of such an output, at
	// most the lines within its first 8 MiB, is in a file of its own, whose name the model reads,
	// relative to Root if the folder is below that, so that tools for files can read it.
	// Result.File and tools.Exit.File have its path. The newest 20 files stay. Git ignores a folder
	// below Root.
	Outputs string
	// Redact, if it isn't nil, returns the text that is kept in such a file for an output. What an
	// agent redacts in results isn't redacted there.
	Redact func(output string) string

	// Slots limit the processes that run at a time; nil: two for each CPU, only for this tool. A
	// call waits 30 s for a slot.
	Slots *Slots
	// Grace is how long process groups have after each signal.
	Grace Grace
}

// Tool returns a tool that runs the programs of a Config. Its input is a program's name and its
// arguments, and perhaps a directory. An invalid Config is an error of [tools.NewRegistry].
//
// The model reads how the program ended and its output. An exit code other than 0 isn't a failure
// of the call, but of the program: see [tools.Exit]. The host gets the [Result] as the data of the
// outcome. A process that was ended at its time limit is a failure of class Transient, and one that
// couldn't start has the class that [Run] gives it; the model reads the output so far.
//
// A standing approval is for a program with its first argument, such as "git status", or, if that
// is an option, with all arguments.
//
// Output is reported as progress, which also moves the time limit of the call; the tool's own limit
// leaves time for ending a process.
func Tool(cfg Config) tools.Tool { return configured{cfg} }

type configured struct{ cfg Config }

// DefaultName is the tool's name if the Spec has none.
const DefaultName = "process.run"

// Define checks the configuration and compiles the tool.
func (c configured) Define() (*tools.Definition, error) {
	cfg := c.cfg
	cfg.Programs = slices.Clone(cfg.Programs)
	spec := &cfg.Spec
	if spec.Name == "" {
		spec.Name = DefaultName
	}
	t := &tool{cfg: cfg, byName: make(map[string]*Program, len(cfg.Programs)), set: make(map[string][]string)}
	if err := t.complete(); err != nil {
		return nil, fmt.Errorf("tools: %s: %w", spec.Name, err)
	}
	spec = &t.cfg.Spec
	if t.cfg.Slots == nil {
		t.cfg.Slots = NewSlots(0)
	}
	t.asks = spec.Approval == tools.AskIfHigh
	if t.asks {
		spec.Approval = tools.AskNever // approval depends on the call: see ask
	}
	if spec.Risk == tools.Low {
		spec.Risk = tools.High
	}
	spec.Progress = true
	if spec.Resource == "" { // a program that hangs doesn't affect the others
		spec.NoBreaker = true
	}
	if spec.Description == "" {
		spec.Description = t.describe()
	}
	schema, err := t.schema()
	if err != nil {
		return nil, fmt.Errorf("tools: %s: %w", spec.Name, err)
	}
	spec.Schema = schema
	if spec.MaxResult == 0 {
		spec.MaxResult = tools.DefaultMaxResult
	}
	spec.Timeout = t.outer()
	return tools.Raw{Spec: *spec, Run: t.run, Ask: t.ask, Title: t.title, Scope: t.scope, Check: t.check}.Define()
}

// A tool is a checked Config.
type tool struct {
	cfg    Config
	byName map[string]*Program
	base   []string            // the variables that are inherited
	set    map[string][]string // by program: those that are always set
	asks   bool                // calls of high risk need approval
	below  string              // Config.Outputs, relative to the root; empty: it isn't below that
}

// complete checks the configuration and sets the fields that depend on it.
func (t *tool) complete() error {
	cfg := &t.cfg
	if !filepath.IsAbs(cfg.Root) {
		return refuse(fault.Invalid, "Config.Root %q isn't an absolute path; give that of the working directory",
			cfg.Root)
	}
	if err := t.checkOutputs(); err != nil {
		return err
	}
	root, err := filepath.EvalSymlinks(cfg.Root)
	if err == nil && !isDir(root) {
		err = errors.New("it isn't a directory")
	}
	if err != nil {
		return fault.NewFixable("process: Config.Root "+cfg.Root+" can't be used",
			"create the directory, or correct the path", err)
	}
	cfg.Root = root
	if len(cfg.Programs) == 0 {
		return refuse(fault.Invalid, "Config.Programs is empty; name the programs that may run")
	}
	if cfg.Spec.Timeout < 0 {
		return refuse(fault.Invalid, "Spec.Timeout is %v; give 0 for %v, or more", cfg.Spec.Timeout, defaultTimeout)
	}
	for _, name := range cfg.Inherit {
		if err := checkVar(name+"=", false); err != nil {
			return err
		}
	}
	t.base = inherit(append(safeNames(), cfg.Inherit...))
	for i := range cfg.Programs {
		p := &cfg.Programs[i]
		if err := t.admit(p); err != nil {
			return fmt.Errorf("the program %q: %w", p.Name, err)
		}
		if p.Timeout == 0 {
			p.Timeout = cfg.Spec.Timeout
		}
		t.byName[p.Name] = p
		set := slices.Concat(cfg.Set, p.Set)
		for _, kv := range set {
			if err := checkVar(kv, true); err != nil {
				return fmt.Errorf("the program %q: %w", p.Name, err)
			}
		}
		t.set[p.Name] = set
	}
	return t.tryJail()
}

// admit checks one program.
func (t *tool) admit(p *Program) error {
	if p.Name == "" ||
		strings.ContainsFunc(p.Name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '/' || r == '\\' }) {
		return refuse(fault.Invalid, "a name is one word without slashes")
	}
	if t.byName[p.Name] != nil {
		return refuse(fault.Invalid, "two programs have this name")
	}
	if err := checkPath(p.Path); err != nil {
		return err
	}
	if err := checkFile(p.Path); err != nil {
		return err
	}
	if below, err := filepath.Rel(t.cfg.Root, p.Path); err == nil && filepath.IsLocal(below) {
		return refuse(fault.Denied,
			"%s is below the working root, where a call may replace it; keep it elsewhere", p.Path)
	}
	return nil
}

// merge keeps the last variable of each name.
func merge(env []string) []string {
	vars := make(map[string]string, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		vars[name] = value
	}
	return join(vars)
}

// outer returns the time limit of a call: for waiting for a slot, for the program, and for ending
// it.
func (t *tool) outer() (d time.Duration) {
	for i := range t.cfg.Programs {
		d = max(d, t.cfg.Programs[i].Timeout, 0)
	}
	return orDefault(d, defaultTimeout) + t.cfg.Grace.longest() + slotWait
}

// headerRoom is more than the size of the text before an output.
const headerRoom = 512

// beat is the time without output after which the tool reports progress to extend the time limit of
// the call, so that a process ends at its own limit, with its signals, and not at that of the call.
const beat = tools.ProgressExtends / 2

// run runs one call.
func (t *tool) run(ctx context.Context, raw json.RawMessage) (tools.Result, error) {
	cmd, err := t.command(raw)
	if err != nil {
		return tools.Result{}, err
	}
	program, args := cmd.Path, cmd.Args
	if err := t.wrap(cmd); err != nil {
		return tools.Result{}, err
	}
	if t.cfg.Slots.Free() == 0 {
		tools.Progress(ctx, tools.ProgressReport{Text: "waiting for a free slot"})
	}
	if err := t.cfg.Slots.Acquire(ctx, 0); err != nil {
		return tools.Result{}, err
	}
	defer t.cfg.Slots.Release()
	if end, ok := ctx.Deadline(); ok { // the process, with its signals, must end before the deadline
		cmd.Max = min(defaultMax, max(time.Until(end)-t.cfg.Grace.longest(), time.Millisecond))
	}
	cmd.beat = beat
	cmd.OnOutput = func(text string) { tools.Progress(ctx, tools.ProgressReport{Text: text}) }
	cmd.full = t.cfg.Outputs != ""
	r, err := Run(ctx, *cmd)
	r.Program, r.Answer = program, isAnswer(program, args, r.ExitCode) // without the jail
	name := ""
	if r.Truncated || err != nil && len(r.Output) > failedOutput {
		name = t.keep(filepath.Base(program), &r)
	}
	if err != nil {
		return tools.Result{}, shown(r, name, err)
	}
	return tools.Result{Parts: []provider.Part{provider.TextPart(word(r, name))}, Data: r, Exit: r.Exit()}, nil
}
