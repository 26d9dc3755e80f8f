//go:build unix

package process_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/tools/process"
)

// childMode is the variable that makes this binary act as one of the test programs.
const childMode = "PROCESS_TEST_CHILD"

// quick makes a program that was built with the race detector exit without waiting a second.
const quick = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		os.Exit(children[mode](os.Args[1:]))
	}
	// Where interrupts are ignored, as in a background job of a shell, the test programs would
	// ignore them too. A signal that is handled has its default again in a child.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	goleak.VerifyTestMain(m)
}

// children are the test programs, by mode. They get their arguments and return their exit code.
var children = map[string]func(args []string) int{
	"exit":      func(args []string) int { fmt.Println("bye"); return atoi(args[0]) },
	"args":      func(args []string) int { fmt.Printf("%q\n", args); return 0 },
	"env":       env,
	"cwd":       func([]string) int { dir, _ := os.Getwd(); fmt.Println(dir); return 0 },
	"cat":       func([]string) int { n, _ := io.Copy(os.Stdout, os.Stdin); fmt.Printf("%d bytes\n", n); return 0 },
	"write":     func(args []string) int { fmt.Print(args[0]); return 0 },
	"unread":    func([]string) int { return 0 },
	"unquote":   func(args []string) int { text, _ := strconv.Unquote(args[0]); fmt.Print(text); return 0 },
	"suicide":   func(args []string) int { live(); return raise(syscall.Signal(atoi(args[0]))) },
	"stopped":   func([]string) int { live(); return raise(syscall.SIGSTOP) },
	"stubborn":  stubborn,
	"polite":    func([]string) int { return polite(os.Interrupt, 3) },
	"term":      func([]string) int { signal.Ignore(os.Interrupt); return polite(syscall.SIGTERM, 4) },
	"mute":      mute,
	"family":    family,
	"leave":     leave,
	"bomb":      bomb,
	"flood":     flood,
	"forever":   forever,
	"ticks":     ticks,
	"both":      both,
	"host":      host,
	"leaveLate": leaveLate,
	"late":      late,
	"show":      show,
	"hang":      func(args []string) int { show(args); fmt.Println("the end"); return ignore() },
	"job":       func([]string) int { live(); fmt.Println("ready"); return ignore() },
}

func env([]string) int {
	for _, kv := range os.Environ() {
		if kv != quick {
			fmt.Println(kv)
		}
	}
	return 0
}

// show writes the text of a file.
func show(args []string) int {
	text, _ := os.ReadFile(args[0])
	os.Stdout.Write(text)
	return 0
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// live holds the pipe of a family open until this process ends, and writes its process id there.
func live() {
	if path := os.Getenv("LIFE"); path != "" {
		fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			panic(err)
		}
		line := []byte(strconv.Itoa(os.Getpid()) + "\n")
		if _, err := syscall.Write(fd, line); err != nil {
			panic(err)
		}
	}
	if os.Getenv("SPAWNED") != "" {
		syscall.Close(3) // which tells the parent
	}
}

func raise(s syscall.Signal) int {
	_ = syscall.Kill(os.Getpid(), s)
	select {}
}

// stubborn ignores the signals that ask it to end.
func stubborn([]string) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	fmt.Println("can't stop me")
	live()
	return ignore()
}

func ignore() int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	for {
		<-time.After(time.Hour)
	}
}

func polite(s os.Signal, code int) int {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, s)
	fmt.Println("working")
	live()
	<-asked
	fmt.Println("cleaning up")
	return code
}

// mute closes its streams and continues.
func mute([]string) int {
	fmt.Println("last words")
	os.Stdout.Close()
	os.Stderr.Close()
	return stubborn(nil)
}

// spawn starts this binary in another mode, in the same group and with the same streams, and waits
// until it runs.
func spawn(mode string, attr *syscall.SysProcAttr, args ...string) {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	env := []string{childMode + "=" + mode, "LIFE=" + os.Getenv("LIFE"), "SPAWNED=1", quick}
	files := []*os.File{nil, os.Stdout, os.Stderr, w}
	if _, err = os.StartProcess(exe, append([]string{exe}, args...),
		&os.ProcAttr{Env: env, Files: files, Sys: attr}); err != nil {
		panic(err)
	}
	w.Close()
	_, _ = r.Read(make([]byte, 1))
}

// family starts stubborn grandchildren and ignores signals itself.
func family(args []string) int {
	for range atoi(args[0]) {
		spawn("stubborn", nil)
	}
	return stubborn(nil)
}

