package standin

import (
	"context"
	"flag"
	"os"
	"path/filepath"
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

var all = flag.Bool("all", false, "carry out all sentences, not a few")

// Nothing is done that a sentence forbids or only asks about. How many are understood is logged:
// the rest is an answer or an offer in place of what was meant. Each sentence is read as the
// stand-in reads it; some are carried out, too.
func TestSentencesThatPeopleType(t *testing.T) {
	text, err := os.ReadFile(*sentences)
	require.NoError(t, err)
	w := newWorld(t)
	n, understood := 0, 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "#") || len(f) != 4 {
			continue
		}
		n++
		var said []provider.Message
		before := map[string]string{"mended": "Fix the failing test, but don't commit",
			"proposed": "What would you change?"}[f[0]]
		if before != "" {
			said = append(said, provider.User(before), provider.Assistant("Done."))
		}
		wish := newTurn(&provider.Request{Messages: append(said, provider.User(f[1]))}).wish
		act := wish.act
		if act == doesRefuse || act == doesGoOn {
			act = doesAnswer
		}
		if act == f[2] {
			understood++
		} else {
			t.Logf("%s | %s | wants %s, gets %s", f[0], f[1], f[2], act)
		}
		did := may(&wish)
		if *all || n%23 == 0 {
			w.reset(t, "s-"+strconv.Itoa(n))
			if before != "" {
				w.say(t, before)
			}
			w.did = nil
			w.say(t, f[1])
			require.Subset(t, did, w.did, line)
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
			require.NotContains(t, did, map[rune]string{'w': "write", 'c': "commit", 'r': "run"}[c], line)
		}
	}
	t.Logf("%d of %d sentences are understood", understood, n)
}

// Whatever a sentence asks for isn't done if it is forbidden, asked about, told by somebody else or
// taken back.
func TestWhatIsForbiddenIsNotDone(t *testing.T) {
	text, err := os.ReadFile("testdata/sentences.txt")
	require.NoError(t, err)
	n := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		if len(f) != 4 || !edits(f[2]) && f[2] != "commit" || strings.Contains(f[1], ",") {
			continue
		}
		low, bare := strings.ToLower(f[1][:1])+f[1][1:], strings.TrimRight(f[1], ".?!")
		for _, said := range []string{"don't " + low, "Please don't " + low, "never " + low, "Should I " + low,
			"Why would you " + low, "If I say yes, " + low, "My boss said: " + low, "I'm not asking you to " + low,
			"I'd rather you didn't " + low, "Bitte nicht: " + low, "no, don't " + low, "don't say hello and " + low,
			bare + " - no wait, don't", bare + ". Actually no.", bare + ", or maybe not", bare + "? Not yet.",
			bare + ". stop, forget it", bare + " (just kidding)", bare + ", but only if I say so", bare + " tomorrow",
			"maybe " + low} {
			if n++; *all || n%48 == 0 {
				w := understand(said)
				require.Empty(t, may(&w), "%q is done as %s", said, w.act)
			}
		}
	}
}

// A sentence that names another way isn't done in the stand-in's own.
func TestAnotherWayIsNotTaken(t *testing.T) {
	for _, said := range []string{"fix the failing test by deleting it", "make the tests pass by changing what they want",
		"mend the failing test using generics", "repariere den Test, indem du ihn löschst",
		"add a function with a test by copying Lines", "fix the failing test in paragraphs.go", "amend the last commit",
		"commit only wrap.go", `commit with the message "done"`, "fix only the first failure", "git commit -m done",
		"the test is wrong, fix the test", "someone should fix the failing test"} {
		w := understand(said)
		require.Empty(t, may(&w), "%q is done as %s", said, w.act)
	}
}

// may returns what an act may do.
func may(w *wish) (list []string) {
	if edits(w.act) {
		list = append(list, "write")
	}
	if (w.act == "mend" || w.act == "commit") && !w.limits[noCommit] {
		list = append(list, "commit")
	}
	if (edits(w.act) || w.act == "check") && !w.limits[noRun] {
		list = append(list, "run")
	}
	return list
}

// A world is an agent with the stand-in in a copy of the little repository. Its files are real; go
// and git are as these are there.
type world struct {
	dir string
	*desk
	did    []string // write, commit, run
	tested func()   // is called for each run of go
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), tested: func() {}}
	model := providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
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
		to := filepath.Join(w.dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, os.WriteFile(to, []byte(text), 0o644))
	}
	for _, name := range []string{"indent", "shorten"} {
		_, _ = os.Remove(filepath.Join(w.dir, name+".go")), os.Remove(filepath.Join(w.dir, name+"_test.go"))
	}
}

func (w *world) say(t *testing.T, text string) {
	t.Helper()
	w.desk.say(t, agent.Input{Prompt: text, Mode: "auto"}, func(p agent.Pause) agent.Decision {
		return agent.Reject(p.ID, "none of these") // of ask alone: the rest isn't asked about
	})
}

// run does what go and git would.
func (w *world) run(program string, args []string) string {
	text, _ := os.ReadFile(filepath.Join(w.dir, "wrap.go"))
	switch {
	case program == "go":
		w.did = append(w.did, "run")
		w.tested()
		for i := range repairs() {
			if args[0] == "test" && strings.Contains(string(text), repairs()[i].Old) {
				return "exit code 1\n--- FAIL: " + strings.Split(repairs()[i].Sign.String(), "|")[0] + " (0.00s)\nFAIL"
			}
		}
	case args[0] == "commit":
		w.did = append(w.did, "commit")
	case args[0] == "status" && string(text) != archive("repo")["wrap.go"]:
		return "exit code 0\n M wrap.go"
	}
	return "exit code 0; no output"
}
