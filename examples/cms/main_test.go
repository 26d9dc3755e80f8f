package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider/fromenv"
)

// The test binary also plays the program, as a process that may be killed. heldVar names a fact:
// when it is stored, the run is held until standard input ends; see holding. typedVar
// is typed input.
const (
	roleVar = "PAWL_CMS_ROLE"
	heldVar = "PAWL_CMS_HELD_AT"

	typedVar = "PAWL_CMS_TYPED"
)

func TestMain(m *testing.M) {
	if os.Getenv(roleVar) == "" {
		// Where interrupts are ignored, as in a background job of a shell, the program would ignore
		// them too. A signal that is handled has its default again in a child.
		if signal.Ignored(os.Interrupt) {
			signal.Notify(make(chan os.Signal, 1), os.Interrupt)
		}
		goleak.VerifyTestMain(m)
		return
	}
	if at := os.Getenv(heldVar); at != "" {
		between = func(s journal.Store) journal.Store { return &holding{Store: s, at: at} }
	}
	in := strings.NewReader(os.Getenv(typedVar))
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, in, os.Stdout, os.Stderr))
}

// noKeys is an environment without settings and without a model, even if a developer has keys.
func noKeys(name string) string {
	if name == fromenv.Variable {
		return fromenv.StandIn
	}
	return ""
}

// A holding store holds a run once a fact is stored: the first of a kind that has a text in it.
type holding struct {
	journal.Store
	at string // the kind and the text
}

// heldMark is what a process prints when it is held.
const heldMark = "(held)"

func (h *holding) Append(ctx context.Context, a journal.Append) error {
	err := h.Store.Append(ctx, a)
	kind, text, _ := strings.Cut(h.at, " ")
	if slices.ContainsFunc(a.Records, func(r journal.Record) bool {
		return r.Kind == kind && bytes.Contains(r.Data, []byte(text))
	}) {
		h.at = "once"
		fmt.Println(heldMark)
		io.Copy(io.Discard, os.Stdin)
	}
	return err
}

// A bench is a folder with a database.
type bench struct {
	t  *testing.T
	db string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t, filepath.Join(t.TempDir(), "cms.db")}
	require.NoError(t, os.WriteFile(b.db, newFile(), 0o600))
	return b
}

// newFile is an unused file of the program. Tests copy it, because making one takes longer than
// most of them.
var newFile = sync.OnceValue(func() []byte {
	dir, err := os.MkdirTemp("", "cms-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "cms.db")
	var said bytes.Buffer
	if run(context.Background(), []string{"-db", path, "history"}, noKeys, strings.NewReader(""), &said, &said) != 0 {
		panic(said.String())
	}
	file, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return file
})

// An outcome is the exit status and the output of the program.
type outcome struct {
	status   int
	out, err string
}

// run runs the program with this input and these arguments.
func (b *bench) run(stdin string, args ...string) outcome {
	b.t.Helper()
	var out, err bytes.Buffer
	status := run(b.t.Context(), append([]string{"-db", b.db}, args...), noKeys, strings.NewReader(stdin), &out, &err)
	return outcome{status, out.String(), err.String()}
}

// must runs the program and requires a status.
func (b *bench) must(status int, args ...string) outcome {
	b.t.Helper()
	o := b.run("", args...)
	require.Equal(b.t, status, o.status, "%s\n%s", o.out, o.err)
	return o
}

// process prepares the program as a process.
func (b *bench) process(heldAt string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"-db", b.db}, args...)...)
	cmd.Env = append(os.Environ(), fromenv.Variable+"="+fromenv.StandIn, roleVar+"=program", heldVar+"="+heldAt,
		"GORACE=atexit_sleep_ms=0") // with the race detector it would wait a second when it exits
	return cmd
}

// A held is a process that is held in the middle of a run or at a prompt.
type held struct {
	*exec.Cmd
	t     *testing.T
	stdin io.Closer
	out   *bufio.Reader
	err   locked
}

// hold starts a process and returns when it is held.
func (b *bench) hold(at string, args ...string) *held {
	b.t.Helper()
	return b.start(b.process(at, args...), heldMark)
}

// start starts a process and returns when it has shown a text.
func (b *bench) start(cmd *exec.Cmd, at string) *held {
	b.t.Helper()
	h := &held{Cmd: cmd, t: b.t}
	h.Stderr = &h.err
	in, err := h.StdinPipe()
	require.NoError(b.t, err)
	h.stdin = in
	out, err := h.StdoutPipe()
	require.NoError(b.t, err)
	h.out = bufio.NewReader(out)
	require.NoError(b.t, h.Start())
	b.t.Cleanup(func() { h.Process.Kill(); h.Wait() })
	for shown := []byte(nil); !bytes.Contains(shown, []byte(at)); {
		// byte by byte, because a prompt doesn't end its line
		next, err := h.out.ReadByte()
		require.NoError(b.t, err, "%q was never shown: %s", at, h.err.String())
		shown = append(shown, next)
	}
	return h
}

// kill kills the process and returns when it is gone.
func (h *held) kill() {
	h.t.Helper()
	require.NoError(h.t, h.Process.Kill())
	require.Error(h.t, h.Wait())
}

// proceed lets the process run to its end, and returns its status.
func (h *held) proceed() int {
	h.t.Helper()
	require.NoError(h.t, h.stdin.Close())
	return h.ended()
}

// ended waits for the process and returns its status.
func (h *held) ended() int {
	h.t.Helper()
	_, err := io.Copy(io.Discard, h.out)
	require.NoError(h.t, err)
	h.Wait()
	return h.ProcessState.ExitCode()
}

// leaseEnds ends the leases of killed processes without the wait.
func (b *bench) leaseEnds() {
	b.t.Helper()
	db, err := sql.Open("sqlite", b.db)
	require.NoError(b.t, err)
	_, err = db.Exec("UPDATE pawl_sessions SET until = 1 WHERE until IS NOT NULL")
	require.NoError(b.t, errors.Join(err, db.Close()))
}

// look runs fn on the site.
func (b *bench) look(fn func(s *site.Site)) {
	b.t.Helper()
	s, err := site.Open(b.db)
	require.NoError(b.t, err)
	defer func() { require.NoError(b.t, s.Close()) }()
	fn(s)
}

// pages returns the slugs of all pages.
func (b *bench) pages() (slugs []string) {
	b.t.Helper()
	b.look(func(s *site.Site) {
		list, err := s.ListPages(b.t.Context(), site.Query{Limit: 200})
		require.NoError(b.t, err)
		for _, p := range list.Items {
			slugs = append(slugs, p.Slug)
		}
	})
	return slugs
}