// leave starts a stubborn grandchild, which keeps the streams open, and ends when standard input
// tells it to.
func leave(args []string) int {
	attr := &syscall.SysProcAttr{Setsid: len(args) > 0}
	spawn("stubborn", attr)
	live()
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Println("done")
	return 0
}

// leaveLate ends at once, leaving a grandchild that writes output later.
func leaveLate([]string) int {
	spawn("late", nil)
	return 7
}

func late([]string) int {
	live()
	<-time.After(50 * time.Millisecond)
	fmt.Println("that took a while")
	return 0
}

// bomb starts two copies of itself, recursively to a depth, and ignores signals.
func bomb(args []string) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	fmt.Println("boom")
	live()
	if depth := atoi(args[0]); depth > 0 {
		for range 2 {
			spawn("bomb", nil, strconv.Itoa(depth-1))
		}
	}
	return ignore()
}

// flood writes the given number of bytes in numbered lines.
func flood(args []string) int {
	live()
	w := bufio.NewWriterSize(os.Stdout, 64<<10)
	for n, i := atoi(args[0]), 0; n > 0; i++ {
		line := fmt.Appendf(nil,
			"line %d of the flood, which goes on and on and on and on and on and on and on and on\n", i)
		line = line[:min(len(line), n)]
		w.Write(line)
		n -= len(line)
	}
	w.Flush()
	return 0
}

// forever writes endlessly and ignores signals.
func forever([]string) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	fmt.Println("on")
	live()
	text := []byte(strings.Repeat("and on\n", 1000))
	for {
		os.Stdout.Write(text)
	}
}

// ticks writes args[2] a number of times, with a number of milliseconds between.
func ticks(args []string) int {
	for range atoi(args[0]) {
		fmt.Println(args[2])
		<-time.After(time.Duration(atoi(args[1])) * time.Millisecond)
	}
	return 0
}

func both([]string) int {
	fmt.Println("out 1")
	fmt.Fprintln(os.Stderr, "err 1")
	fmt.Print("out 2")
	return 0
}

// host runs a stubborn process and is killed in the meantime.
func host(args []string) int {
	exe, _ := os.Executable()
	_, err := process.Run(context.Background(), process.Command{Path: exe, Root: args[0],
		Env: []string{childMode + "=stubborn", "LIFE=" + os.Getenv("LIFE"), quick}})
	fmt.Println(err)
	return 0
}

// self is the path of this binary.
func self(t testing.TB) string {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	exe, err = filepath.EvalSymlinks(exe)
	require.NoError(t, err)
	return exe
}

// command returns a command that runs this binary in a mode. Its group is ended in milliseconds.
func command(t testing.TB, mode string, args ...string) process.Command {
	t.Helper()
	return process.Command{Path: self(t), Args: args, Root: t.TempDir(), Env: []string{childMode + "=" + mode, quick},
		Grace: process.Grace{Interrupt: 30 * time.Millisecond, Terminate: 30 * time.Millisecond,
			Late: 200 * time.Millisecond}}
}

// A life shows which processes of a family are running.
type life struct {
	t    *testing.T
	path string
	pids chan int // closed when all are gone
}

// watchLife watches the family of a command.
func watchLife(t *testing.T, cmd *process.Command) *life {
	t.Helper()
	l := &life{t: t, path: filepath.Join(t.TempDir(), "life"), pids: make(chan int, 100)}
	require.NoError(t, syscall.Mkfifo(l.path, 0o600))
	cmd.Env = append(cmd.Env, "LIFE="+l.path)
	go func() {
		defer close(l.pids)
		f, err := os.Open(l.path) // waits for the first process
		if err != nil {
			return
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			l.pids <- atoi(lines.Text())
		}
	}()
	return l
}

// born waits until n more processes are running.
func (l *life) born(n int) (pids []int) {
	l.t.Helper()
	for range n {
		pid, ok := <-l.pids
		require.True(l.t, ok, "all are gone already")
		pids = append(pids, pid)
	}
	return pids
}

// gone waits until all have ended. Orphans may not be reaped by the system yet; they have ended
// when they hold no descriptor open.
func (l *life) gone() {
	l.t.Helper()
	for range l.pids {
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// lookup returns the path of a program of the system.
func lookup(t *testing.T, name string) string {
	t.Helper()
	p, err := process.Lookup(name)
	require.NoError(t, err)
	return p.Path
}
