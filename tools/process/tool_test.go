//go:build unix

package process_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/process"
)

// program returns this binary in a mode, as a program of that name.
func program(t *testing.T, mode string) process.Program {
	return process.Program{Name: mode, Path: self(t), Set: []string{childMode + "=" + mode, quick}}
}

func config(t *testing.T, programs ...process.Program) process.Config {
	return process.Config{Root: t.TempDir(), Programs: programs,
		Grace: process.Grace{Interrupt: 30 * time.Millisecond, Terminate: 30 * time.Millisecond,
			Late: 200 * time.Millisecond}}
}

// A toolbox has one tool and runs calls of it as the agent does.
type toolbox struct {
	t   *testing.T
	reg *tools.Registry
	d   *tools.Definition
}

func open(t *testing.T, cfg process.Config) *toolbox {
	t.Helper()
	reg, err := tools.NewRegistry(process.Tool(cfg))
	require.NoError(t, err)
	return &toolbox{t: t, reg: reg, d: reg.All()[0]}
}

// admit returns the decision on a call before it runs.
func (b *toolbox) admit(input string) (*tools.Call, tools.Admission) {
	b.t.Helper()
	c := &tools.Call{Name: b.d.Name(), Input: json.RawMessage(input)}
	a, err := b.reg.Admit(b.t.Context(), c, nil, nil, nil)
	require.NoError(b.t, err)
	return c, a
}

// call runs a call, with an approval if it needs one.
func (b *toolbox) call(ctx context.Context, input string) tools.Outcome {
	b.t.Helper()
	c, a := b.admit(input)
	if a.Rejected != nil {
		return *a.Rejected
	}
	if refused := b.reg.Recheck(ctx, c, nil); refused != nil {
		return *refused
	}
	return tools.Execute(ctx, b.d, c, nil)
}

func said(o tools.Outcome) string {
	if len(o.Parts) == 0 {
		return ""
	}
	return o.Parts[0].Text
}

func TestTheModelReadsHowAProgramEndedAndWhatItWrote(t *testing.T) {
	b := open(t, config(t, program(t, "exit"), program(t, "unread"), program(t, "suicide")))
	out := b.call(t.Context(), `{"program":"exit","args":["3"]}`)
	require.Equal(t, tools.OK, out.Status)
	require.Equal(t, "exit code 3\nbye\n", said(out))
	var res process.Result
	require.NoError(t, json.Unmarshal(out.Data, &res))
	require.Equal(t, 3, res.ExitCode)
	require.Equal(t, self(t), res.Program)
	require.Empty(t, res.Output, "once is enough")
	require.Equal(t, &tools.Exit{Code: 3}, out.Exit)
	require.False(t, out.Succeeded(), "the call is good, and its program isn't")

	out = b.call(t.Context(), `{"program":"unread"}`)
	require.Equal(t, "exit code 0; no output", said(out))
	require.True(t, out.Succeeded())
	out = b.call(t.Context(), `{"program":"suicide","args":["9"]}`)
	require.Equal(t, "ended by the signal KILL; no output", said(out))
	require.Equal(t, &tools.Exit{Code: -1, Signal: "KILL"}, out.Exit)
	require.False(t, out.Succeeded())
}

// TestAnAnswerIsNoFailure: in a jail, too, where the program that is started is another one.
func TestAnAnswerIsNoFailure(t *testing.T) {
	grep, err := process.Lookup("grep")
	require.NoError(t, err)
	env, err := process.Lookup("env")
	require.NoError(t, err)
	for _, jailed := range []bool{false, true} {
		cfg := config(t, grep)
		if jailed {
			cfg.Wrap = func(argv []string) []string { return append([]string{env.Path}, argv...) }
		}
		b := open(t, cfg)
		out := b.call(t.Context(), `{"program":"grep","args":["x","/dev/null"]}`)
		require.Equal(t, &tools.Exit{Code: 1, Answer: true}, out.Exit)
		require.True(t, out.Succeeded())
		out = b.call(t.Context(), `{"program":"grep","args":["x","./missing"]}`)
		require.Equal(t, &tools.Exit{Code: 2}, out.Exit)
		require.False(t, out.Succeeded())
	}
}

func TestTheSameCallGivesTheSameText(t *testing.T) {
	b := open(t, config(t, program(t, "exit")))
	first := said(b.call(t.Context(), `{"program":"exit","args":["1"]}`))
	require.Equal(t, first, said(b.call(t.Context(), `{"program":"exit","args":["1"]}`)))
}

