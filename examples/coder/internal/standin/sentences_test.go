package standin

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

var sentences = flag.String("sentences", "testdata/sentences.txt", "a file of sentences, as that one")

// In none of the sentences is anything done that it forbids or only asks about. How many are
// understood is logged: the rest is an answer or an offer in place of what was meant.
func TestSentencesThatPeopleType(t *testing.T) {
	text, err := os.ReadFile(*sentences)
	require.NoError(t, err)
	w := newWorld(t)
	all, understood := 0, 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "#") || len(f) != 4 {
			continue
		}
		all++
		w.reset(t, "s-"+strconv.Itoa(all))
		for _, first := range map[string][]string{"mended": {"Fix the failing test, but don't commit"},
			"proposed": {"What would you change?"}}[f[0]] {
			w.say(t, first)
		}
		w.did = nil
		act := w.say(t, f[1])
		if act == doesRefuse {
			act = doesAnswer
		}
		if act == f[2] {
			understood++
		} else {
			t.Logf("%s | %s | wants %s, gets %s", f[0], f[1], f[2], act)
		}
		forbidden := f[3]
		switch f[2] {
		case doesAnswer, doesOffer, "propose", "find":
			forbidden += "wcr"
		case "check", "review":
			forbidden += "wc"
		case "add", "edit":
			forbidden += "c"
		}
		for _, c := range forbidden {
			require.NotContains(t, w.did, map[rune]string{'w': "write", 'c': "commit", 'r': "run"}[c], line)
		}
	}
	t.Logf("%d of %d sentences are understood", understood, all)
}

// A world is an agent with the stand-in in a copy of the little repository. Its files are real; go
// and git are as these are there.
type world struct {
	dir string
	*desk
	act string   // of the newest request
	did []string // write, commit, run
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir()}
	model := providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		if w.act == "" {
			w.act = newTurn(req).wish.act
		}
		res, err := provider.Generate(ctx, New(0), req)
		for _, c := range res.Calls() {
			if c.Name == "file.edit" || c.Name == "file.write" {
				w.did = append(w.did, "write")
			}
		}
		return res, err
	})
	type input struct {
		Program string   `json:"program" enum:"go,git"`
		Args    []string `json:"args"`
	}
	run := tools.New(tools.Spec{Name: "run"}, func(_ context.Context, in input) (string, error) {
		return w.run(in.Program, in.Args), nil
	})
	w.desk = newDesk(t, w.dir, model, run)
	w.reset(t, "s-1")
	return w
}

// reset begins a session in a fresh copy.
func (w *world) reset(t *testing.T, session string) {
	t.Helper()
	w.session = session
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "wrap.go")))
	for _, name := range []string{"go.mod", "README.md", "wrap.go", "wrap_test.go", "paragraphs.go", "cmd/wrap/main.go"} {
		text, err := data.ReadFile("data/repo/" + name + ".txt")
		require.NoError(t, err)
		to := filepath.Join(w.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, text, 0o644))
	}
	for _, name := range []string{"indent", "shorten"} {
		_, _ = os.Remove(filepath.Join(w.dir, name+".go")), os.Remove(filepath.Join(w.dir, name+"_test.go"))
	}
}

// say sends a message, and returns what the stand-in takes it for.
func (w *world) say(t *testing.T, text string) string {
	t.Helper()
	w.act = ""
	w.desk.say(t, agent.Input{Prompt: text, Mode: "auto"}, func(p agent.Pause) agent.Decision {
		return agent.Reject(p.ID, "none of these") // of ask alone: the rest isn't asked about
	})
	return w.act
}

// run does what go and git would.
func (w *world) run(program string, args []string) string {
	text, _ := os.ReadFile(filepath.Join(w.dir, "wrap.go"))
	before, _ := data.ReadFile("data/repo/wrap.go.txt")
	switch {
	case program == "go":
		w.did = append(w.did, "run")
		for i := range repairs {
			if args[0] == "test" && strings.Contains(string(text), repairs[i].Old) {
				return "exit code 1\n--- FAIL: " + strings.Split(repairs[i].Sign, "|")[0] + " (0.00s)\nFAIL"
			}
		}
	case args[0] == "commit":
		w.did = append(w.did, "commit")
	case args[0] == "status" && !slices.Equal(text, before):
		return "exit code 0\n M wrap.go"
	}
	return "exit code 0; no output"
}
