package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

const secret = "sk-12345"

func redact(s string) string { return strings.ReplaceAll(s, secret, "[key]") }

// A Note is an input with text.
type Note struct {
	Text string `json:"text"`
}

// requireNoSecret fails the test if the secret is in a journal or was sent to a model.
func requireNoSecret(t *testing.T, store journal.Store, model *providertest.Model) {
	t.Helper()
	records := 0
	for rec, err := range store.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.NotContains(t, string(rec.Data), secret, "record %d, %s", rec.Seq, rec.Kind)
		records++
	}
	require.NotZero(t, records)
	for h, err := range store.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		require.NotContains(t, fmt.Sprint(h), secret)
	}
	for _, req := range model.Requests() {
		text, err := json.Marshal(req)
		require.NoError(t, err)
		require.NotContains(t, string(text), secret)
	}
}

func TestASecretIsNeitherJournaledNorShownToAModel(t *testing.T) {
	var inputs []string
	note := func(name string, risk tools.Risk) tools.Tool {
		return tools.New(tools.Spec{Name: name, Risk: risk}, func(_ context.Context, in Note) (tools.Result, error) {
			inputs = append(inputs, in.Text)
			if name == "fails" {
				return tools.Result{}, errors.New("no access with " + secret)
			}
			return tools.Result{Parts: []provider.Part{provider.TextPart("the key is " + secret)}, Data: Note{secret}},
				nil
		})
	}
	ask := tools.New(tools.Spec{Name: "asks"}, func(context.Context, Note) (string, error) {
		return "", tools.Suspend{Kind: "question", Prompt: "Is it " + secret + "?"}
	})
	in := Note{"with " + secret}
	store := &journal.MapStore{}
	hooks := agent.Hooks{
		BeforeStep: func(_ context.Context, s *agent.Step) error {
			if s.N == 2 {
				s.System += " The key is " + secret
				s.Messages = append(s.Messages, provider.User(secret))
			}
			return agent.Warn("mind " + secret)
		},
		BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
			if c.Name == "hooked" {
				c.Input, _ = json.Marshal(in)
			}
			return agent.Warn("careful with " + secret)
		},
		AfterTool: func(_ context.Context, _ *agent.ToolCall, r *agent.ToolResult) error {
			r.Parts = append(r.Parts, provider.TextPart(secret))
			return nil
		},
		BeforeFinish: func(_ context.Context, r *agent.Result) error {
			if r.Text() == "Done." {
				return agent.SendBack("say " + secret)
			}
			return nil
		},
	}
	a, model := scripted(t, agent.Config{Journal: store, Redact: redact, Hooks: []agent.Hooks{hooks},
		Tools: []tools.Tool{note("work", tools.Low), note("fails", tools.Low), note("hooked", tools.Low),
			note("risky", tools.High), ask}},
		providertest.Reply(providertest.Think("hm, "+secret), providertest.SayChunks("I use sk-1", "2345 now."),
			providertest.Call("work", in)),
		providertest.Call("fails", in), providertest.Call("hooked", Note{"x"}),
		providertest.Unfit(providertest.Call("work", `{"text":"`+secret)),
		providertest.Calls(providertest.CallSpec{Tool: "risky", Input: in},
			providertest.CallSpec{Tool: "risky", Input: Note{"2"}},
			providertest.CallSpec{Tool: "risky", Input: Note{"3"}}, providertest.CallSpec{Tool: "asks", Input: in}),
		say("Done."), say("Really done."))
	res := runInput(t, a, agent.Input{
		Session: "s", Prompt: "my key is " + secret, Parts: []provider.Part{provider.TextPart(secret)},
		History: []provider.Message{provider.User("it is " + secret)},
	})
	require.Equal(t, agent.Paused, res.Status)
	requireNoSecret(t, store, model)
	res = runInput(t, a, agent.Resume("s", agent.Approve(res.Pending[0].ID), agent.Edit(res.Pending[1].ID, in),
		agent.Reject(res.Pending[2].ID, "because of "+secret), agent.Answer(res.Pending[3].ID, in)))
	require.Equal(t, "Really done.", res.Text())
	model.AssertDone(t)
	requireNoSecret(t, store, model)
	for _, text := range inputs {
		require.NotContains(t, text, secret, "what runs is what was journaled")
	}
	requireSound(t, "s", facts(t, a, "s"))
}

func TestASecretInAFailureIsntJournaled(t *testing.T) {
	store := &journal.MapStore{}
	a, model := scripted(t, agent.Config{Journal: store, Redact: redact},
		providertest.FailAfter(3, providertest.SayChunks("It is "+secret, " is", " it"), fault.Permanent,
			providertest.Message("bad key "+secret)))
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.ErrorContains(t, err, secret, "the host's own error is as it is")
	requireNoSecret(t, store, model)
}

func TestASecretInASteeringMessageIsntJournaled(t *testing.T) {
	store := &journal.MapStore{}
	a, model := scripted(t, agent.Config{Journal: store, Redact: redact}, say("One."), say("Two."))
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		if _, ok := ev.(*agent.StepStarted); ok && len(model.Requests()) == 0 {
			_, err := a.Session("s").Steer(t.Context(), "use "+secret)
			require.NoError(t, err)
		}
	}
	model.AssertDone(t)
	model.AssertSaw(t, 1, providertest.UserText("use [key]"))
	requireNoSecret(t, store, model)
}

func TestARedactThatAsksItsAgentHangsNoRun(t *testing.T) {
	for name, c := range map[string]struct {
		text string // that it is given when it asks
		goOn func(id string) agent.Work
	}{
		"as a call is suspended": {text: "this tool is of high risk"},
		"as a tool suspends":     {text: "well?"},
		"as the mode is changed": {text: "in between"},
		"as a call is refused": {text: "A person rejected", goOn: func(id string) agent.Work {
			return agent.Resume("s", agent.Reject(id, "no"))
		}},
		"as a pause is given up": {text: "nobody decided", goOn: func(string) agent.Work {
			return agent.Input{Session: "s", Prompt: "else", Supersede: true}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var a *agent.Agent
			asked := 0
			redact := func(s string) string {
				if strings.Contains(s, c.text) {
					asked++
					_ = a.Session("s").Decide(context.Background(), agent.Approve("p"))
				}
				return s
			}
			between := tools.New(tools.Spec{Name: "between"}, func(ctx context.Context, in Number) (string, error) {
				if in.N == 2 {
					return "", tools.Suspend{Prompt: "well?"}
				}
				return "ok", agent.SwitchMode(ctx, "other", "in between")
			})
			a, _, _ = risky(t, agent.Config{Redact: redact, Tools: []tools.Tool{between},
				Modes: []agent.Mode{{Name: "one"}, {Name: "other"}}},
				call("between", 1), call("between", 2), call("risky", 1), say("Done."), say("Done."))
			res, _ := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			res, _ = a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, "yes")))
			if c.goOn != nil {
				_, _ = a.Run(t.Context(), c.goOn(res.Pending[0].ID))
			}
			require.Positive(t, asked)
		})
	}
}