func TestTheZeroSpecIsSafe(t *testing.T) {
	spec := open(t, config(t, program(t, "exit"))).d.Spec()
	require.Equal(t, "process.run", spec.Name)
	require.Equal(t, tools.High, spec.Risk)
	require.False(t, spec.Idempotent || spec.ReadOnly || spec.ParallelSafe || spec.AllowAlways || spec.Repeatable())
	require.True(t, spec.Progress)
	// 60 s for the program, 30 s for a slot, and the time to end it.
	require.Greater(t, spec.Timeout, 90*time.Second)

	cfg := config(t, program(t, "exit"))
	cfg.Spec = tools.Spec{Name: "ls", Idempotent: true, Description: "d", Risk: tools.Low}
	spec = open(t, cfg).d.Spec()
	require.Equal(t, "ls", spec.Name)
	require.True(t, spec.Idempotent)
	require.Equal(t, tools.High, spec.Risk)
}

func TestAnApprovalShowsTheExactCommand(t *testing.T) {
	git := program(t, "args")
	git.Risk = func(args []string) tools.Risk {
		if len(args) > 0 && args[0] == "status" {
			return tools.Low
		}
		return tools.High
	}
	cfg := config(t, git, program(t, "exit"))
	b := open(t, cfg)
	_, a := b.admit(`{"program":"args","args":["status"]}`)
	require.Equal(t, tools.Allow, a.Verdict.Effect)
	_, a = b.admit(`{"program":"args","args":["push","a b","$(id)"],"dir":"sub"}`)
	root, err := filepath.EvalSymlinks(cfg.Root)
	require.NoError(t, err)
	require.Equal(t, tools.Verdict{Effect: tools.Ask,
		Reason: "run " + self(t) + ` push "a b" "$(id)" in ` + root + "/sub"}, a.Verdict)
	_, a = b.admit(`{"program":"exit","args":["1"]}`)
	require.Equal(t, tools.Ask, a.Verdict.Effect, "the default risk is high")

	cfg.Spec.Approval = tools.AskAlways
	_, a = open(t, cfg).admit(`{"program":"args","args":["status"]}`)
	require.Equal(t, tools.Ask, a.Verdict.Effect)
	cfg.Spec.Approval = tools.AskNever
	_, a = open(t, cfg).admit(`{"program":"args","args":["push"]}`)
	require.Equal(t, tools.Allow, a.Verdict.Effect)

	cfg = config(t, git)
	cfg.Programs[0].Risk = func([]string) tools.Risk { panic("oh") }
	_, a = open(t, cfg).admit(`{"program":"args","args":["status"]}`)
	require.Equal(t, tools.Ask, a.Verdict.Effect, "a question that can't be decided is put to a person")
}

func TestTheTitleOfACallIsItsCommand(t *testing.T) {
	b := open(t, config(t, program(t, "argv")))
	for input, want := range map[string]string{
		`{"program":"argv","args":["test","./..."]}`:          "Run argv test ./...",
		`{"program":"argv","args":["-m","two words",""]}`:     `Run argv -m "two words" ""`,
		`{"program":"argv","args":["a;b\u202e"],"dir":"sub"}`: `Run argv "a;b\u202e" in sub`,
		`{"program":"argv"}`:                                  "Run argv",
	} {
		require.Equal(t, want, b.d.Title(t.Context(), json.RawMessage(input)))
	}
}

func TestAStandingApprovalIsForAProgramAndItsFirstArgumentUnlessThatIsAnOption(t *testing.T) {
	b := open(t, config(t, program(t, "argv")))
	for input, want := range map[string]string{
		`{"program":"argv","args":["test","./..."]}`:  "argv test",
		`{"program":"argv","args":["a b"],"dir":"x"}`: `argv "a b"`,
		`{"program":"argv","args":["-c","a b"]}`:      `argv -c "a b"`,
		`{"program":"argv"}`:                          "argv",
	} {
		scope, ok := b.d.Scope(json.RawMessage(input))
		require.True(t, ok)
		require.Equal(t, want, scope)
	}
}

func TestApprovalDependsOnlyOnTheInput(t *testing.T) {
	p := program(t, "cwd")
	p.Check = func([]string) error { return errors.New("not today") }
	_, a := open(t, config(t, p)).admit(`{"program":"cwd","dir":"not/yet"}`)
	require.Equal(t, tools.Ask, a.Verdict.Effect)
}

