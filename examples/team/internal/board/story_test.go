package board

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type object = map[string]any

// A story is a team with models that follow a script, and files in memory.
type story struct {
	hub   *live.Hub
	plans *plan.Runner
	feed  *Feed
	page  http.Handler

	pace     time.Duration   // between two words of a worker
	failures int             // rounds of the step "count" that fail
	hold     chan struct{}   // not nil: engineers wait for it
	written  map[string]bool // by mu, as all that follows
	undone   []string
	grants   []Grant
	works    []BackgroundWork
	runs     map[string][]CheckRun // by step
	mu       sync.Mutex
}

func planned(nodes ...object) providertest.Step {
	return providertest.Call(plan.ToolSubmit, object{"title": "A command that counts words",
		"why": "Tests come first, so that both packages have something to aim at.", "nodes": nodes})
}

func node(id, worker, prompt string, after ...string) object {
	n := object{"id": id, "worker": worker, "prompt": prompt, "after": after}
	if worker == "engineer" {
		n["checks"] = []string{"go vet", "go test"}
	}
	return n
}

var (
	testsNode = node("tests", "tester",
		"Write the tests of both packages. Cover empty input, one word, and words of other alphabets.")
	countNode = node("count", "engineer",
		"Write package count: Words returns how often each word occurs in a reader.", "tests")
	reportNode = node("report", "engineer",
		"Write package report: it prints a table of words, the most frequent first.", "tests")
	mainNode = node("main", "engineer", "Put it together as cmd/words, with a flag -top.", "count", "report")
)

// guide answers as the guide does.
func (s *story) guide(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	last := req.Messages[len(req.Messages)-1]
	step := providertest.Say("The command is there: try `go run ./cmd/words`.")
	result := ""
	if last.Role == provider.RoleTool {
		result = last.Parts[len(last.Parts)-1].Result.Text()
	}
	switch {
	case strings.HasPrefix(last.Text(), "Look up"):
		s.mu.Lock()
		s.works = append(s.works, BackgroundWork{ID: "w1", Member: "librarian", State: "running",
			Task: "Look up how other tools count words"})
		s.mu.Unlock()
		step = providertest.Say("The librarian looks it up beside us.")
	case strings.Contains(last.Text(), "slug"):
		s.failures = 3
		step = planned(testsNode, countNode)
	case strings.HasPrefix(last.Text(), "Cover it"):
		step = planned(testsNode, countNode, node("main", "engineer", "Put it together as cmd/words.", "tests"))
	case last.Role != provider.RoleTool:
		step = providertest.Reply(providertest.Say("I can build that. One question first."),
			providertest.Call("ask", object{"question": "Should upper and lower case count as the same word?",
				"options": []string{"The same word", "Different words"}}))
	case strings.Contains(result, "The same word"), strings.Contains(result, "Different words"):
		step = providertest.Call("librarian",
			object{"task": "What is in the directory, and which rules does the project have?"})
	case strings.Contains(result, "empty module"):
		step = providertest.Reply(providertest.Say("The directory has an empty module. I propose a plan."),
			planned(testsNode, countNode, reportNode, mainNode))
	case strings.Contains(result, "flag -top") && !strings.Contains(result, "status:"):
		longer := node("main", "engineer", "Put it together as cmd/words, with the flags -top and -json.", "count",
			"render")
		docs := node("docs", "engineer", "Write a README with two examples.", "main")
		render := node("render", "engineer", "Write package render: a table, or JSON.", "tests")
		step = planned(testsNode, countNode, render, longer, docs)
	}
	return providertest.Script(providertest.Slow(s.pace/4, step)).Stream(ctx, req)
}

const wrong = `package count

import "strings"

// Words returns how often each word occurs in a text.
func Words(text string) map[string]int {
	counts := map[string]int{}
	for _, w := range strings.Split(text, " ") {
		counts[w]++
	}
	return counts
}
`

