package policy_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A ledger has the commands that ran.
type ledger struct {
	mu  sync.Mutex
	ran []string
}

// run returns the tool "run", of high risk, which may be granted.
func (l *ledger) run() tools.Tool {
	return tools.New(tools.Spec{Name: "run", Risk: tools.High, AllowAlways: true},
		func(ctx context.Context, in command) (string, error) {
			call, _ := tools.CallOf(ctx)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.ran = append(l.ran,
				strings.TrimSpace(call.Labels.Get("project")+" "+in.Program+" "+strings.Join(in.Args, " ")))
			return "ok", nil
		})
}

// take returns what ran since the last call.
func (l *ledger) take() (ran []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ran, l.ran = l.ran, nil
	return ran
}

// obedient is a model that runs the commands of the prompt, one for each line and step.
func obedient(_ context.Context, r *provider.Request) (*provider.Response, error) {
	done := 0
	for _, m := range r.Messages {
		switch m.Role {
		case provider.RoleUser:
			done = 0
		case provider.RoleAssistant:
			done++
		}
	}
	if lines := strings.Split(provider.LastUserText(r.Messages), "\n"); done < len(lines) {
		return providertest.Call("run", cmd(strings.Fields(lines[done])...)).Response(), nil
	}
	return providertest.Say("Done.").Response(), nil
}

func newAgent(t *testing.T, set *policy.Set, store journal.Store, more agent.Config) *agent.Agent {
	t.Helper()
	more.Provider, more.Journal = providertest.Func(obedient), store
	more.Policies = append([]tools.Policy{set.Policy()}, more.Policies...)
	more.Hooks = append(more.Hooks, set.Hooks())
	a, err := agent.New(more)
	require.NoError(t, err)
	return a
}

// ask runs a prompt, and returns what waits for a decision.
func ask(t *testing.T, a *agent.Agent, in agent.Work) []agent.Pause {
	t.Helper()
	res, err := a.Run(t.Context(), in)
	if err == nil {
		return nil
	}
	require.ErrorAs(t, err, new(*agent.PausedError))
	return res.Pending
}

// denied returns what the model was told about calls that were denied.
func denied(t *testing.T, a *agent.Agent, session string) (why []string) {
	t.Helper()
	facts, err := a.Session(session).Facts(t.Context())
	require.NoError(t, err)
	for _, f := range facts {
		if r, ok := f.(*agent.ToolFinished); ok && r.Result.Status == tools.Denied {
			why = append(why, r.Result.Parts[0].Text)
		}
	}
	return why
}

// testAsks asks about tests.
const testAsks = `{"rules":[{"effect":"ask","tool":"run","args":["go","test"]}]}`

func parsed(t *testing.T, text string) *policy.Rules {
	t.Helper()
	r, err := policy.Parse([]byte(text))
	require.NoError(t, err)
	return r
}

// shop is a project that all calls belong to.
func shop(*tools.Call) string { return "shop" }

// byLabel is the project of a call.
func byLabel(c *tools.Call) string { return c.Labels.Get("project") }

func inProject(session, project, prompt string) agent.Input {
	if project == "" {
		return agent.Input{Session: session, Prompt: prompt}
	}
	return agent.Input{Session: session, Prompt: prompt, Labels: map[string]string{"project": project}}
}

func TestAnotherSessionOfTheProjectIsntAskedUntilTheGrantIsRevoked(t *testing.T) {
	var l ledger
	set, err := policy.New(policy.Config{Rules: parsed(t, testAsks), Project: byLabel})
	require.NoError(t, err)
	a := newAgent(t, set, &journal.MapStore{}, agent.Config{Tools: []tools.Tool{l.run()}})

	pauses := ask(t, a, inProject("s-1", "shop", "go test ./a"))
	require.Len(t, pauses, 1)
	require.Equal(t, []tools.Scope{{Name: "session", Text: "all calls of run, in this session"},
		{Name: "project", Text: "run `go test …` in this project"}}, pauses[0].Scopes)
	require.Empty(t, ask(t, a, agent.Resume("s-1", agent.Approve(pauses[0].ID).For(policy.Project).By("ann"))))
	require.Empty(t, ask(t, a, inProject("s-2", "shop", "go test ./b")), "another session isn't asked")
	require.Equal(t, []string{"shop go test ./a", "shop go test ./b"}, l.take())
	require.Len(t, ask(t, a, inProject("s-3", "bank", "go test ./c")), 1, "another project is")
	require.Len(t, ask(t, a, inProject("s-4", "", "go test ./c")), 1, "and so is none")

	pauses = ask(t, a, inProject("s-5", "shop", "go vet"))
	require.Equal(t, "run `go vet` in this project", pauses[0].Scopes[1].Text, "no rule asks: exactly this")
	require.Empty(t, ask(t, a, agent.Resume("s-5", agent.AllowAlways(pauses[0].ID).By("bob"))))
	list, err := set.Standing(t.Context(), a.Session("s-5"), "shop")
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "all calls of run, in this session", list[0].Text)
	require.Equal(t, "bob", list[0].Rule.By)
	require.Equal(t, "run `go test …` in this project", list[1].Text)
	require.Equal(t, "ann", list[1].Rule.By)
	for _, g := range list {
		require.NoError(t, set.Revoke(t.Context(), a.Session("s-5"), "shop", g.Text, "ann"))
		require.Error(t, set.Revoke(t.Context(), a.Session("s-5"), "shop", g.Text, "ann"), "it is gone")
	}
	list, err = set.Standing(t.Context(), a.Session("s-5"), "shop")
	require.NoError(t, err)
	require.Empty(t, list)
	l.take()
	require.Len(t, ask(t, a, inProject("s-6", "shop", "go test ./d")), 1, "a third session is asked again")
	require.Empty(t, l.take())
}