func TestOnlyAllowedProgramsRun(t *testing.T) {
	git := program(t, "args")
	git.Check = process.Subcommands("status", "log")
	alone := program(t, "env")
	alone.Check = func(args []string) error {
		if len(args) > 0 {
			return errors.New("it takes no arguments here")
		}
		return nil
	}
	b := open(t, config(t, git, alone))
	for _, c := range []struct {
		input  string
		status tools.Status
		says   string
	}{
		{`{"program":"args","args":["status","; reboot"]}`, tools.OK, `["status" "; reboot"]`},
		{`{"program":"args","args":["push"]}`, tools.Denied, "the first argument must be one of status, log"},
		{`{"program":"args","args":["-c","alias.status=!sh","status"]}`, tools.Denied, "the first argument"},
		{`{"program":"args"}`, tools.Denied, "the first argument"},
		{`{"program":"env","args":["sh"]}`, tools.Denied, "takes no arguments"},
		{`{"program":"sh","args":["-c","id"]}`, tools.Invalid, "program"},
		{`{"program":"/bin/sh"}`, tools.Invalid, "program"},
		{`{"program":"../args"}`, tools.Invalid, "program"},
		{`{"program":"args; sh"}`, tools.Invalid, "program"},
		{`{"program":"args","args":["log"],"dir":".."}`, tools.Denied, "leads out of the root"},
		{`{"program":"args","args":["log"],"dir":"/etc"}`, tools.Denied, "absolute"},
		{`{"program":"args","args":["log"],"dir":"none"}`, tools.Denied, "there is no directory"},
		{`{"program":"args","args":["log"],"stdin":"x"}`, tools.Invalid, "stdin"},
		{`{"program":"args","args":["log"],"env":{"LD_PRELOAD":"x"}}`, tools.Invalid, "env"},
		{`{"program":"args","args":["log"],"shell":true}`, tools.Invalid, "shell"},
		{`{"program":"args","args":["log","a\u0000b"]}`, tools.Denied, "NUL"},
		{`{"program":"args","args":"log"}`, tools.Invalid, "args"},
	} {
		out := b.call(t.Context(), c.input)
		require.Equal(t, c.status, out.Status, "%s: %s", c.input, said(out))
		require.Contains(t, said(out), c.says, c.input)
	}
}

func TestProgramsGetASmallEnvironment(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:.:relative:/bin")
	t.Setenv("MY_API_KEY", "secret")
	t.Setenv("WANTED", "yes")
	t.Setenv("LANG", "C")
	t.Setenv("GOPATH", "/src")
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "TZ", "TMPDIR", "LC_ALL",
		"LC_CTYPE"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	p := program(t, "env")
	p.Set = append(p.Set, "OWN=program")
	cfg := config(t, p)
	cfg.Inherit = []string{"WANTED", "MISSING"}
	cfg.Set = []string{"OWN=all", "ALL=1"}
	out := open(t, cfg).call(t.Context(), `{"program":"env"}`)
	require.Equal(t,
		"exit code 0\nALL=1\nGOPATH=/src\nLANG=C\nOWN=program\nPATH=/usr/bin:/bin\n"+childMode+"=env\nTERM=dumb\nWANTED=yes\n", said(out))
	require.Equal(t, []string{"GOPATH=/src", "LANG=C", "PATH=/usr/bin:/bin", "TERM=dumb"}, process.SafeEnv())
}

func TestTheModelIsToldWhichProgramsThereAre(t *testing.T) {
	p := program(t, "exit")
	p.Description = "ends"
	d := open(t, config(t, p)).d
	require.Contains(t, string(d.Tool().Schema), `"enum":["exit"]`)
	require.Contains(t, d.Spec().Description, "- exit: ends")
}

