//go:build unix

package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/process"
)

// begin runs a command in the background.
func begin(ctx context.Context, cmd process.Command) (wait func() (process.Result, error)) {
	type end struct {
		res process.Result
		err error
	}
	ended := make(chan end, 1)
	go func() {
		res, err := process.Run(ctx, cmd)
		ended <- end{res, err}
	}()
	return func() (process.Result, error) {
		e := <-ended
		return e.res, e.err
	}
}

func run(t *testing.T, cmd process.Command) process.Result {
	t.Helper()
	res, err := process.Run(t.Context(), cmd)
	require.NoError(t, err)
	return res
}

func TestAnExitCodeIsAnObservation(t *testing.T) {
	for _, code := range []string{"0", "1", "42", "255"} {
		res := run(t, command(t, "exit", code))
		require.Equal(t, code, itoa(res.ExitCode))
		require.Empty(t, res.Signal)
		require.Equal(t, "bye\n", res.Output)
		require.Empty(t, res.Sent)
		require.Positive(t, res.Took)
	}
}

func TestDeathByASignalIsAnObservation(t *testing.T) {
	cmd := command(t, "suicide", itoa(int(syscall.SIGKILL)))
	l := watchLife(t, &cmd)
	res := run(t, cmd)
	require.Equal(t, -1, res.ExitCode)
	require.Equal(t, "KILL", res.Signal)
	require.False(t, res.TimedOut || res.Canceled)
	l.gone()
}

func TestOutputOfBothStreamsIsKeptInLines(t *testing.T) {
	cmd := command(t, "both")
	res := run(t, cmd)
	require.ElementsMatch(t, []string{"out 1", "err 1", "out 2"}, strings.Split(strings.TrimSpace(res.Output), "\n"))
	require.EqualValues(t, 3, res.Lines)
	require.EqualValues(t, 17, res.Bytes)
	require.False(t, res.Truncated)
}

func TestOutputIsCleaned(t *testing.T) {
	for _, c := range []struct{ wrote, want string }{
		{"\x1b[31mred\x1b[0m\n", "red\n"},
		{"10%\r50%\r100%\r\nok", "100%\nok\n"},
		{"a\xff\xfeb\x00c", "a\uFFFD\uFFFDbc\n"},
		{"\x1b]0;title\x07text", "text\n"},
	} {
		res := run(t, command(t, "unquote", strconv.Quote(c.wrote)))
		require.Equal(t, c.want, strings.TrimSuffix(res.Output, "\n")+"\n")
	}
}

func TestArgumentsAreText(t *testing.T) {
	args := []string{"; rm -rf /", "$(reboot)", "`id`", "a && b", "| cat", "> file", "*", "", "a\nb", "--", "'\""}
	res := run(t, command(t, "args", args...))
	require.Equal(t, `["; rm -rf /" "$(reboot)" "`+"`id`"+`" "a && b" "| cat" "> file" "*" "" "a\nb" "--" "'\""]`+"\n",
		res.Output)
}

func TestTheEnvironmentIsNotInherited(t *testing.T) {
	t.Setenv("MY_API_KEY", "secret")
	cmd := command(t, "env")
	cmd.Env = append(cmd.Env, "A=b")
	require.Equal(t, childMode+"=env\nA=b\n", run(t, cmd).Output)

	cmd.Env = nil // without its variable, this binary would run the tests: use another program
	cmd.Path, cmd.Args = lookup(t, "env"), nil
	require.Empty(t, run(t, cmd).Output)
}

func TestStandardInputIsEmpty(t *testing.T) {
	require.Equal(t, "0 bytes\n", run(t, command(t, "cat")).Output)
}

