package crew

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/examples/team/internal/standin"
)

var full = flag.Bool("full", false, "all projects, and what runs the go command often")

func ifFull(t *testing.T) {
	t.Helper()
	if !*full {
		t.Skip("-full")
	}
}

// A world is a team at work in a directory.
type world struct {
	*Crew
	t    *testing.T
	at   string
	stop func()
	// before is the text of each file that was in the directory before the team.
	before map[string]string
}

// begin starts a team in a directory, as a process does.
func begin(t *testing.T, at string) *world {
	t.Helper()
	p, err := Open(filepath.Join(at, "programs"), filepath.Join(at, "state"))
	require.NoError(t, err)
	store, err := sqlite.Open(filepath.Join(at, "team.db"), sqlite.Config{})
	require.NoError(t, err)
	cfg := Config{Place: p, Journal: store}
	cfg.Guide, cfg.Librarian, cfg.Engineer, cfg.Tester = standin.Models(0)
	c, err := New(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.Run(ctx)
	}()
	w := &world{Crew: c, t: t, at: at}
	w.stop = func() {
		cancel()
		<-ended
		require.NoError(t, c.Close())
		require.NoError(t, store.Close())
		require.NoError(t, p.Close())
		w.stop = func() {}
	}
	t.Cleanup(func() { w.stop() })
	return w
}

// say sends a message to the conversation.
func (w *world) say(text string) {
	w.t.Helper()
	_, err := w.Hub.Send(w.t.Context(), agent.Input{Session: "main", Prompt: text, User: "you", Owner: "you",
		Interactive: true, Supersede: true})
	require.NoError(w.t, err)
}

// waits waits until the conversation ends or waits for a person, and returns the first pause.
func (w *world) waits() *agent.Pause {
	w.t.Helper()
	for ev, err := range w.Hub.Watch(w.t.Context(), "main", 0) {
		require.NoError(w.t, err)
		if _, over := ev.(*agent.RunEnded); !over { // also of what was before
			continue
		}
		res, err := w.Hub.Agent().Session("main").Result(w.t.Context())
		require.NoError(w.t, err)
		switch {
		case res.Status == agent.Paused && len(res.Pending) > 0:
			flat := res.Pending[0].Flat()
			return &flat[0]
		case res.Status != agent.Running && res.Status != agent.Paused:
			return nil
		}
	}
	return nil
}

func (w *world) decide(d agent.Decision) {
	w.t.Helper()
	_, err := w.Hub.Decide(w.t.Context(), "main", d.By("you"))
	require.NoError(w.t, err)
}

// toThePlan says something, answers the question, and returns the pause in which the plan waits.
func (w *world) toThePlan(text string) *agent.Pause {
	w.t.Helper()
	w.say(text)
	p := w.waits()
	require.NotNil(w.t, p)
	first, ok := FirstAnswer(p)
	require.True(w.t, ok, "%+v", p)
	w.decide(agent.Answer(p.ID, first))
	p = w.waits()
	require.NotNil(w.t, p, "%s", w.said())
	require.Equal(w.t, "plan.submit", p.Call.Name)
	return p
}

// yes decides on everything that is asked as long as it says so, until the conversation ends.
func (w *world) yes() (asked []string) {
	w.t.Helper()
	for p := w.waits(); p != nil; p = w.waits() {
		asked = append(asked, p.Title)
		if first, ok := FirstAnswer(p); ok && p.Kind != agent.PauseApproval {
			w.decide(agent.Answer(p.ID, first))
			continue
		}
		w.decide(agent.Approve(p.ID))
	}
	return asked
}

// said returns the last thing that the guide has said.
func (w *world) said() string {
	res, err := w.Hub.Agent().Session("main").Result(w.t.Context())
	require.NoError(w.t, err)
	return res.Text()
}

// files returns the files of the directory, but for what was there at the start, which nobody has
// changed.
func (w *world) files() map[string]string {
	w.t.Helper()
	all := make(map[string]string)
	err := fs.WalkDir(os.DirFS(w.Place.Dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(name, ".agents/") || name == "go.mod" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(w.Place.Dir, name))
		all[name] = string(text)
		return err
	})
	require.NoError(w.t, err)
	for name, text := range w.before {
		require.Equal(w.t, text, all[name], name)
		delete(all, name)
	}
	return all
}

// has writes what is in the directory before the team: another module, a package that isn't built,
// and files of others. It returns how many entries of the directory these are.
func (w *world) has() int {
	w.t.Helper()
	w.before = map[string]string{"nested/go.mod": "module other\n\ngo 1.24\n", "nested/n.go": "package nested\n",
		"tagged/t.go": "//go:build ignore\n\npackage main\n", ".git/HEAD": "ref: refs/heads/main\n",
		"notes.txt": "mine\n"}
	for name, text := range w.before {
		at := filepath.Join(w.Place.Dir, name)
		require.NoError(w.t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(w.t, os.WriteFile(at, []byte(text), 0o644))
	}
	return 4
}

// golang runs a go command in the directory.
func (w *world) golang(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = w.Place.Dir
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	return string(out)
}
