package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	secrets "github.com/pawlkit/pawl/provider/secret"
	"github.com/pawlkit/pawl/tools"
)

const password = "correct horse 7 battery"

// A login is the tool "login", which asks for a password once.
type login struct {
	mu    sync.Mutex
	got   []string
	asked int
}

func (l *login) tool(spec tools.Spec) tools.Tool {
	spec.Name = "login"
	return tools.New(spec, func(ctx context.Context, _ Number) (string, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		r, ok := tools.Resumed(ctx)
		if !ok {
			l.asked++
			return "", tools.Suspend{Prompt: "the password of the registry", Again: true, Secret: true,
				Schema: json.RawMessage(`{"type":"string","minLength":8}`), State: map[string]int{"n": 1}}
		}
		var answer string
		if err := r.Decode(nil, &answer); err != nil {
			return "", err
		}
		l.got = append(l.got, answer)
		return "logged in as " + r.By, nil
	})
}

// A snoop keeps what hooks, the log output and the stream of a run show.
type snoop struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *snoop) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(p)
}

func (s *snoop) note(about string, v any) {
	text, err := json.Marshal(v)
	fmt.Fprintf(s, "%s: %s %v %+v\n", about, text, err, v)
}

func (s *snoop) hooks() []agent.Hooks {
	return []agent.Hooks{{Observer: true,
		BeforeInput: func(_ context.Context, t *agent.IncomingText) error { s.note("input", t); return nil },
		AfterDecision: func(_ context.Context, c *agent.ToolCall, p agent.Pause, d agent.Decision) error {
			s.note("decision", d)
			s.note("call", c)
			return nil
		},
		AfterTool: func(_ context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
			s.note("result", r)
			s.note("call", c)
			return nil
		}}}
}

// A spied store shows what is stored.
type spied struct {
	journal.Store
	to *snoop
}

func (s *spied) Append(ctx context.Context, a journal.Append) error {
	s.to.note("head", a.Head)
	for _, rec := range a.Records {
		s.to.note("record", string(rec.Data))
	}
	return s.Store.Append(ctx, a)
}

func (s *spied) Post(ctx context.Context, session string, it journal.Item) error {
	s.to.note("posted", string(it.Data))
	return s.Store.Post(ctx, session, it)
}

// requireNone fails the test if a text has one of the secrets, or nothing of the decision.
func requireNone(t *testing.T, text string, secrets ...string) {
	t.Helper()
	require.True(t, strings.Contains(text, "given"), "it says nothing of the decision")
	for _, secret := range secrets {
		i := strings.Index(strings.ToLower(text), strings.ToLower(secret))
		require.Negative(t, i, "…%s…", text[max(i-200, 0):min(max(i, 0)+100, len(text))])
	}
}

func TestASecretAnswerReachesItsCallAndIsRecordedNowhere(t *testing.T) {
	for name, decide := range map[string]func(*agent.Agent, agent.Decision) (agent.Work, error){
		"with Resume": func(_ *agent.Agent, d agent.Decision) (agent.Work, error) {
			return agent.Resume("s", d), nil
		},
		"with Decide, through the inbox": func(a *agent.Agent, d agent.Decision) (agent.Work, error) {
			return agent.Continue("s"), a.Session("s").Decide(t.Context(), d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, l := new(snoop), new(login)
			a, _ := scripted(t, agent.Config{Journal: &spied{&journal.MapStore{}, s},
				Tools:  []tools.Tool{l.tool(tools.Spec{})},
				Logger: slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug})),
				Hooks:  s.hooks(),
				Redact: func(text string) string { return string(bytes.ToLower([]byte(text))) }},
				call("login", 1), say("Done."))
			res := run(t, a)
			p := res.Pending[0]
			require.Equal(t, machine.PauseSecret, p.Kind)

			_, err := a.Run(t.Context(), agent.Resume("s", agent.Answer(p.ID, "short7")))
			var refused *agent.DecisionError
			require.ErrorAs(t, err, &refused)
			require.NotContains(t, err.Error(), "short7", "what doesn't fit may be half of the password")

			in, err := decide(a, agent.Answer(p.ID, "Correct Horse").By("ann"))
			require.NoError(t, err)
			all, err := events(a.Stream(t.Context(), in))
			require.NoError(t, err)
			for _, ev := range all {
				s.note("event", ev)
			}
			require.Equal(t, []string{"Correct Horse"}, l.got, "as it was given, and not redacted")
			require.Equal(t, "logged in as ann", finished(t, a, "s")[0].Parts[0].Text)
			_, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(p.ID, password)))
			require.ErrorAs(t, err, &refused, "an answer counts once")
			s.note("refused", err)

			decided := of[*machine.Decided](all)
			require.Len(t, decided, 1)
			require.JSONEq(t, `"given"`, string(decided[0].Decision.Value))
			for _, f := range facts(t, a, "s") {
				s.note("fact", f)
			}
			requireSound(t, "s", facts(t, a, "s"))
			requireNone(t, s.all.String(), "Correct Horse", password, "short7")
		})
	}
}