func TestAStubbornProcessIsEndedAtItsTimeLimit(t *testing.T) {
	t.Parallel()
	cmd := command(t, "stubborn")
	cmd.Timeout, cmd.Extend = 3*time.Second, -1
	l := watchLife(t, &cmd)
	res, err := process.Run(t.Context(), cmd)
	var timeout *process.TimeoutError
	require.ErrorAs(t, err, &timeout)
	require.Equal(t, fault.Transient, fault.Of(err))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.True(t, res.TimedOut)
	require.False(t, res.Canceled)
	require.Equal(t, []string{"INT", "TERM", "KILL"}, res.Sent)
	require.Equal(t, "KILL", res.Signal)
	require.Equal(t, "can't stop me\n", res.Output)
	pid := l.born(1)[0]
	require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "it is reaped when Run returns")
	require.ErrorIs(t, syscall.Kill(-pid, 0), syscall.ESRCH)
	l.gone()
}

// canceled cancels a command with a cause when its family has this many members, and returns its
// result when all have ended.
func canceled(t *testing.T, cmd process.Command, members int, why error) (process.Result, error) {
	t.Helper()
	l := watchLife(t, &cmd)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	wait := begin(ctx, cmd)
	l.born(members)
	cancel(why)
	res, err := wait()
	l.gone()
	return res, err
}

func TestTheWholeGroupIsEndedWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, mode, arg string
		members         int
	}{
		{"a family", "family", "3", 4},
		{"one that goes on forking", "bomb", "3", 15},
		{"one that has closed its streams", "mute", "", 1},
		{"one that writes without an end", "forever", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := command(t, c.mode, c.arg)
			why := errors.New("enough")
			res, err := canceled(t, cmd, c.members, why)
			require.ErrorIs(t, err, why)
			var stop *process.StopError
			require.ErrorAs(t, err, &stop)
			require.True(t, res.Canceled)
			require.False(t, res.TimedOut || res.Lost)
			require.Equal(t, []string{"INT", "TERM", "KILL"}, res.Sent)
			require.NotEmpty(t, res.Output)
		})
	}
}

func TestSignalsStopAsSoonAsTheProcessHasEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		code int
		sent []string
	}{
		{"polite", 3, []string{"INT"}},
		{"term", 4, []string{"INT", "TERM"}},
	} {
		cmd := command(t, c.mode)
		cmd.Grace.Terminate = time.Hour
		if c.mode == "polite" {
			cmd.Grace.Interrupt = time.Hour
		}
		res, err := canceled(t, cmd, 1, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, fault.None, fault.Of(err))
		require.Equal(t, c.code, res.ExitCode)
		require.Equal(t, c.sent, res.Sent)
		require.Equal(t, "working\ncleaning up\n", res.Output)
	}
}

func TestAStoppedProcessIsContinuedAndEnded(t *testing.T) {
	t.Parallel()
	cmd := command(t, "stopped")
	cmd.Grace.Interrupt = time.Hour
	res, _ := canceled(t, cmd, 1, nil)
	require.Equal(t, []string{"INT"}, res.Sent)
	require.NotZero(t, res.ExitCode)
}

func TestGrandchildrenThatHoldThePipesAreEnded(t *testing.T) {
	t.Parallel()
	cmd := command(t, "leave")
	l := watchLife(t, &cmd)
	res := run(t, cmd)
	require.Zero(t, res.ExitCode)
	require.True(t, res.Late)
	l.born(2)
	require.Contains(t, res.Output, "done\n")
	require.Empty(t, res.Sent)
	l.gone()
}

func TestTheEndOfTheContextDoesntWaitForGrandchildren(t *testing.T) {
	t.Parallel()
	cmd := command(t, "leave")
	cmd.Grace.Late = time.Hour
	told := make(chan string, 100)
	cmd.OnOutput = func(text string) { told <- text }
	l := watchLife(t, &cmd)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait := begin(ctx, cmd)
	l.born(2)
	for text := range told {
		if strings.Contains(text, "done") {
			break
		}
	}
	cancel()
	res, err := wait()
	if err == nil { // the process ended by itself
		require.True(t, res.Late)
	} else { // the process was about to end
		require.ErrorIs(t, err, context.Canceled)
	}
	l.gone()
}

