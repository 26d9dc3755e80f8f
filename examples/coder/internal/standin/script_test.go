package standin

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
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

// script returns the lines of testdata/script.txt below a heading, each with what is said before.
func script(t *testing.T, heading string) (lines [][2]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/script.txt")
	require.NoError(t, err)
	below, before := "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			_, before, _ = strings.Cut(line, ", after: ")
		case strings.HasPrefix(line, "# Requests"), strings.HasPrefix(line, "# Sentences"):
			below = line[2:]
		case line != "" && line[0] != '#' && strings.HasPrefix(below, heading):
			lines = append(lines, [2]string{line, before})
		}
	}
	return lines
}

func TestTheScriptDoesWhatItKnows(t *testing.T) {
	lines := script(t, "Requests")
	require.Len(t, lines, 60)
	w := newWorld(t)
	for i, line := range lines {
		w.reset(t, "s-"+strconv.Itoa(i))
		if line[1] != "" {
			w.say(t, line[1])
		}
		w.did = nil
		said, want, _ := strings.Cut(line[0], " => ")
		answer := w.say(t, said)
		got := "say"
		if len(w.did) > 0 {
			got = strings.Join(w.did, ", ")
		}
		require.Equal(t, want, got, "%s: %s", said, answer)
		require.NotContains(t, answer, "I don't know this request", said)
	}
}

// What is no request does nothing, not even read, wherever it is said.
func TestWhatIsNoRequestDoesNothing(t *testing.T) {
	lines := script(t, "Sentences")
	require.GreaterOrEqual(t, len(lines), 200)
	w := newWorld(t)
	for i, line := range lines {
		w.reset(t, "s-"+strconv.Itoa(i))
		if i%3 > 0 {
			w.say(t, []string{"What would you change?", "Fix the failing test, but don't commit"}[i%3-1])
		}
		w.did = nil
		require.Contains(t, []string{"Then I do nothing.", "Good: I do nothing of that."}, w.say(t, line[0]), line[0])
		require.Empty(t, w.did, line[0])
	}
}

// wrapped returns what makes a request one no more.
func wrapped(said string) []string {
	low, bare := strings.ToLower(said[:1])+said[1:], strings.TrimRight(said, ".?!")
	return []string{"don't " + low, "Please don't " + low, "never " + low, "Should I " + low, "Why would you " + low,
		"If I say yes, " + low, "My boss said: " + low, "I'm not asking you to " + low, "I'd rather you didn't " + low,
		"no, don't " + low, "Nicht: " + low, "don't say hello and " + low, bare + " - no wait, don't",
		bare + ". Actually no.", bare + ", or maybe not", bare + "? Not yet.", bare + ". stop, forget it",
		bare + " (just kidding)", bare + ", but only if I say so", bare + " tomorrow", bare + " and then delete it",
		bare + " if it is good", bare + " when you can", bare + ", unless it is late", bare + " instead",
		"maybe " + low, "then " + low, low + ", then don't", "I " + low, "they " + low, "you " + low, "how do I " + low}
}

func TestWhatIsMoreThanARequestIsNone(t *testing.T) {
	for _, line := range script(t, "Requests") {
		said, _, _ := strings.Cut(line[0], " => ")
		for _, text := range wrapped(said) {
			require.Contains(t, []string{doesOffer, doesLimit}, understand(text).act, text)
		}
	}
}

func TestWhatARequestNames(t *testing.T) {
	for said, want := range map[string]map[string]string{
		"explain wrap.go":                                {"file": "wrap.go"},
		"Explain wrap.Lines":                             {"name": "wrap.Lines"},
		"find “len(lines)”":                              {"name": "len(lines)"},
		"show me the file go.mod":                        {"file": "go.mod"},
		`replace " n" by "m " in ./cmd/wrap/main.go`:     {"old": " n", "new": "m ", "file": "./cmd/wrap/main.go"},
		"replace `don't` by `do not, ever` in README.md": {"old": "don't", "new": "do not, ever", "file": "README.md"},
	} {
		got := understand(said).values
		for name, value := range got {
			require.Equal(t, want[name], value, "%s: %s", said, name)
		}
		require.NotEmpty(t, got, said)
	}
}