func TestASecretAnswerThatItsProcessHasTakenAlongIsAskedForAgain(t *testing.T) {
	for name, test := range map[string]struct {
		lose func(t *testing.T, a *agent.Agent, id string) // the process ends, and the answer with it
		says bool                                          // the pause says what became of the answer
	}{
		"between the decision and its run": {says: true, lose: func(t *testing.T, a *agent.Agent, id string) {
			require.NoError(t, a.Session("s").Decide(t.Context(), agent.Answer(id, password)))
			agent.ForgetSecrets()
		}},
		"between the run and the call": {lose: func(t *testing.T, a *agent.Agent, id string) {
			runInput(t, a, agent.Resume("s", agent.Answer(id, password)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var l login
			store := &journal.MapStore{}
			cfg := agent.Config{Journal: store, Tools: []tools.Tool{l.tool(tools.Spec{})}}
			dying := cfg
			dying.Hooks = []agent.Hooks{{AfterDecision: func(context.Context, *agent.ToolCall, agent.Pause,
				agent.Decision) error {
				agent.ForgetSecrets()
				return nil
			}}}
			a, _ := scripted(t, dying, call("login", 1))
			id := run(t, a).Pending[0].ID
			test.lose(t, a, id)

			b, _ := scripted(t, cfg, say("Done."))
			_, _ = b.Run(t.Context(), agent.Continue("s"))
			pending, err := b.Session("s").Pending(t.Context())
			require.NoError(t, err)
			require.Len(t, pending, 1)
			require.Empty(t, l.got)
			p := pending[0]
			require.NotEqual(t, id, p.ID)
			require.Equal(t, machine.PauseSecret, p.Kind)
			require.Equal(t, test.says, p.Refused != "")
			_, err = b.Run(t.Context(), agent.Resume("s", agent.Answer(id, password)))
			require.ErrorAs(t, err, new(*agent.DecisionError))
			require.Equal(t, "Done.", runInput(t, b, agent.Resume("s", agent.Answer(p.ID, password))).Text())
			require.Equal(t, []string{password}, l.got)
			requireSound(t, "s", facts(t, b, "s"))
		})
	}
}

func TestASecretAnswerIsRefusedWhereAnotherProcessDrivesTheSession(t *testing.T) {
	var l login
	slow, release := make(chan struct{}), make(chan struct{})
	store := &journal.MapStore{}
	cfg := agent.Config{Journal: store, Tools: []tools.Tool{l.tool(tools.Spec{ParallelSafe: true}),
		tools.New(tools.Spec{Name: "slow", ParallelSafe: true}, func(context.Context, Number) (string, error) {
			close(slow)
			<-release
			return "slow", nil
		})}}
	a, _ := scripted(t, cfg, providertest.Calls(providertest.CallSpec{Tool: "login", Input: Number{1}},
		providertest.CallSpec{Tool: "slow", Input: Number{2}}),
		say("Done."))
	b := reopen(t, cfg)
	asked := make(chan string, 1)
	ended := make(chan []agent.Event)
	go func() {
		var all []agent.Event
		for ev := range a.Stream(context.Background(), agent.Input{Session: "s", Prompt: "go"}) {
			if p, ok := ev.(*agent.Suspended); ok {
				asked <- p.Pause.ID
			}
			all = append(all, ev)
		}
		ended <- all
	}()
	<-slow
	id := <-asked
	err := b.Session("s").Decide(t.Context(), agent.Answer(id, password))
	require.ErrorAs(t, err, new(*agent.DecisionError))
	require.ErrorIs(t, err, agent.ErrBusy)
	require.NotContains(t, err.Error(), password)
	require.NoError(t, a.Session("s").Decide(t.Context(), agent.Answer(id, password)))
	close(release)
	require.Equal(t, agent.Completed, of[*agent.RunEnded](<-ended)[0].Status)
	require.Equal(t, []string{password}, l.got)
}

func TestASubagentGetsASecretAnswer(t *testing.T) {
	var l login
	stores := []journal.Store{&journal.MapStore{}, &journal.MapStore{}}
	child, _ := scripted(t, agent.Config{Name: "child", Journal: stores[0], Tools: []tools.Tool{l.tool(tools.Spec{})}},
		call("login", 1), say("Logged in."))
	a, _ := scripted(t, agent.Config{Name: "parent", Journal: stores[1],
		Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}}, task("child", "x"), say("Done."))
	res := run(t, a)
	require.Equal(t, machine.PauseSecret, res.Pending[0].Kind)
	require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, password))).Text())
	require.Equal(t, []string{password}, l.got)
	for _, store := range stores {
		text := ""
		for h, err := range store.Heads(t.Context(), journal.Filter{}) {
			require.NoError(t, err)
			for rec, err := range store.Read(t.Context(), h.Session, 0) {
				require.NoError(t, err)
				text += string(rec.Data)
			}
		}
		requireNone(t, text, password)
	}
}