func TestLateOutputIsKept(t *testing.T) {
	t.Parallel()
	cmd := command(t, "leaveLate")
	cmd.Grace.Late = time.Hour
	res := run(t, cmd)
	require.Equal(t, 7, res.ExitCode)
	require.False(t, res.Late)
	require.Equal(t, "that took a while\n", res.Output)
}

func TestAProcessThatLeftTheGroupCausesNoDelay(t *testing.T) {
	t.Parallel()
	cmd := command(t, "leave", "for good")
	l := watchLife(t, &cmd)
	res := run(t, cmd)
	require.True(t, res.Late)
	require.Zero(t, res.ExitCode)
	for _, pid := range l.born(2) {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			require.ErrorIs(t, err, syscall.ESRCH) // the leader
		}
	}
	l.gone()
}

func TestAFloodIsReadToItsEndInLittleMemory(t *testing.T) {
	const size = floodSize
	cmd := command(t, "flood", itoa(size))
	cmd.Keep = 64 << 10
	res := run(t, cmd)
	require.EqualValues(t, size, res.Bytes)
	require.True(t, res.Truncated)
	require.LessOrEqual(t, len(res.Output), 64<<10)
	lines := strings.Split(strings.TrimSpace(res.Output), "\n")
	require.Len(t, lines, 50+1+100)
	require.True(t, strings.HasPrefix(lines[49], "line 49 of"))
	require.Contains(t, lines[50], "bytes left out")
	require.True(t, strings.HasPrefix(lines[149], "line "+itoa(int(res.Lines)-2)+" of"))
	kept := len(res.Output) - len(lines[50]) - 1
	require.EqualValues(t, size+1, int64(kept)+res.Omitted) // a line end was added to the last line
}

func TestOutputMovesTheTimeLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, times, text string
		extend, max       time.Duration
		ended             bool
	}{
		{"with each line", "25", "compiling", time.Minute, time.Minute, false},
		{"unless it says nothing", "1000000", "...", time.Minute, time.Minute, true},
		{"unless that is switched off", "1000000", "compiling", -1, time.Minute, true},
		{"but not for ever", "1000000", "compiling", time.Minute, time.Millisecond, true}, // the limit is Timeout then
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, "ticks", c.times, "100", c.text)
			cmd.Timeout, cmd.Extend, cmd.Max = 1500*time.Millisecond, c.extend, c.max
			res, err := process.Run(t.Context(), cmd)
			require.Equal(t, c.ended, res.TimedOut)
			require.Equal(t, c.ended, errors.Is(err, context.DeadlineExceeded))
			require.Contains(t, res.Output, c.text)
		})
	}
}

func TestOnOutputGetsTheNewestLinesWhileTheProgramRuns(t *testing.T) {
	cmd := command(t, "polite")
	told := make(chan string, 10)
	cmd.OnOutput = func(text string) { told <- text }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait := begin(ctx, cmd)
	require.Equal(t, "working", <-told)
	cancel()
	_, err := wait()
	require.ErrorIs(t, err, context.Canceled)
	close(told)
	var rest []string
	for text := range told {
		rest = append(rest, text)
	}
	require.Contains(t, strings.Join(rest, "\n"), "stopping: sent INT")
}

func TestASlowWatcherDoesntKeepAProcessFromEnding(t *testing.T) {
	cmd := command(t, "stubborn")
	slow := make(chan struct{})
	cmd.OnOutput = func(string) { <-slow }
	l := watchLife(t, &cmd)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wait := begin(ctx, cmd)
	l.born(1)
	cancel()
	l.gone()
	close(slow)
	_, err := wait()
	require.ErrorIs(t, err, context.Canceled)
}

func TestAWatcherThatPanicsIsReported(t *testing.T) {
	cmd := command(t, "exit", "5")
	cmd.OnOutput = func(string) { panic("oh") }
	res, err := process.Run(t.Context(), cmd)
	require.EqualError(t, err, "process: OnOutput panicked: oh")
	require.Equal(t, 5, res.ExitCode)
}

func TestAnEndedContextStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := process.Run(ctx, command(t, "exit", "0"))
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, res.Took)
	require.True(t, res.Canceled)
	require.Equal(t, -1, res.ExitCode)
}

func TestAmbiguousPathsAreRejected(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(self(t), link))
	linked := filepath.Join(dir, "bin")
	require.NoError(t, os.Symlink(filepath.Dir(self(t)), linked))
	for _, c := range []struct {
		path  string
		class fault.Class
		says  string
	}{
		{"", fault.Invalid, "the program is missing"},
		{"env", fault.Denied, "isn't an absolute path"},
		{"./env", fault.Denied, "isn't an absolute path"},
		{"/usr/bin/../bin/env", fault.Denied, `give "/usr/bin/env"`},
		{"/usr//bin/env", fault.Denied, `give "/usr/bin/env"`},
		{"/usr/bin/e\x00nv", fault.Invalid, "NUL"},
		{link, fault.Denied, "symbolic link; give"},
		{filepath.Join(linked, filepath.Base(self(t))), fault.Denied, "symbolic link; give"},
		{dir, fault.Denied, "isn't a file"},
		{filepath.Join(dir, "none"), fault.UserFixable, "there is no program"},
	} {
		cmd := command(t, "exit", "0")
		cmd.Path = c.path
		res, err := process.Run(t.Context(), cmd)
		require.ErrorContains(t, err, c.says)
		require.Equal(t, c.class, fault.Of(err), c.path)
		require.Zero(t, res.Took)
		if c.class == fault.UserFixable {
			remedy, ok := fault.Remedy(err)
			require.True(t, ok)
			require.Contains(t, remedy, "install")
		}
	}
}

func TestFilesThatArentProgramsAreUserFixable(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		says string
	}{
		"plain":   {"#!/bin/sh\n", 0o644, "isn't executable"},
		"garbage": {"\x00\x01garbage", 0o755, "isn't a program of this system"},
		"script":  {"#!/there/is/no/shell\n", 0o755, "interpreter"},
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(c.text), c.mode))
		cmd := command(t, "exit", "0")
		cmd.Path = path
		_, err := process.Run(t.Context(), cmd)
		require.ErrorContains(t, err, c.says[:len(c.says)-1])
		require.Equal(t, fault.UserFixable, fault.Of(err), name)
	}
}

func TestVariablesThatLoadCodeAreRejected(t *testing.T) {
	for kv, class := range map[string]fault.Class{
		"LD_PRELOAD=/tmp/evil.so": fault.Denied, "LD_LIBRARY_PATH=.": fault.Denied,
		"DYLD_INSERT_LIBRARIES=x": fault.Denied,
		"BASH_ENV=x":              fault.Denied, "BASH_FUNC_ls%%=() { id; }": fault.Denied,
		"NODE_OPTIONS=-r x": fault.Denied, "PYTHONPATH=.": fault.Denied,
		"GIT_CONFIG_COUNT=1": fault.Denied, "GIT_CONFIG_KEY_0=core.fsmonitor": fault.Denied,
		"GIT_CONFIG_VALUE_0=touch x":                       fault.Denied,
		"GIT_CONFIG_PARAMETERS='core.fsmonitor'='touch x'": fault.Denied, "GIT_CONFIG_GLOBAL=x": fault.Denied,
		"GIT_CONFIG_SYSTEM=x": fault.Denied, "GIT_CONFIG=x": fault.Denied, "GIT_EDITOR=touch x": fault.Denied,
		"GIT_SEQUENCE_EDITOR=x": fault.Denied, "EDITOR=x": fault.Denied, "VISUAL=x": fault.Denied,
		"GIT_PAGER=x": fault.Denied,
		"PAGER=x":     fault.Denied, "GIT_ASKPASS=x": fault.Denied, "SSH_ASKPASS=x": fault.Denied,
		"GIT_PROXY_COMMAND=x": fault.Denied,
		"GIT_TEMPLATE_DIR=x":  fault.Denied, "LESSOPEN=x": fault.Denied, "LESSCLOSE=x": fault.Denied,
		"PYTHONWARNINGS=all:0:antigravity.x:0:0": fault.Denied, "BROWSER=touch x": fault.Denied,
		"PYTHONBREAKPOINT=os.system": fault.Denied, "PYTHONUSERBASE=.": fault.Denied,
		"GOFLAGS=-toolexec=x": fault.Denied, "GOCACHEPROG=x": fault.Denied, "CC=x": fault.Denied,
		"MAKEFILES=x": fault.Denied, "GIT_DIR=x": fault.Denied, "TAR_OPTIONS=--checkpoint-action=exec=x": fault.Denied,
		"NODE_REPL_EXTERNAL_MODULE=x": fault.Denied, "MAKEFLAGS=x": fault.Denied, "RUSTC_WRAPPER=x": fault.Denied,
		"A": fault.Invalid, "=b": fault.Invalid, "A=\x00": fault.Invalid,
	} {
		cmd := command(t, "env")
		cmd.Env = append(cmd.Env, kv)
		_, err := process.Run(t.Context(), cmd)
		require.Equal(t, class, fault.Of(err), kv)
		var refused *process.RejectedError
		require.ErrorAs(t, err, &refused)
	}
}

