package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// history fills a file of conversations with sessions of at least this many facts.
func history(t testing.TB, db string, sessions, facts int) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(db), 0o700))
	store, err := sqlite.Open(db, sqlite.Config{})
	require.NoError(t, err)
	look := tools.New(tools.Spec{Name: "file.read", ReadOnly: true}, func(context.Context, struct {
		Path string `json:"path"`
	}) (string, error) {
		return strings.Repeat("a line of a file\n", 40), nil
	})
	var steps []providertest.Step
	for i := range 50 {
		steps = append(steps, providertest.Call("file.read", m{"path": fmt.Sprintf("f%d.go", i)}))
	}
	steps = append(steps, providertest.Say("It is read."))
	for i := range sessions {
		name := fmt.Sprintf("s-%d", i)
		for have := int64(0); have < int64(facts); {
			a, err := agent.New(agent.Config{Name: "coder", Provider: providertest.Script(steps...), Journal: store,
				Tools: []tools.Tool{look}, Limits: agent.Limits{Steps: 100}})
			require.NoError(t, err)
			_, err = a.Run(t.Context(), agent.Input{Session: name, Prompt: "Read it.", User: user, Owner: user})
			require.NoError(t, err)
			info, err := a.Session(name).Info(t.Context())
			require.NoError(t, err)
			have = int64(info.Facts)
		}
	}
	require.NoError(t, store.Close())
}

// BenchmarkStart is how long it takes from the start of the program, in a terminal, to its prompt.
func BenchmarkStart(b *testing.B) {
	at := b.TempDir()
	bin := filepath.Join(at, "coder")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(b, err, "%s", out)
	small, big := filepath.Join(at, "small"), filepath.Join(at, "big")
	require.NoError(b, os.MkdirAll(small, 0o755))
	require.NoError(b, os.MkdirAll(big, 0o755))
	require.NoError(b, os.WriteFile(filepath.Join(small, "go.mod"), []byte(goMod), 0o644))
	archive := exec.Command("sh", "-c", "git -c safe.directory='*' archive HEAD | tar -x -C "+big)
	archive.Dir = "../.."
	out, err = archive.CombinedOutput()
	require.NoError(b, err, "%s", out)
	for _, one := range []struct{ name, dir string }{{"a small folder", small}, {"this repository", big}} {
		for _, sessions := range []int{0, 10} {
			b.Run(fmt.Sprintf("%s, %d sessions", one.name, sessions), func(b *testing.B) {
				db := filepath.Join(b.TempDir(), "state", "runs.db")
				if sessions > 0 {
					history(b, db, sessions, 1000)
				}
				var took []time.Duration
				for b.Loop() {
					cmd := exec.Command(bin, "-dir", one.dir, "-db", db, "-model", "standin")
					cmd.Env = append(os.Environ(), "TERM=xterm")
					begun := time.Now()
					s := sit(b, cmd)
					s.until(b, "\n> ")
					took = append(took, time.Since(begun))
					s.kill()
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-median")
				b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms-most")
			})
		}
	}
}

// mostHeld is what a session of 1,000 facts may take while it is shown. It is generous: what the
// model was shown has about 700 bytes a fact.
const mostHeld = 3 << 20

// Ten sessions of 1,000 facts that are open on the page take a bounded amount of memory each.
func TestSessionsThatAreOpenTakeLittleMemory(t *testing.T) {
	sessions, facts := int64(10), 1000
	if *every > 1 {
		sessions, facts = 2, 100
	}
	at := t.TempDir()
	dir, db := filepath.Join(at, "project"), filepath.Join(at, "state", "runs.db")
	require.NoError(t, os.Mkdir(dir, 0o755))
	history(t, db, int(sessions), facts)
	c, err := coding.Open(coding.Config{Dir: dir, DB: db, Model: providertest.Func(
		func(context.Context, *provider.Request) (*provider.Response, error) { return nil, io.EOF })})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	access := serve.Local{User: user}
	page, err := serve.Page(c.Hub, serve.Config{Authorize: access.Authorize, Title: "Coder"})
	require.NoError(t, err)
	server := httptest.NewServer(page)
	defer server.Close()
	defer server.CloseClientConnections()
	before := heap()
	for i := range sessions {
		res, err := http.Get(fmt.Sprintf("%s/view?session=s-%d", server.URL, i))
		require.NoError(t, err)
		defer res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode)
		b := make([]byte, 1024)
		_, err = io.ReadAtLeast(res.Body, b, 100)
		require.NoError(t, err)
	}
	each := (heap() - before) / sessions
	t.Logf("a session of %d facts takes %d KB of the heap while it is open on the page", facts, each>>10)
	require.Less(t, each, int64(mostHeld))
}

// The program with the page, and ten sessions of 1,000 facts open on it: what the system says.
func TestTheProgramWithThePageStaysSmall(t *testing.T) {
	slow(t)
	w := newWorld(t, shop(), do())
	history(t, w.db, 10, 1000)
	c := w.start("-web", "-addr", "127.0.0.1:0", "-session", "s-new").sees("/?session=")
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(c.text())
	before := c.resident()
	for i := range 10 {
		res, err := http.Get(fmt.Sprintf("%s/view?session=s-%d", url, i))
		require.NoError(t, err)
		defer res.Body.Close()
		_, err = io.ReadAtLeast(res.Body, make([]byte, 1024), 100)
		require.NoError(t, err)
	}
	t.Logf("resident: %d MB before, %d MB with ten sessions of 1,000 facts open", before>>10, c.resident()>>10)
	require.Less(t, c.resident()-before, 200<<10)
}

// resident is the program's memory in KB.
func (c *child) resident() (kb int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	require.NoError(c.t, err)
	_, after, _ := strings.Cut(string(text), "VmRSS:")
	_, err = fmt.Sscan(after, &kb)
	require.NoError(c.t, err)
	return kb
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}