func TestTheAnswerThatCountsIsTheFirstOne(t *testing.T) {
	var l login
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{l.tool(tools.Spec{})}}, call("login", 1), say("Done."))
	id := run(t, a).Pending[0].ID
	s := a.Session("s")
	var refused *agent.DecisionError
	require.ErrorAs(t, s.Decide(t.Context(), agent.Answer(id, "of a batch"), agent.Approve("p-0")), &refused)
	claimed := agent.Answer(id, "of a batch")
	claimed.Secret = true
	require.ErrorAs(t, s.Decide(t.Context(), claimed), &refused, "the batch was refused as a whole")
	require.NoError(t, s.Decide(t.Context(), agent.Answer(id, password).By("ann")))
	require.ErrorAs(t, s.Decide(t.Context(), agent.Answer(id, "another one").By("bob")), &refused)
	require.Equal(t, machine.DecisionUsed, refused.Code)
	require.Equal(t, "Done.", runInput(t, a, agent.Continue("s")).Text())
	require.Equal(t, []string{password}, l.got)
	require.Equal(t, "logged in as ann", finished(t, a, "s")[0].Parts[0].Text)
}

func TestASubagentAsksAgainForAnAnswerThatIsLost(t *testing.T) {
	var l login
	cfg := agent.Config{Name: "parent", Journal: &journal.MapStore{}}
	of := func(steps ...providertest.Step) []tools.Tool {
		child, _ := scripted(t, agent.Config{Name: "child", Tools: []tools.Tool{l.tool(tools.Spec{})}}, steps...)
		return []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}
	}
	cfg.Tools = of(call("login", 1))
	a, _ := scripted(t, cfg, task("child", "x"))
	id := run(t, a).Pending[0].ID
	require.NoError(t, a.Session("s").Decide(t.Context(), agent.Answer(id, password)))
	agent.ForgetSecrets()
	cfg.Tools = of(say("Logged in."))
	b, _ := scripted(t, cfg, say("Done."))
	res, _ := b.Run(t.Context(), agent.Continue("s"))
	require.Equal(t, agent.Paused, res.Status)
	require.Equal(t, machine.PauseSecret, res.Pending[0].Kind)
	require.NotEqual(t, id, res.Pending[0].ID)
	require.Equal(t, "Done.", runInput(t, b, agent.Resume("s", agent.Answer(res.Pending[0].ID, password))).Text())
	require.Equal(t, []string{password}, l.got)
}