func TestArgumentsAreBounded(t *testing.T) {
	for _, args := range [][]string{make([]string, 5000), {strings.Repeat("x", 200_000)}, {"a\x00b"}} {
		_, err := process.Run(t.Context(), command(t, "args", args...))
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
}

func TestTheWorkingDirectoryStaysInTheRoot(t *testing.T) {
	cmd := command(t, "cwd")
	root, err := filepath.EvalSymlinks(cmd.Root)
	require.NoError(t, err)
	evil := root + "-evil"
	for _, dir := range []string{evil, filepath.Join(root, "sub", "deep")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	t.Cleanup(func() { os.RemoveAll(evil) })
	require.NoError(t, os.Symlink("sub", filepath.Join(root, "inner")))
	require.NoError(t, os.Symlink(evil, filepath.Join(root, "outer")))
	require.NoError(t, os.Symlink("../"+filepath.Base(evil), filepath.Join(root, "relative")))
	require.NoError(t, os.Symlink(filepath.Join(evil, "not yet"), filepath.Join(root, "dangling")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "file"), nil, 0o644))
	for _, c := range []struct {
		dir, want string
		class     fault.Class
	}{
		{dir: "", want: "."},
		{dir: ".", want: "."},
		{dir: "sub/deep", want: "sub/deep"},
		{dir: "sub/../sub", want: "sub"},
		{dir: "inner/deep", want: "sub/deep"},
		{dir: "..", class: fault.Denied},
		{dir: "sub/../../" + filepath.Base(evil), class: fault.Denied},
		{dir: "/", class: fault.Denied},
		{dir: root, class: fault.Denied},
		{dir: evil, class: fault.Denied},
		{dir: "outer", class: fault.Denied},
		{dir: "relative", class: fault.Denied},
		{dir: "dangling", class: fault.Denied},
		{dir: "file", class: fault.Denied},
		{dir: "none", class: fault.NotFound},
	} {
		cmd.Dir = c.dir
		res, err := process.Run(t.Context(), cmd)
		require.Equal(t, c.class, fault.Of(err), "%s: %v", c.dir, err)
		if c.class == fault.None {
			require.Equal(t, filepath.Join(root, c.want)+"\n", res.Output, c.dir)
		}
	}
	cmd.Root = "relative"
	_, err = process.Run(t.Context(), cmd)
	require.Equal(t, fault.Invalid, fault.Of(err))
	cmd.Root = filepath.Join(root, "none")
	_, err = process.Run(t.Context(), cmd)
	require.Equal(t, fault.UserFixable, fault.Of(err))
}