func TestWhatIsGrantedIsWhatWasShown(t *testing.T) {
	for name, later := range map[string]string{
		"the rule is gone":   `{}`,
		"the rule is wider":  `{"rules":[{"effect":"ask","tool":"run","args":["go"]}]}`,
		"each call is asked": `{"hard":[{"effect":"ask","tool":"run"}],"rules":[{"effect":"ask","tool":"run","args":["go"]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var l ledger
			store, book := &journal.MapStore{}, policy.InMemory()
			set, err := policy.New(policy.Config{Rules: parsed(t, testAsks), Book: book, Project: shop})
			require.NoError(t, err)
			first := newAgent(t, set, store, agent.Config{Tools: []tools.Tool{l.run()}})
			pauses := ask(t, first, agent.Input{Session: "s", Prompt: "go test ./a"})
			set, err = policy.New(policy.Config{Rules: parsed(t, later), Book: book, Project: shop})
			require.NoError(t, err)
			second := newAgent(t, set, store, agent.Config{Tools: []tools.Tool{l.run()}})
			require.Empty(t, ask(t, second, agent.Resume("s", agent.Approve(pauses[0].ID).For(policy.Project))))
			require.Equal(t, []string{"go test ./a"}, l.take(), "the call was approved")
			granted, err := book.Rules(t.Context(), "shop")
			require.NoError(t, err)
			require.Empty(t, granted)
		})
	}
}

// TestHowFarAGrantReaches: by call and rule, what the scope of the project says.
func TestHowFarAGrantReaches(t *testing.T) {
	root, list := workspace(t)
	post := tools.New(tools.Spec{Name: "deploy"}, func(context.Context, command) (string, error) { return "ok", nil })
	scoped := tools.Func[struct{ Site string }, string]{Spec: tools.Spec{Name: "publish"},
		Run:   func(context.Context, struct{ Site string }) (string, error) { return "ok", nil },
		Scope: func(in struct{ Site string }) string { return in.Site }}
	clean := tools.New(tools.Spec{Name: "clean"}, func(context.Context, struct{}) (string, error) { return "ok", nil })
	high := tools.New(tools.Spec{Name: "pay", Risk: tools.High}, func(context.Context, struct{}) (string, error) {
		return "ok", nil
	})
	reg, err := tools.NewRegistry(append(list, post, scoped, clean, high)...)
	require.NoError(t, err)
	for _, c := range []struct{ rule, tool, input, want string }{
		{``, "run", `{"program":"git","args":["log","a b"]}`, "run `git log \"a b\"`"},
		{``, "run", `{"program":"git","args":["log"],"dir":"docs"}`, "run `git log` in docs"},
		{``, "exec", `{"argv":["go","test"]}`, "exec `go test`"},
		{``, "exec", `{"argv":["go","test"],"stdin":"x"}`, ""},
		{``, "run", `{"program":"go","args":["test"],"dir":"up"}`, ""},
		{`"args":["go"]`, "run", `{"program":"go","args":["test"]}`, "run `go …`"},
		{`"args":["test"]`, "run", `{"program":"go","args":["test"]}`, "run `go test`"}, // it isn't the first word
		{`"path":"docs"`, "run", `{"program":"go","args":["test"],"dir":"docs"}`, "run `go test` in docs"},
		{``, "file.write", `{"path":"docs/b.md","content":"x"}`, "file.write in docs/b.md"},
		{`"path":"docs/**"`, "file.write", `{"path":"docs/b.md","content":"x"}`, "file.write in docs/**"},
		{``, "file.write", `{"path":"docs/deep/b.md","content":"x"}`, ""},
		{``, "file.move", `{"from":"docs/a.md","to":"docs/b.md"}`, ""},
		{``, "post", `{"url":"https://example.com/a"}`, "post to example.com"},
		{`"host":"*.example.com"`, "post", `{"url":"https://a.example.com/a"}`, "post to *.example.com"},
		{``, "post", `{"url":"https://example.com:99/a"}`, ""},
		{``, "publish", `{"Site":"blog"}`, "publish `blog`"},
		{``, "deploy", string(words(strings.Repeat("long ", 60))), ""},
		{``, "clean", `{}`, "clean"},
		{``, "pay", `{}`, ""},
	} {
		rules := &policy.Rules{}
		if c.rule != "" {
			rules = parsed(t, `{"rules":[{"effect":"ask","tool":"*",`+c.rule+`}]}`)
		}
		set, err := policy.New(policy.Config{Rules: rules, Project: func(*tools.Call) string { return root }})
		require.NoError(t, err)
		call := &tools.Call{Name: c.tool, Input: []byte(c.input), Mode: "ask"}
		adm, err := reg.Admit(t.Context(), call, nil, nil, []tools.Policy{set.Policy()})
		require.NoError(t, err)
		require.Equal(t, tools.Ask, adm.Verdict.Effect, c)
		if c.want == "" {
			require.Empty(t, adm.Verdict.Scopes, c)
			continue
		}
		require.Equal(t, []tools.Scope{{Name: "project", Text: c.want + " in this project"}}, adm.Verdict.Scopes, c)
	}
}