func TestAnInvalidConfigIsAnErrorOfTheRegistry(t *testing.T) {
	good := program(t, "exit")
	with := func(change func(*process.Program)) process.Config {
		p := good
		change(&p)
		return config(t, p)
	}
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(self(t), link))
	inside := config(t, good)
	inside.Root = filepath.Dir(self(t))
	for says, cfg := range map[string]process.Config{
		"Config.Root":                 {Programs: []process.Program{good}},
		"create the directory":        {Root: "/there/is/none", Programs: []process.Program{good}},
		"Config.Programs is empty":    config(t),
		"one word":                    with(func(p *process.Program) { p.Name = "a b" }),
		"two programs have this name": config(t, good, good),
		"isn't an absolute path":      with(func(p *process.Program) { p.Path = "env" }),
		"symbolic link":               with(func(p *process.Program) { p.Path = link }),
		"there is no program":         with(func(p *process.Program) { p.Path = "/there/is/none" }),
		"LD_PRELOAD makes programs":   with(func(p *process.Program) { p.Set = []string{"LD_PRELOAD=x"} }),
		"BASH_ENV makes programs": func() process.Config {
			c := config(t, good)
			c.Inherit = []string{"BASH_ENV"}
			return c
		}(),
		"isn't NAME=value":       func() process.Config { c := config(t, good); c.Set = []string{"x"}; return c }(),
		"Spec.Timeout":           func() process.Config { c := config(t, good); c.Spec.Timeout = -1; return c }(),
		"below the working root": inside,
		"the name has to be":     func() process.Config { c := config(t, good); c.Spec.Name = "a b"; return c }(),
	} {
		_, err := tools.NewRegistry(process.Tool(cfg))
		require.ErrorContains(t, err, says)
	}
}

func TestAProgramEndedAtItsTimeLimitKeepsItsOutput(t *testing.T) {
	t.Parallel()
	p := program(t, "ticks")
	p.Timeout = 3 * time.Second
	out := open(t, config(t, p)).call(t.Context(), `{"program":"ticks","args":["1000","3600000","..."]}`)
	require.Equal(t, tools.Failed, out.Status)
	require.Equal(t, fault.Transient, out.Class)
	var timeout *process.TimeoutError
	require.ErrorAs(t, out.Err, &timeout)
	require.Contains(t, said(out), "took longer than its time limit")
	require.True(t, strings.HasSuffix(said(out), "until then:\n...\n"), said(out))
}

func TestACanceledCallKeepsItsOutput(t *testing.T) {
	t.Parallel()
	cfg := config(t, program(t, "polite"))
	cfg.Grace.Interrupt = 4 * time.Second // it ends at once, unless the machine is busy
	b := open(t, cfg)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	c, _ := b.admit(`{"program":"polite"}`)
	c.OnProgress = func(_ *tools.Call, n tools.ProgressReport) {
		if n.Text == "working" {
			cancel(errors.New("enough"))
		}
	}
	out := tools.Execute(ctx, b.d, c, nil)
	require.Equal(t, tools.Canceled, out.Status)
	require.Equal(t, fault.None, out.Class)
	require.Contains(t, said(out), "working\ncleaning up\n")
}

func TestTheTimeLimitOfTheCallLeavesTimeToEndTheProgram(t *testing.T) {
	t.Parallel()
	p := program(t, "stubborn")
	p.Timeout = time.Hour
	d := open(t, config(t, p)).d
	require.Greater(t, d.Spec().Timeout, time.Hour+process.SlotWait)
}

func TestOutputIsCutForTheModel(t *testing.T) {
	p := program(t, "flood")
	cfg := config(t, p)
	cfg.Spec.MaxResult = 20_000
	out := open(t, cfg).call(t.Context(), `{"program":"flood","args":["12000000"]}`)
	require.LessOrEqual(t, len(said(out)), 20_000)
	require.Contains(t, said(out), "is cut\nline 0 of")
	require.Zero(t, out.Cut, "what was cut is said once")
	require.Contains(t, string(out.Data), `"truncated":true`)
}

func TestASlotIsReleasedOnEveryPath(t *testing.T) {
	slots := process.NewSlots(1)
	cfg := config(t, program(t, "exit"), program(t, "polite"))
	cfg.Slots = slots
	b := open(t, cfg)
	out := b.call(t.Context(), `{"program":"exit","args":["0"]}`)
	require.Equal(t, tools.OK, out.Status)
	require.Equal(t, 1, slots.Free())
	require.NoError(t, slots.Acquire(t.Context(), 0))
	require.Zero(t, slots.Free())
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := b.admit(`{"program":"exit","args":["0"]}`)
	c.OnProgress = func(_ *tools.Call, n tools.ProgressReport) {
		require.Equal(t, "waiting for a free slot", n.Text)
		cancel()
	}
	require.Equal(t, tools.Canceled, tools.Execute(ctx, b.d, c, nil).Status)
	require.Zero(t, slots.Free())
	slots.Release()
	slots.Release()
	require.Equal(t, 1, slots.Free())
}
