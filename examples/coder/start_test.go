package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestARequestWithoutATerminalEndsByItself(t *testing.T) {
	code, out, errs := newProgram(t, say("Hello.")).run("-p", "Hello.")
	require.Zero(t, code)
	require.Equal(t, "Hello.\n", out, "the answer alone")
	require.Contains(t, errs, "The folder is ")

	code, out, errs = newProgram(t, say(write("a.go"), "Done.")).run("-p", "Do it.")
	require.Equal(t, 3, code)
	require.Contains(t, out, "+package shop")
	require.Contains(t, errs, "-session s-")

	code, _, errs = newProgram(t, providertest.Script(providertest.Fail(fault.Permanent))).run("-p", "Do it.")
	require.Equal(t, 1, code)
	require.NotEmpty(t, errs)

	code, out, errs = newProgram(t, say("")).run("-p", "Do it.")
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Contains(t, errs, "without an answer")
}

// A jail that doesn't work is in the first line.
func TestTheFirstLineSaysThatThereIsNoJail(t *testing.T) {
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "bwrap"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	code, _, errs := newProgram(t, say("Hello.")).run("-jail", "-p", "Hello.")
	require.Zero(t, code)
	require.True(t, strings.HasPrefix(errs, "Programs run without a jail and ask each time, because "), errs)
	code, _, errs = newProgram(t, say("Hello.")).run("-jail=must", "-p", "Hello.")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "the jail doesn't work")
}

// What a request may do doesn't depend on whether somebody is there.
func TestARequestWithoutATerminalMayDoNoMore(t *testing.T) {
	for mode, want := range map[string]int{"plan": 0, "ask": 3, "edits": 0, "auto": 0} {
		p := newProgram(t, say(write("a.go"), "Done."))
		code, _, errs := p.run("-mode", mode, "-p", "Do it.")
		require.Equal(t, want, code, mode+errs)
		_, err := os.Stat(filepath.Join(p.dir, "a.go"))
		require.Equal(t, mode == "edits" || mode == "auto", err == nil, mode)
	}
}

// The next start continues a session that waits, with a terminal and without one.
func TestWhatWaitsIsDecidedAtTheNextStart(t *testing.T) {
	p := newProgram(t, say(write("a.go"), "Done."))
	_, _, errs := p.run("-session", "s-1", "-p", "Do it.")
	require.Contains(t, errs, "-session s-1")
	code, out, _ := p.run("-session", "s-1", "-p", "And now?")
	require.Equal(t, 3, code, "the decision comes first")
	require.Contains(t, out, "waits for a decision")

	_, out, _ = p.run()
	require.Contains(t, out, `The last session, "Do it.", waits for your decision: start with -c to continue it.`)
	code, out, _ = p.start(strings.NewReader("approve\n"), "-c")
	require.Zero(t, code)
	require.Contains(t, out, "Done.")
	require.FileExists(t, filepath.Join(p.dir, "a.go"))

	code, _, errs = newProgram(t, nil).run("-c")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "no session")
}

func TestTheEndOfTheInputAtAQuestionEndsTheProgramWithThree(t *testing.T) {
	code, out, _ := newProgram(t, say(write("a.go"), "Done.")).start(strings.NewReader("Do it.\n"))
	require.Equal(t, 3, code)
	require.Contains(t, out, "Go on with: coder -dir ")
}

func TestAModeLastsOverTheNextStart(t *testing.T) {
	p := newProgram(t, say("Planned.", write("a.go"), "Denied.", write("a.go"), "Written."))
	code, _, _ := p.run("-session", "s-1", "-mode", "plan", "-p", "Plan it.")
	require.Zero(t, code)
	code, out, _ := p.run("-session", "s-1", "-p", "Do it.")
	require.Zero(t, code)
	require.Contains(t, out, "The mode is plan")
	require.NoFileExists(t, filepath.Join(p.dir, "a.go"))
	code, _, _ = p.start(strings.NewReader("/mode edits\nNow do it.\n"), "-session", "s-1")
	require.Zero(t, code)
	require.FileExists(t, filepath.Join(p.dir, "a.go"))
	c := p.open()
	defer c.Close()
	info, err := c.Hub.Agent().Session("s-1").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "edits", info.Mode)
}

func TestTheLastRunIsUndoneInTheConversation(t *testing.T) {
	p := newProgram(t, say(write("a.go"), write("b.go"), "Done."))
	code, out, _ := p.start(strings.NewReader("Do it.\n/undo\nyes\n"), "-mode", "edits")
	require.Zero(t, code)
	require.Contains(t, out, "b.go")
	require.NoFileExists(t, filepath.Join(p.dir, "a.go"))
	require.NoFileExists(t, filepath.Join(p.dir, "b.go"))
}

// Two programs on one folder have two conversations, and don't lose each other's changes.
func TestTwoProgramsWorkOnOneFolder(t *testing.T) {
	p := newProgram(t, nil)
	var both sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		both.Go(func() {
			own := *p
			own.model = say(write(name+"1.go"), write(name+"2.go"), "Done "+name)
			code, out, errs := own.run("-mode", "edits", "-p", "Do it.")
			require.Zero(t, code, errs)
			require.Contains(t, out, "Done "+name)
		})
	}
	both.Wait()
	for _, name := range []string{"a1", "a2", "b1", "b2"} {
		require.FileExists(t, filepath.Join(p.dir, name+".go"))
	}
	c := p.open()
	defer c.Close()
	n := 0
	for _, err := range c.Hub.Agent().Sessions(t.Context(), agent.SessionFilter{}) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 2, n)
}

// hanging is a model that says when it is asked, and answers nothing.
func hanging(asked chan<- struct{}) provider.Provider {
	return providertest.Func(func(ctx context.Context, _ *provider.Request) (*provider.Response, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
}

// Ctrl-C stops a run whose model doesn't answer; the program ends with 1, and nothing is left of
// it.
func TestAModelThatHangsIsStopped(t *testing.T) {
	asked := make(chan struct{}, 9)
	p := newProgram(t, hanging(asked))
	go func() {
		<-asked
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	}()
	began := time.Now()
	code, out, errs := p.run("-session", "s-1", "-p", "Do it.")
	require.Equal(t, 1, code, out+errs)
	require.Less(t, time.Since(began), 20*time.Second)
	p.model = say("Hello again.")
	code, out, _ = p.run("-session", "s-1", "-p", "Still there?")
	require.Zero(t, code)
	require.Contains(t, out, "Hello again.")
}

// What can't be written is said by the call, and the rest of the work goes on.
func TestAFolderThatCantBeWrittenIsSaidByTheCall(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	p := newProgram(t, say(write("a.go"), "I couldn't."))
	require.NoError(t, os.Chmod(p.dir, 0o555))
	t.Cleanup(func() { _ = os.Chmod(p.dir, 0o755) })
	code, out, errs := p.run("-mode", "edits", "-p", "Do it.")
	require.Zero(t, code, errs)
	require.Contains(t, out, "failed")
}