func TestAChangedToolIsAskedAboutAgain(t *testing.T) {
	var l ledger
	book := policy.InMemory()
	set, err := policy.New(policy.Config{Book: book, Project: shop})
	require.NoError(t, err)
	a := newAgent(t, set, nil, agent.Config{Tools: []tools.Tool{l.run()}})
	pauses := ask(t, a, agent.Input{Session: "s", Prompt: "ls"})
	require.Empty(t, ask(t, a, agent.Resume("s", agent.Approve(pauses[0].ID).For(policy.Project))))
	require.Empty(t, ask(t, a, agent.Input{Session: "s-2", Prompt: "ls"}))
	changed := tool("run", tools.Spec{Description: "Runs anything as root.", AllowAlways: true})
	b := newAgent(t, set, nil, agent.Config{Tools: []tools.Tool{changed}})
	require.Len(t, ask(t, b, agent.Input{Session: "s", Prompt: "ls"}), 1)
}

func TestAHardDenialSurvivesAutoAndEveryGrant(t *testing.T) {
	var l ledger
	book := policy.InMemory()
	require.NoError(t, book.Put(t.Context(), "shop", policy.Rule{Tool: "run"}))
	set, err := policy.New(policy.Config{Book: book, Project: shop, Rules: parsed(t,
		`{"hard":[{"effect":"deny","tool":"run","args":["git","push"],"why":"A person pushes."}]}`)})
	require.NoError(t, err)
	a := newAgent(t, set, nil, agent.Config{Tools: []tools.Tool{l.run()}, Modes: set.Modes()})
	require.Empty(t, ask(t, a, agent.Input{Session: "s", Mode: "auto", Prompt: "git push\ngit log\ngit -C . push"}))
	require.Equal(t, []string{"git log"}, l.take())
	require.Equal(t, []string{"The call wasn't run: A person pushes.", "The call wasn't run: A person pushes."},
		denied(t, a, "s"))
}

func TestAGrantThatIsDroppedBeforeTheCallBeginsDenies(t *testing.T) {
	var l ledger
	book := policy.InMemory()
	grant := policy.Rule{Tool: "run", Args: []string{"go", "test"}}
	require.NoError(t, book.Put(t.Context(), "shop", grant))
	set, err := policy.New(policy.Config{Book: book, Project: shop})
	require.NoError(t, err)
	// it is called after the set's policy, so the grant is gone when that is called again
	drop := func(ctx context.Context, _ *tools.Definition, _ *tools.Call) tools.Verdict {
		require.NoError(t, book.Drop(ctx, "shop", grant))
		return tools.Verdict{}
	}
	a := newAgent(t, set, nil, agent.Config{Tools: []tools.Tool{l.run()}, Policies: []tools.Policy{drop}})
	require.Empty(t, ask(t, a, agent.Input{Session: "s", Prompt: "go test"}))
	require.Empty(t, l.take())
	require.Contains(t, denied(t, a, "s")[0], "was withdrawn before it began")
	require.Len(t, ask(t, a, agent.Input{Session: "s", Prompt: "go test"}), 1, "the next call asks")
}

