package browser

import (
	"bufio"
	"context"
	"fmt"
	"iter"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// The environment of a server in a process of its own.
const (
	serverDir     = "PAWL_BROWSER_SERVER"  // where its journal and its log of deletions are
	serverAddress = "PAWL_BROWSER_ADDRESS" // where it listens
	serverHangs   = "PAWL_BROWSER_HANGS"   // its model stops in the middle of its text: see goOn
)

// serveUntilKilled is that process.
func serveUntilKilled(dir string) {
	if err := serveFrom(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveFrom(dir string) error {
	store, err := sqlite.Open(filepath.Join(dir, "journal.db"), sqlite.Config{})
	if err != nil {
		return err
	}
	a, err := newAgent(agent.Config{Provider: provider.Func(patient), Journal: store, Lease: 2 * time.Second},
		func(page string) {
			f, err := os.OpenFile(filepath.Join(dir, "deleted"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err == nil {
				_, _ = fmt.Fprintln(f, page)
				_ = f.Close()
			}
		})
	if err != nil {
		return err
	}
	hub, err := live.New(live.Config{Agent: a, Recover: 100 * time.Millisecond})
	if err != nil {
		return err
	}
	h, err := routes(hub, uimessage.V6)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", os.Getenv(serverAddress))
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return http.Serve(l, h)
}

// patient is the server's model. It deletes a page if it is asked to, and else says "Working
// done.".
func patient(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	last := req.Messages[len(req.Messages)-1]
	if last.Role == provider.RoleUser && strings.HasPrefix(last.Text(), "Delete") {
		return providertest.Script(providertest.Calls(deletes("a"))).Stream(ctx, req)
	}
	return func(yield func(provider.Chunk, error) bool) {
		if !yield(provider.Start("patient"), nil) || !yield(provider.Text("Working"), nil) {
			return
		}
		for os.Getenv(serverHangs) != "" && !isThere(goOnFile(os.Getenv(serverDir))) {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
				yield(provider.Chunk{}, ctx.Err())
				return
			}
		}
		_ = yield(provider.Text(" done."), nil) &&
			yield(provider.End(provider.StopDone, provider.Usage{Input: 1, Output: 2}), nil)
	}
}

// goOn lets the models go on that stop in the middle of their texts.
func goOn(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.WriteFile(goOnFile(dir), nil, 0o644))
}

func goOnFile(dir string) string { return filepath.Join(dir, "go-on") }

func isThere(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// A process is a server in a process of its own.
type process struct {
	address string // with the port
	kill    func()
}

// start starts a server, and waits until it listens.
func start(t *testing.T, dir, at string, hangs bool) process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), serverDir+"="+dir, serverAddress+"="+at)
	if hangs {
		cmd.Env = append(cmd.Env, serverHangs+"=true")
	}
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := process{kill: sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})}
	t.Cleanup(p.kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	p.address = strings.TrimSpace(line)
	return p
}

func TestAnAnswerGoesOnAfterTheServerWasKilled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, _ uimessage.Level) {
		dir := t.TempDir()
		first := start(t, dir, "127.0.0.1:0", true)
		c := visit(t, "http://"+first.address, version, "s-1")
		c.say("Work.")
		c.wait(`document.body.textContent.includes("Working")`)
		first.kill()
		start(t, dir, first.address, false)
		c.ready(2, "Working done.")
		require.Equal(t, []string{"text Working done."}, shape(&c.messages()[1]))
		c.asOthersSee()
	})
}

func TestAnApprovalOutlivesTheServer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, version string, _ uimessage.Level) {
		dir := t.TempDir()
		first := start(t, dir, "127.0.0.1:0", false)
		c := visit(t, "http://"+first.address, version, "s-1")
		c.say("Delete a.")
		c.wait(`document.querySelector("#approve-a")`)
		first.kill()
		start(t, dir, first.address, false)
		c.click("#approve-a") // the page wasn't loaded again
		c.ready(2, "Working done.")
		require.Equal(t, "output-available", c.call("a").State)
		deleted, err := os.ReadFile(filepath.Join(dir, "deleted"))
		require.NoError(t, err)
		require.Equal(t, "a\n", string(deleted))
		c.asOthersSee()
	})
}
