package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
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

	// Spec is the tool's specification. The zero value is safe: the name is "process.run", the risk is High, and calls aren't
	// idempotent, read-only or parallel-safe. Under the zero Approval, calls of programs whose [Program.Risk] is High ask for
	// approval. Timeout is the default for programs without one (0: 60 s). Without a Description, one is made from the programs.
	// Schema is set by the tool. There is a breaker only if Resource names one.
	Spec tools.Spec

	// Inherit names variables of this process that programs get in addition to those of [SafeEnv].
	Inherit []string
	// Set are variables that all programs get, as NAME=value.
	Set []string

	// Slots limit the processes that run at a time; nil: two for each CPU, only for this tool. A call waits 30 s for a slot.
	Slots *Slots
	// Grace is how long process groups have after each signal.
	Grace Grace
	// Raw is the number of bytes of raw output for OnResult; see [Command.Raw].
	Raw int
	// OnResult is called with the result of each process, with all its output, before the model reads it. It may
	// be nil.
	OnResult func(ctx context.Context, r Result)
}

// Tool returns a tool that runs the programs of a Config. Its input is a program's name and its arguments, and, where
// programs permit it, a directory, standard input and variables. An invalid Config is an error of
// [tools.NewRegistry].
//
// The model reads how the program ended and its output; an exit code other than 0 isn't a failure of the call. The
// host gets the [Result] as the data of the outcome. A process that was ended at its time limit is a failure of class
// Transient, and one that couldn't start has the class that [Run] gives it; the model reads the output so far.
//
// Output is reported as progress, which also moves the time limit of the call; the tool's own limit leaves time for ending
// a process.
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
	t := &tool{cfg: cfg, byName: make(map[string]*Program, len(cfg.Programs)), env: make(map[string][]string)}
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
	spec.Risk = tools.High
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
	return tools.Raw{Spec: *spec, Run: t.run, Ask: t.ask, Check: t.check}.Define()
}

// A tool is a checked Config.
type tool struct {
	cfg    Config
	byName map[string]*Program
	env    map[string][]string // by program: the variables that are always set
	asks   bool                // calls of high risk need approval
}

// complete checks the configuration and sets the fields that depend on it.
func (t *tool) complete() error {
	cfg := &t.cfg
	if !filepath.IsAbs(cfg.Root) {
		return refuse(fault.Invalid, "Config.Root %q isn't an absolute path; give that of the working directory", cfg.Root)
	}
	root, err := filepath.EvalSymlinks(cfg.Root)
	if err == nil && !isDir(root) {
		err = errors.New("it isn't a directory")
	}
	if err != nil {
		return fault.NewFixable("process: Config.Root "+cfg.Root+" can't be used", "create the directory, or correct the path", err)
	}
	cfg.Root = root
	if len(cfg.Programs) == 0 {
		return refuse(fault.Invalid, "Config.Programs is empty; name the programs that may run")
	}
	if cfg.Spec.Timeout < 0 {
		return refuse(fault.Invalid, "Spec.Timeout is %v; give 0 for %v, or more", cfg.Spec.Timeout, DefaultTimeout)
	}
	for _, name := range cfg.Inherit {
		if err := checkVar(name + "="); err != nil {
			return err
		}
	}
	base := inherit(append(safeNames(), cfg.Inherit...))
	for i := range cfg.Programs {
		p := &cfg.Programs[i]
		if err := t.admit(p); err != nil {
			return fmt.Errorf("the program %q: %w", p.Name, err)
		}
		if p.Timeout == 0 {
			p.Timeout = cfg.Spec.Timeout
		}
		t.byName[p.Name] = p
		env := slices.Concat(base, cfg.Set, p.Set)
		for _, kv := range env {
			if err := checkVar(kv); err != nil {
				return fmt.Errorf("the program %q: %w", p.Name, err)
			}
		}
		t.env[p.Name] = merge(env)
	}
	return nil
}