func TestASecretIsOnlyForACallThatRunsAgain(t *testing.T) {
	tool := tools.New(tools.Spec{Name: "login"}, func(context.Context, Number) (string, error) {
		return "", tools.Suspend{Kind: "password", Secret: true}
	})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tool}}, call("login", 1), say("Done."))
	res := run(t, a)
	require.Equal(t, agent.Completed, res.Status)
	require.Equal(t, tools.Failed, finished(t, a, "s")[0].Status, "its answer would be recorded as its result")
}

func TestADecisionCantClaimThatItsAnswerWasGiven(t *testing.T) {
	var l login
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{l.tool(tools.Spec{})}}, call("login", 1), say("Done."))
	d := agent.Answer(run(t, a).Pending[0].ID, "given")
	d.Secret = true
	_, err := a.Run(t.Context(), agent.Resume("s", d))
	require.ErrorAs(t, err, new(*agent.DecisionError))
	require.Empty(t, l.got)
}

func TestACallInDoubtAsksForItsSecretAgain(t *testing.T) {
	for name, spec := range map[string]tools.Spec{"it may run again": {Idempotent: true}, "a person lets it": {}} {
		t.Run(name, func(t *testing.T) {
			var l login
			whole, left := &journal.MapStore{}, &journal.MapStore{}
			cfg := agent.Config{Journal: whole, Tools: []tools.Tool{l.tool(spec)}}
			a := reopen(t, cfg, call("login", 1), say("Done."))
			runInput(t, a, agent.Resume("s", agent.Answer(run(t, a).Pending[0].ID, password)))
			cut(t, whole, left, "tool_finished") // the process has ended while the call was in progress
			cfg.Journal = left
			b := reopen(t, cfg, say("Done."))
			res := runInput(t, b, agent.Continue("s"))
			if !spec.Idempotent {
				require.Equal(t, agent.PauseInDoubt, res.Pending[0].Kind)
				res = runInput(t, b, agent.Resume("s", agent.Approve(res.Pending[0].ID)))
			}
			require.Equal(t, machine.PauseSecret, res.Pending[0].Kind)
			again := agent.Resume("s", agent.Answer(res.Pending[0].ID, password+"!"))
			require.Equal(t, "Done.", runInput(t, b, again).Text())
			require.Equal(t, []string{password, password + "!"}, l.got)
			requireSound(t, "s", facts(t, b, "s"))
		})
	}
}

// The results of calls are stored after Around has taken the credential back, and the last answer
// repeats it even later.
func TestACredentialThatWasLentToOneCallIsInNoFact(t *testing.T) {
	const token = "tok-5d1c7f0a93"
	var set secrets.Set
	taken := 0
	lend := agent.Hooks{Name: "lend", Around: func(ctx context.Context, s *agent.Span) (context.Context, func(error)) {
		if s.Kind != "tool" {
			return ctx, nil
		}
		remove := set.Add(token)
		return ctx, func(error) { remove(); taken++ }
	}}
	fails := tools.New(tools.Spec{Name: "fails"}, func(context.Context, struct{}) (string, error) {
		return "", errors.New("401 for " + token)
	})
	tells := tools.New(tools.Spec{Name: "tells"}, func(context.Context, struct{}) (tools.Result, error) {
		res := tools.Text("Authorization: " + token)
		res.Data = map[string]string{"token": token}
		return res, nil
	})
	store := &journal.MapStore{}
	model := providertest.Script(providertest.Call("fails", nil), providertest.Call("tells", nil),
		providertest.Say("It is "+token+"."))
	a, err := agent.New(agent.Config{Provider: model, Journal: store, Tools: []tools.Tool{fails, tells},
		Redact: set.Text, Hooks: []agent.Hooks{lend}})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "go"})
	require.NoError(t, err)
	require.Equal(t, 2, taken)
	require.Equal(t, "It is [redacted].", res.Text())
	for rec, err := range store.Read(t.Context(), "s-1", 0) {
		require.NoError(t, err)
		require.NotContains(t, string(rec.Data), token)
	}
	require.NotContains(t, model.Requests()[2].Messages[4].Parts[0].Result.Text(), token)
}