func TestADenialThatComesBetweenApprovalAndExecutionHolds(t *testing.T) {
	var l ledger
	book := policy.InMemory()
	set, err := policy.New(policy.Config{Book: book, Project: shop})
	require.NoError(t, err)
	a := newAgent(t, set, nil, agent.Config{Tools: []tools.Tool{l.run()}, Modes: set.Modes()})
	pauses := ask(t, a, agent.Input{Session: "s", Mode: "ask", Prompt: "go test"})
	require.NoError(t, book.Put(t.Context(), "shop", policy.Rule{Effect: tools.Deny, Tool: "run"}))
	require.Empty(t, ask(t, a, agent.Resume("s", agent.Approve(pauses[0].ID))))
	require.Empty(t, l.take())
	require.Len(t, denied(t, a, "s"), 1)
}

func TestNoGrantLeaksIntoAnotherProject(t *testing.T) {
	var l ledger
	set, err := policy.New(policy.Config{Project: byLabel})
	require.NoError(t, err)
	a := newAgent(t, set, nil, agent.Config{Tools: []tools.Tool{l.run()}})
	projects := map[string]string{"shop": "go test", "bank": "make all"} // what is granted in each
	for project, granted := range projects {
		pauses := ask(t, a, inProject("first-"+project, project, granted))
		require.Empty(t, ask(t, a, agent.Resume("first-"+project, agent.Approve(pauses[0].ID).For(policy.Project))))
	}
	l.take()
	const sessions = 8
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		asked int
	)
	for i := range sessions {
		for project := range projects {
			for _, prompt := range projects {
				wg.Go(func() {
					session := fmt.Sprintf("%s-%d-%s", project, i, prompt)
					res, err := a.Run(t.Context(), inProject(session, project, prompt))
					if err != nil && res != nil {
						mu.Lock()
						defer mu.Unlock()
						asked += len(res.Pending)
					}
				})
			}
		}
	}
	wg.Wait()
	leaks := 0
	ran := l.take()
	for _, line := range ran {
		project, command, _ := strings.Cut(line, " ")
		if projects[project] != command {
			leaks++
		}
	}
	require.Zero(t, leaks)
	require.Len(t, ran, 2*sessions)
	require.Equal(t, 2*sessions, asked)
}

// TestAGrantAnswersForAToolWithApproversAsLongAsItsGiverIsOne, and a mode never does.
func TestAGrantAnswersForAToolWithApproversAsLongAsItsGiverIsOne(t *testing.T) {
	managers := []string{"bob"}
	ran := 0
	run := tools.New(tools.Spec{Name: "run", Approvers: []string{"manager"}, NotSelf: true},
		func(context.Context, command) (string, error) { ran++; return "ok", nil })
	set, err := policy.New(policy.Config{Project: shop, Rules: parsed(t,
		`{"rules":[{"effect":"allow","tool":"run","args":["go","vet"]}]}`)})
	require.NoError(t, err)
	a := newAgent(t, set, &journal.MapStore{}, agent.Config{Tools: []tools.Tool{run}, Modes: set.Modes(),
		Roles: func(_ context.Context, _, user string) ([]string, error) {
			if slices.Contains(managers, user) {
				return []string{"manager"}, nil
			}
			return nil, nil
		}})
	n := 0
	waits := func(user, prompt string) []agent.Pause {
		n++
		return ask(t, a, agent.Input{Session: fmt.Sprint("s-", n), Prompt: prompt, User: user,
			Mode: string(policy.Auto)})
	}
	require.Len(t, waits("ann", "go vet ./a"), 1, "the mode is auto, and a rule of the host allows it")
	p := waits("ann", "go test ./a")[0]
	require.Len(t, p.Scopes, 2)
	grant := agent.Approve(p.ID).For(policy.Project)
	_, err = a.Run(t.Context(), agent.Resume(fmt.Sprint("s-", n), grant.By("ann")))
	require.ErrorAs(t, err, new(*agent.DecisionError))
	_, err = a.Run(t.Context(), agent.Resume(fmt.Sprint("s-", n), grant.By("bob")))
	require.NoError(t, err)
	require.Empty(t, waits("ann", "go test ./a"), "bob's grant answers")
	require.Equal(t, 2, ran)
	require.Len(t, waits("bob", "go test ./a"), 1, "but not for himself")
	managers = nil
	require.Len(t, waits("ann", "go test ./a"), 1, "nor when he isn't a manager any more")
	require.Equal(t, 2, ran)
}