// admit checks one program.
func (t *tool) admit(p *Program) error {
	if p.Name == "" || strings.ContainsFunc(p.Name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '/' || r == '\\' }) {
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
	if below, err := filepath.Rel(t.cfg.Root, p.Path); err == nil && filepath.IsLocal(below) && !p.InRoot {
		return refuse(fault.Denied, "%s is below the working root, where a call may replace it; keep it elsewhere, or set InRoot", p.Path)
	}
	p.Env = slices.Clone(p.Env)
	for _, name := range p.Env {
		if err := checkVar(name + "="); err != nil {
			return err
		}
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

// An input is the input of a call.
type input struct {
	Program string            `json:"program"`
	Args    []string          `json:"args"`
	Dir     string            `json:"dir"`
	Stdin   string            `json:"stdin"`
	Env     map[string]string `json:"env"`
}

// schema returns the schema of an input, without the fields that no program permits.
func (t *tool) schema() (json.RawMessage, error) {
	type object = map[string]any
	var names, vars []string
	stdin := false
	for i := range t.cfg.Programs {
		p := &t.cfg.Programs[i]
		names = append(names, p.Name)
		vars = append(vars, p.Env...)
		stdin = stdin || p.Stdin
	}
	str := func(about string) object { return object{"type": "string", "description": about} }
	props := object{
		"program": object{"type": "string", "enum": names},
		"args": object{"type": "array", "items": object{"type": "string"}, "maxItems": maxArgs,
			"description": "its arguments, one per element; they are passed unchanged, without a shell"},
		"dir": str("the working directory, relative to the working root; default: the root"),
	}
	if stdin {
		props["stdin"] = str("its standard input; default: empty")
	}
	if len(vars) > 0 {
		slices.Sort(vars)
		own := object{}
		for _, name := range slices.Compact(vars) {
			own[name] = object{"type": "string"}
		}
		props["env"] = object{"type": "object", "properties": own, "additionalProperties": false, "description": "variables to set for it"}
	}
	return json.Marshal(object{"type": "object", "properties": props, "required": []string{"program"}, "additionalProperties": false})
}

// describe returns the tool's description for a model.
func (t *tool) describe() string {
	var b strings.Builder
	b.WriteString("Runs a program, without a shell, and returns its exit code and output. The programs:")
	for i := range t.cfg.Programs {
		p := &t.cfg.Programs[i]
		b.WriteString("\n- " + p.Name)
		if p.Description != "" {
			b.WriteString(": " + p.Description)
		}
	}
	return b.String()
}

// read decodes a validated input.
func (t *tool) read(raw json.RawMessage) (*Program, *input, error) {
	var in input
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, nil, refuse(fault.Invalid, "invalid input: %v", err)
	}
	p, ok := t.byName[in.Program]
	if !ok {
		return nil, nil, refuse(fault.NotFound, "there is no program %.60q; see the tool's description", in.Program)
	}
	return p, &in, nil
}

// ask returns the exact command, which a person approves, in the directory that is meant now; the call runs only if that has the name in the input.
// Whether it asks depends only on the input: a program that is rejected today may be allowed tomorrow, and mustn't run then without approval.
func (t *tool) ask(_ context.Context, raw json.RawMessage) (string, error) {
	p, in, err := t.read(raw)
	if err != nil || !t.asks {
		return "", err
	}
	if p.Risk != nil && p.Risk(slices.Clone(in.Args)) < tools.High {
		return "", nil
	}
	var b strings.Builder
	b.WriteString("run " + quoted(p.Path))
	for _, a := range in.Args {
		b.WriteString(" " + quoted(a))
	}
	b.WriteString(" in " + quoted(resolved(t.cfg.Root, in.Dir)))
	for _, kv := range join(in.Env) {
		b.WriteString(", with " + quoted(kv))
	}
	if in.Stdin != "" {
		fmt.Fprintf(&b, ", reading %d bytes", len(in.Stdin))
	}
	return b.String(), nil
}

// quoted quotes an argument so that a person sees where it begins and ends and what it contains.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:,@%+", r))
	}) {
		return s
	}
	return strconv.Quote(s)
}

// check rejects a call that may not run, right before it runs.
func (t *tool) check(_ context.Context, raw json.RawMessage) error {
	_, err := t.command(raw)
	return err
}

