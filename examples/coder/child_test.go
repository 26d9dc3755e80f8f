package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider/providertest"
)

// roleEnv says what this test program is when a test starts it.
const roleEnv = "PAWL_CODER_TEST"

var built = flag.Bool("built", false, "start the program as go build makes it, and not this test program")

// A world is a folder with a repository of git, and what the program keeps beside it.
type world struct {
	t                  *testing.T
	at, dir, state, db string
	model              *scripted
	servers            []byte // a file of servers of MCP
	args               []string
}

// newWorld makes a folder with these files, which git has committed.
func newWorld(t *testing.T, files map[string]string, answer func([]said) turn) *world {
	t.Helper()
	at, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, at: at, dir: filepath.Join(at, "project"), state: filepath.Join(at, "state")}
	w.db = filepath.Join(w.state, "runs.db")
	for _, dir := range []string{w.dir, w.state, filepath.Join(at, "home")} {
		require.NoError(t, os.Mkdir(dir, 0o755))
	}
	for name, text := range files {
		w.write(name, text)
	}
	w.git("init", "-q", "-b", "main")
	w.git("config", "user.name", "Ann")
	w.git("config", "user.email", "ann@example.com")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "first")
	w.model = newScripted(t, answer)
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o644))
}

func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	require.NoError(w.t, err)
	return string(text)
}

// git runs git in the folder, as the person would.
func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(w.at, "home"), "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// serve adds a server of MCP, which is this test program.
func (w *world) serve(name string, trusted bool, env map[string]string) {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	all := struct {
		Servers map[string]any `json:"mcpServers"`
	}{map[string]any{}}
	if w.servers != nil {
		require.NoError(w.t, json.Unmarshal(w.servers, &all))
	}
	vars := map[string]string{roleEnv: "mcp", "MCP_NAME": name, "MCP_AT": w.at, "GORACE": "atexit_sleep_ms=0"}
	for k, v := range env {
		vars[k] = v
	}
	all.Servers[name] = map[string]any{"command": self, "env": vars, "trusted": trusted}
	w.servers, err = json.Marshal(all)
	require.NoError(w.t, err)
	path := filepath.Join(w.state, "servers.json")
	require.NoError(w.t, os.WriteFile(path, w.servers, 0o600))
	w.args = append(w.args[:0:0], "-mcp", path)
}

var (
	binary     string
	binaryOnce sync.Once
)

// built program, or this one.
func executable(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	if !*built {
		return self
	}
	binaryOnce.Do(func() {
		binary = filepath.Join(filepath.Dir(self), "coder") // go test removes this folder
		out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
		if err != nil {
			binary = ""
			t.Errorf("%v: %s", err, out)
		}
	})
	require.NotEmpty(t, binary)
	return binary
}

// A child is the program as a process, whose input and output are pipes.
type child struct {
	t    *testing.T
	w    *world
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{} // closed when its output has ended and it is reaped

	mu    sync.Mutex // guards what follows
	out   bytes.Buffer
	moved chan struct{}
}

// env is the environment of the program, of which nothing is the tester's but the caches of go.
func (w *world) env() []string {
	env := []string{roleEnv + "=program", "HOME=" + filepath.Join(w.at, "home"), "PATH=" + os.Getenv("PATH"),
		"OPENAI_BASE_URL=" + w.model.URL + "/v1", "OPENAI_MODEL=m", "OPENAI_API_KEY=k", "GORACE=atexit_sleep_ms=0",
		"GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local"}
	return append(env, goEnv()...)
}

// goEnv are the caches of the go command.
var goEnv = sync.OnceValue(func() []string {
	out, _ := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	dirs := strings.Fields(string(out))
	if len(dirs) != 3 {
		return nil
	}
	return []string{"GOCACHE=" + dirs[0], "GOMODCACHE=" + dirs[1], "GOPATH=" + dirs[2]}
})

func (w *world) start(args ...string) *child {
	w.t.Helper()
	c := &child{t: w.t, w: w, done: make(chan struct{}), moved: make(chan struct{})}
	all := append([]string{"-dir", w.dir, "-db", w.db}, append(w.args, args...)...)
	c.cmd = exec.Command(executable(w.t), all...)
	c.cmd.Env = w.env()
	var err error
	c.in, err = c.cmd.StdinPipe()
	require.NoError(w.t, err)
	r, err := c.cmd.StdoutPipe()
	require.NoError(w.t, err)
	c.cmd.Stderr = c.cmd.Stdout
	require.NoError(w.t, c.cmd.Start())
	go func() {
		defer close(c.done)
		b := make([]byte, 4096)
		for {
			n, err := r.Read(b)
			c.mu.Lock()
			c.out.Write(b[:n])
			close(c.moved)
			c.moved = make(chan struct{})
			c.mu.Unlock()
			if err != nil {
				break
			}
		}
		_ = c.cmd.Wait()
	}()
	w.t.Cleanup(c.kill)
	return c
}

// kill ends the process with SIGKILL.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.in.Close()
	<-c.done
}

func (c *child) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// sees waits until the program has printed a text.
func (c *child) sees(text string) *child {
	c.t.Helper()
	if !c.when(func(shown string) bool { return strings.Contains(shown, text) }) {
		require.Fail(c.t, "it isn't shown", "%q:\n%s", text, c.text())
	}
	return c
}

// when waits until what the program has printed is as wanted, and reports whether that was so.
func (c *child) when(ok func(shown string) bool) bool {
	for end := time.After(patience); ; {
		c.mu.Lock()
		shown, moved := c.out.String(), c.moved
		c.mu.Unlock()
		if ok(shown) {
			return true
		}
		select {
		case <-moved:
		case <-c.done:
			return ok(c.text())
		case <-end:
			return false
		}
	}
}

// says types a line.
func (c *child) says(line string) *child {
	c.t.Helper()
	_, err := fmt.Fprintln(c.in, line)
	require.NoError(c.t, err, c.text())
	return c
}

// ends closes the input and returns the exit code.
func (c *child) ends() int {
	c.t.Helper()
	require.NoError(c.t, c.in.Close())
	select {
	case <-c.done:
	case <-time.After(patience):
		require.Fail(c.t, "it doesn't end", c.text())
	}
	return c.cmd.ProcessState.ExitCode()
}

// until waits until something is so.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "never: %s", what)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// facts returns the facts of all sessions, by session.
func (w *world) facts() map[string][]agent.Fact {
	w.t.Helper()
	store, err := sqlite.Open(w.db, sqlite.Config{})
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, store.Close()) }()
	a, err := agent.New(agent.Config{Name: "reader", Provider: providertest.Script(), Journal: store})
	require.NoError(w.t, err)
	all := make(map[string][]agent.Fact)
	for h, err := range store.Heads(w.t.Context(), journal.Filter{NoKind: true}) {
		require.NoError(w.t, err)
		all[h.Session], err = a.Session(h.Session).Facts(w.t.Context())
		require.NoError(w.t, err)
	}
	return all
}