// worker answers as a tester or an engineer does.
func (s *story) worker(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	last, task := req.Messages[len(req.Messages)-1], req.Messages[0].Text()
	name, _, _ := strings.Cut(strings.TrimPrefix(task, "Write package "), ":")
	file := name + "/" + name + ".go"
	switch {
	case strings.HasPrefix(task, "Write the tests"):
		file = "count/count_test.go"
	case strings.HasPrefix(task, "Put it together"):
		file = "cmd/words/main.go"
	case strings.Contains(task, "README"):
		file = "README.md"
	}
	step := providertest.Reply(providertest.Say("I read the tests first. The words of a text are separated by white "+
		"space, and the empty text has none, so I split it and count each word in a map. Now I write "+file+"."),
		providertest.Call("write", object{"path": file, "content": wrong}))
	if last.Role == provider.RoleTool {
		if s.hold != nil && strings.HasPrefix(task, "Write package") {
			select {
			case <-s.hold:
			case <-ctx.Done():
			}
		}
		step = providertest.Say("The file is written, and the tests of the package describe what it does.")
		result := last.Parts[0].Result
		if strings.HasPrefix(task, "Put it together") && !strings.Contains(result.Text(), "coverage") && !result.Error {
			step = providertest.Reply(providertest.Say("Now I want to see how much the tests cover."),
				providertest.Call("run",
					object{"program": "go", "args": []string{"test", "-count=1", "-cover", "./..."}}))
		}
	}
	pace := s.pace
	if s.failures == 1 && strings.Contains(req.Messages[len(req.Messages)-1].Text(), "want:") { // the second round
		pace *= 10
	}
	return providertest.Script(providertest.Slow(pace, step)).Stream(ctx, req)
}

const failed = `--- FAIL: TestWordsOfATextWithLineEnds (0.00s)
    count_test.go:21: Words("one two\ntwo"):
        got:  map[one:1 two\ntwo:1]
        want: map[one:1 two:2]
FAIL
FAIL	example.org/words/count	0.004s
FAIL
`

type write struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type program struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
}

// newStory returns a team that changes can set up before its page is made.
func newStory(t testing.TB, changes ...func(*story)) *story {
	t.Helper()
	s := &story{feed: NewFeed(), written: map[string]bool{}, runs: map[string][]CheckRun{}}
	for _, change := range changes {
		change(s)
	}
	store := &journal.MapStore{}
	files := []tools.Tool{
		tools.Func[write, string]{Spec: tools.Spec{Name: "write"},
			Run: func(_ context.Context, in write) (string, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.written[in.Path] = true
				return "written", nil
			}, Undo: func(_ context.Context, in write, _ string) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.written, in.Path)
				s.undone = append(s.undone, in.Path)
				return nil
			}},
		tools.Func[program, string]{Spec: tools.Spec{Name: "run", Approval: tools.AskAlways, AllowAlways: true},
			Title: func(_ context.Context, in program) string {
				return "Run " + in.Program + " " + strings.Join(in.Args, " ")
			},
			Scope: func(program) string { return "go test" },
			Run:   func(context.Context, program) (string, error) { return "coverage: 91.7% of statements", nil }},
	}
	make := func(cfg agent.Config) *agent.Agent {
		cfg.Journal = store
		a, err := agent.New(cfg)
		require.NoError(t, err)
		return a
	}
	own := make(agent.Config{Name: "runner", Provider: providertest.Script(), Tools: files})
	engineer := make(agent.Config{Name: "engineer", Provider: provider.Func(s.worker), Tools: files})
	tester := make(agent.Config{Name: "tester", Provider: provider.Func(s.worker), Tools: files})
	check := func(name string) plan.Check {
		return func(_ context.Context, c plan.Candidate) (plan.Verdict, error) {
			run := CheckRun{Round: c.Round, Rounds: 3, Name: name, Command: name + " ./" + c.Node.ID, Passed: true,
				Took: 40 * time.Millisecond}
			if name == "go test" {
				run.Output = "ok  \texample.org/words/" + c.Node.ID + "\t0.003s\n"
				if c.Node.ID == "count" && c.Round <= s.failures {
					run.Passed, run.Output = false, failed
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.runs[c.Node.ID] = append(s.runs[c.Node.ID], run)
			return plan.Verdict{Passed: run.Passed, Feedback: run.Output}, nil
		}
	}
	var err error
	s.plans, err = plan.New(plan.Config{Agent: own, AskOnFailure: true,
		Workers: map[string]*agent.Agent{"engineer": engineer, "tester": tester},
		Checks:  map[string]plan.Check{"go vet": check("go vet"), "go test": check("go test")}, Event: s.feed.Node})
	require.NoError(t, err)
	found := providertest.Say("An empty module example.org/words, and two skills: go-style and cli-tools.").Response()
	librarian := make(agent.Config{Name: "librarian",
		Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			return found, nil
		})})
	guide := make(agent.Config{Name: "guide", Provider: provider.Func(s.guide),
		Tools: append(plan.Tools(s.plans), agent.AskTool(), agent.AsTool(librarian,
			tools.Spec{Name: "librarian", ReadOnly: true, Description: "Reads the directory."}))})
	s.hub, err = live.New(live.Config{Agent: guide, Drain: time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.hub.Close() })
	s.page, err = New(Config{Hub: s.hub, Plans: s.plans, Feed: s.feed, Dir: "/tmp/words",
		About:    "A stand-in answers. The files, go build and go test are real.",
		Examples: []string{"Build a command that counts words", "Write a slug package", "Turn CSV into JSON"},
		Staged:   s.staged, Checks: s.checks, Done: s.done,
		Background: s.background, Undo: s.undo, Grants: s.allowed, Revoke: s.revoke})
	require.NoError(t, err)
	return s
}