// command makes a command of an input, or returns why it may not run.
func (t *tool) command(raw json.RawMessage) (*Command, error) {
	p, in, err := t.read(raw)
	if err != nil {
		return nil, err
	}
	if p.Check != nil {
		if err := p.Check(slices.Clone(in.Args)); err != nil {
			return nil, refuse(classOr(err, fault.Denied), "%s may not be run with these arguments: %s", p.Name, strings.TrimPrefix(err.Error(), "process: "))
		}
	}
	if in.Stdin != "" && !p.Stdin {
		return nil, refuse(fault.Denied, "%s takes no standard input here", p.Name)
	}
	env := slices.Clone(t.env[p.Name])
	for _, kv := range join(in.Env) {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(p.Env, name) {
			return nil, refuse(fault.Denied, "the variable %.60q may not be set for %s", name, p.Name)
		}
		env = append(env, kv)
	}
	cmd := &Command{Path: p.Path, Args: in.Args, Env: merge(env), Root: t.cfg.Root, Dir: in.Dir, Stdin: in.Stdin, plain: true,
		Timeout: p.Timeout, Extend: p.Extend, Max: p.Max, Grace: t.cfg.Grace, Raw: t.cfg.Raw,
		Keep: max(t.cfg.Spec.MaxResult-headerRoom, minKeep)}
	if err := cmd.check(); err != nil {
		return nil, err
	}
	dir, err := enter(cmd.Root, cmd.Dir, cmd.plain)
	if err != nil {
		return nil, err
	}
	dir.close()
	return cmd, nil
}

// classOr returns the class of an error if it is about the input, else other.
func classOr(err error, other fault.Class) fault.Class {
	switch c := fault.Of(err); c {
	case fault.Invalid, fault.NotFound, fault.Denied:
		return c
	}
	return other
}

// headerRoom is more than the size of the text before an output.
const headerRoom = 512

// failedOutput is the most bytes of output in the error of a process that was ended.
const failedOutput = 32 << 10

// beat is the time without output after which the tool reports progress to extend the time limit of the call, so that a process ends at
// its own limit, with its signals, and not at that of the call.
const beat = tools.ProgressExtends / 2

// run runs one call.
func (t *tool) run(ctx context.Context, raw json.RawMessage) (tools.Result, error) {
	cmd, err := t.command(raw)
	if err != nil {
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
		cmd.Max = min(orDefault(cmd.Max, DefaultMax), max(time.Until(end)-t.cfg.Grace.longest(), time.Millisecond))
	}
	cmd.beat = beat
	cmd.OnOutput = func(text string) { tools.Progress(ctx, tools.ProgressReport{Text: text}) }
	r, err := Run(ctx, *cmd)
	if r.ExitCode >= 0 || r.Took > 0 {
		if t.cfg.OnResult != nil {
			t.cfg.OnResult(ctx, r)
		}
	}
	if err != nil {
		return tools.Result{}, shown(r, err)
	}
	return tools.Result{Parts: []provider.Part{provider.TextPart(word(r))}, Data: r}, nil
}

// word tells a model how a process ended. It leaves out values that differ between runs of the same command, such as the time it
// took.
func word(r Result) string {
	how := "exit code " + strconv.Itoa(r.ExitCode)
	if r.Signal != "" {
		how = "ended by the signal " + r.Signal
	}
	if r.Late {
		how += "; processes that it left behind were ended"
	}
	if r.Truncated {
		how += fmt.Sprintf("; the output has %d lines and is cut", r.Lines)
	}
	if r.Output == "" {
		return how + "; no output"
	}
	return how + "\n" + r.Output
}

// shown converts an error for the model. It keeps the class, and adds the output so far.
func shown(r Result, err error) error {
	var timeout *TimeoutError
	var stop *StopError
	switch {
	case errors.As(err, &timeout):
		return &endedError{class: fault.Transient, text: err.Error() + soFar(r), err: timeout}
	case errors.As(err, &stop) && r.Took > 0:
		return &endedError{class: fault.Of(err), text: "the process was stopped" + soFar(r)}
	}
	return err
}

func soFar(r Result) string {
	if r.Output == "" {
		return "; it had written no output"
	}
	return "; its output until then:\n" + tools.Cut(r.Output, failedOutput)
}

// An endedError is the error of a process that was ended, with its output. It doesn't unwrap to the context's error, which the caller knows.
type endedError struct {
	class fault.Class
	text  string
	err   error
}

func (e *endedError) Error() string      { return e.text }
func (e *endedError) Unwrap() error      { return e.err }
func (e *endedError) Fault() fault.Class { return e.class }

// outer returns the time limit of a call: for waiting for a slot, for the program, and for ending it.
func (t *tool) outer() (d time.Duration) {
	for i := range t.cfg.Programs {
		d = max(d, t.cfg.Programs[i].Timeout, 0)
	}
	return orDefault(d, DefaultTimeout) + t.cfg.Grace.longest() + SlotWait
}