// TestEachLineOfTheListIsARequest: and each kind of request has a line, but for answers.
func TestEachLineOfTheListIsARequest(t *testing.T) {
	acts := []string{doesYes, doesNo, doesLimit}
	lines := regexp.MustCompile("(?m)^- `(.*)`$").FindAllStringSubmatch(list(), -1)
	require.Len(t, lines, strings.Count(list(), "\n"))
	for _, m := range lines {
		w := understand(m[1])
		require.NotEqual(t, doesOffer, w.act, m[1])
		acts = append(acts, w.act)
	}
	for _, f := range known {
		require.Contains(t, acts, f.act)
		require.Contains(t, apply(), f.act)
	}
	for _, text := range Requests { // the buttons
		require.NotEqual(t, doesOffer, understand(text).act, text)
	}
}

func apply() (all []string) {
	for act := range acts {
		all = append(all, act)
	}
	return all
}

// TestTheReadmeSaysWhatIsKnown reads what it has people say, also in commands.
func TestTheReadmeSaysWhatIsKnown(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	var known, unknown int
	for _, row := range regexp.MustCompile(`(?m)^\| (.*say “.*?) \| (.*) \|$`).FindAllStringSubmatch(string(text), -1) {
		for _, m := range regexp.MustCompile(`“(.*?)”`).FindAllStringSubmatch(row[1], -1) {
			act := understand(m[1]).act
			if strings.Contains(row[2], "doesn't know") {
				unknown++
				require.Equal(t, doesOffer, act, m[1])
			} else {
				known++
				require.NotEqual(t, doesOffer, act, m[1])
			}
		}
	}
	for _, m := range regexp.MustCompile(`-p "(.*)"|/plan (.*?)`+"`").FindAllStringSubmatch(string(text), -1) {
		if said := m[1] + m[2]; said != "request" {
			known++
			require.NotEqual(t, doesOffer, understand(said).act, said)
		}
	}
	require.Equal(t, []int{4, 2}, []int{known, unknown})
}

// A world is an agent with the stand-in in a copy of the little repository. Its files are real; go
// and git are as these are there.
type world struct {
	dir string
	*desk
	did    []string // what was called, each once
	tested func()   // is called for each run of go
}

func (w *world) call(what string) {
	if !slices.Contains(w.did, what) {
		w.did = append(w.did, what)
	}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), tested: func() {}}
	model := providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		res, err := provider.Generate(ctx, New(0), req)
		for _, c := range res.Calls() {
			if name, ok := strings.CutPrefix(c.Name, "file."); ok {
				w.call(name)
			}
		}
		return res, err
	})
	type input struct {
		Program string   `json:"program" enum:"go,git"`
		Args    []string `json:"args"`
	}
	run := func(_ context.Context, in input) (string, error) { return w.run(in.Program, in.Args), nil }
	w.desk = newDesk(t, w.dir, model, tools.New(tools.Spec{Name: "look", ReadOnly: true}, run),
		tools.New(tools.Spec{Name: "run"}, run))
	w.reset(t, "s-1")
	return w
}

// reset begins a session in a fresh copy.
func (w *world) reset(t *testing.T, session string) {
	t.Helper()
	w.session = session
	for name, text := range archive("repo") {
		to := filepath.Join(w.dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, []byte(text), 0o644))
	}
	for name := range archive("add") {
		_ = os.Remove(filepath.Join(w.dir, name)) // or it isn't there
	}
}

// say says something, and returns the answer. None of what is offered is chosen.
func (w *world) say(t *testing.T, text string) string {
	t.Helper()
	return w.desk.say(t, agent.Input{Prompt: text, Mode: "auto"}, func(p agent.Pause) agent.Decision {
		if p.Call.Name == "ask" {
			return agent.Reject(p.ID, "none of these")
		}
		return agent.Approve(p.ID)
	}).Text()
}

// run does what go and git would.
func (w *world) run(program string, args []string) string {
	text, _ := os.ReadFile(filepath.Join(w.dir, "wrap.go"))
	w.call(program + " " + args[0])
	switch {
	case program == "go":
		w.tested()
		for i := range repairs() {
			if args[0] == "test" && strings.Contains(string(text), repairs()[i].Old) {
				return "exit code 1\n--- FAIL: " + strings.Split(repairs()[i].Sign.String(), "|")[0] + " (0.00s)\nFAIL"
			}
		}
	case args[0] == "status" && string(text) != archive("repo")["wrap.go"]:
		return "exit code 0\n M wrap.go"
	}
	return "exit code 0; no output"
}