func (s *story) staged(_ context.Context, _, node string) ([]FileChange, error) {
	names := map[string]string{"tests": "count/count_test.go", "count": "count/count.go", "report": "report/report.go",
		"render": "render/render.go", "main": "cmd/words/main.go", "docs": "README.md"}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.written[names[node]] {
		return nil, nil
	}
	diff := "--- /dev/null\n+++ b/" + names[node] + "\n@@ -0,0 +1,11 @@\n+" +
		strings.ReplaceAll(strings.TrimSpace(wrong), "\n", "\n+") + "\n"
	return []FileChange{{Name: names[node], Diff: diff, Added: 11}}, nil
}

func (s *story) checks(_ context.Context, _, node string) ([]CheckRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.runs[node]), nil
}

func (s *story) done(ctx context.Context, run string) (*Summary, error) {
	state, err := s.plans.State(ctx, run)
	if err != nil {
		return nil, err
	}
	out := &Summary{Command: "go run ./cmd/words -top 3 < story.txt", Output: "the    12\nof      7\nwhale   5\n",
		Agents: []AgentRow{{"guide", 6, 4210, 731, 3.2}, {"librarian", 2, 1800, 240, 1.1},
			{"tester", 3, 2950, 1204, 2.4},
			{"engineer", 11, 12480, 3977, 8.9}}}
	for i := range state.Nodes {
		files, _ := s.staged(ctx, run, state.Nodes[i].Node.ID)
		out.Files = append(out.Files, files...)
	}
	return out, nil
}

func (s *story) background(context.Context, string) ([]BackgroundWork, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.works), nil
}

func (s *story) undo(ctx context.Context, session, _ string) error {
	_, err := s.hub.Agent().Session(session).Undo(ctx, agent.Rollback{})
	return err
}

func (s *story) allowed(context.Context) ([]Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.grants), nil
}

func (s *story) revoke(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.grants, func(g Grant) bool { return g.ID == id })
	if i < 0 {
		return errors.New("there is no such permission")
	}
	s.grants = slices.Delete(s.grants, i, i+1)
	return nil
}
