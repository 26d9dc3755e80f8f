package critic

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

const complexTask = "Create a blog with 3 posts about AI, modern layout."

// run returns a run with a critic, and the verdicts that it recorded.
func run(t *testing.T, cfg Config, prompt string, steps ...providertest.Step) (*agent.Result, []Verdict,
	*providertest.Model) {
	t.Helper()
	hooks, err := New(cfg)
	require.NoError(t, err)
	model := providertest.Script(steps...)
	a, err := agent.New(agent.Config{Provider: model, Hooks: []agent.Hooks{hooks}, Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "post"}, func(context.Context, struct{}) (string, error) { return "posted", nil }),
	}})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: prompt})
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	var verdicts []Verdict
	for _, f := range facts {
		if e, ok := f.(*machine.Emitted); ok && e.Kind == Kind {
			var v Verdict
			require.NoError(t, json.Unmarshal(e.Value, &v))
			verdicts = append(verdicts, v)
		}
	}
	return res, verdicts, model
}

func TestTheCallsOfTheCriticAreThoseOfTheRunsUserAndTenant(t *testing.T) {
	critic := providertest.Script(judged(.5, "", "stiff"), providertest.Say("Better."), judged(.9, "", ""))
	hooks, err := New(Config{Provider: critic, Rewrite: true})
	require.NoError(t, err)
	model := providertest.Script(providertest.Say("Done."))
	a, err := agent.New(agent.Config{Name: "author", Provider: model, Hooks: []agent.Hooks{hooks}})
	require.NoError(t, err)
	_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: complexTask, User: "ann", Task: "blog", Pipeline: "p",
		Labels: map[string]string{"tenant": "acme"}})
	require.NoError(t, err)
	want := model.Requests()[0].Labels
	require.Equal(t, []string{"s", "ann", "acme"}, []string{want.Session, want.User, want.Tenant})
	want.Kind = Kind
	require.Len(t, critic.Requests(), 3)
	for _, req := range critic.Requests() {
		require.Equal(t, want, req.Labels)
	}
}

func judged(score float64, missing, wording string) providertest.Step {
	list := func(s string) []string {
		if s == "" {
			return []string{}
		}
		return []string{s}
	}
	text, err := json.Marshal(judgement{Score: score, Missing: list(missing), Wording: list(wording)})
	if err != nil {
		panic(err)
	}
	return providertest.Say(string(text))
}

func TestASimpleRequestCostsNothing(t *testing.T) {
	judge := providertest.Script()
	res, verdicts, _ := run(t, Config{Provider: judge}, "List all pages.", providertest.Say("There are two."))
	require.Equal(t, "There are two.", res.Text())
	require.Empty(t, verdicts)
	judge.AssertCalls(t, 0)
}

func TestMissingWorkIsSentBack(t *testing.T) {
	judge := providertest.Script(judged(.4, "the third post", ""), judged(.9, "", ""))
	res, verdicts, model := run(t, Config{Provider: judge, Criteria: "Every post has a title."}, complexTask,
		providertest.Call("post", struct{}{}), providertest.Say("Two posts are there."),
		providertest.Say("Three posts are there."))
	require.Equal(t, "Three posts are there.", res.Text())
	model.AssertSaw(t, 2, providertest.UserText("Missing: the third post"))
	judge.AssertSaw(t, 0, providertest.UserText(complexTask), providertest.UserText("called post {}"),
		providertest.UserText("post answered: posted"), providertest.SystemText("Every post has a title."))
	judge.AssertSaw(t, 1, providertest.UserText("Three posts are there."))
	require.Equal(t, []string{SendBack, Accept}, []string{verdicts[0].Action, verdicts[1].Action})
	require.Equal(t, .5, verdicts[0].Complexity.Score)
	require.Positive(t, verdicts[0].Usage.Input)
	require.Equal(t, Kind, judge.Requests()[0].Labels.Kind)
	require.Equal(t, "s", judge.Requests()[0].Labels.Session)
}

func TestAnAnswerIsJudgedTwiceAtMost(t *testing.T) {
	judge := providertest.Script(judged(.1, "a", ""), judged(.2, "b", ""))
	res, verdicts, _ := run(t, Config{Provider: judge}, complexTask, providertest.Say("1"), providertest.Say("2"),
		providertest.Say("3"))
	require.Equal(t, "3", res.Text())
	require.Len(t, verdicts, 2)
	judge.AssertCalls(t, 2)
}

func TestWeakWordingIsRewrittenIfThatIsBetter(t *testing.T) {
	judge := providertest.Script(judged(.6, "", "be brief"), providertest.Say("Three posts."), judged(.9, "", ""))
	res, verdicts, model := run(t, Config{Provider: judge, Rewrite: true}, complexTask,
		providertest.Say("Well, there are three posts."))
	require.Equal(t, "Three posts.", res.Text())
	require.Equal(t, Rewrite, verdicts[0].Action)
	require.Equal(t, .9, verdicts[0].Rewritten)
	require.Len(t, verdicts, 1, "the new text was judged")
	model.AssertCalls(t, 1)

	judge = providertest.Script(judged(.6, "", "be brief"), providertest.Say("Posts."), judged(.5, "", ""))
	res, verdicts, _ = run(t, Config{Provider: judge, Rewrite: true}, complexTask, providertest.Say("Well."))
	require.Equal(t, "Well.", res.Text(), "the first text was better")
	require.Equal(t, Accept, verdicts[0].Action)

	judge = providertest.Script(judged(.6, "", "be brief"))
	res, _, _ = run(t, Config{Provider: judge}, complexTask, providertest.Say("Well."))
	require.Equal(t, "Well.", res.Text(), "it isn't asked for")
}

func TestAnAnswerThatCantBeJudgedIsGiven(t *testing.T) {
	for _, step := range []providertest.Step{providertest.Say("fine"), providertest.Fail(fault.Permanent)} {
		judge := providertest.Script(step)
		res, verdicts, _ := run(t, Config{Provider: judge}, complexTask, providertest.Say("Done."))
		require.Equal(t, "Done.", res.Text())
		require.Empty(t, verdicts)
	}
}

func TestABadConfigIsRefused(t *testing.T) {
	judge := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		return nil, errors.New("no")
	})
	for _, cfg := range []Config{{}, {Provider: judge, Rounds: 11}, {Provider: judge, Timeout: -1}} {
		_, err := New(cfg)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
}

func TestAVerdictHasAllUsageOfTheCritic(t *testing.T) {
	judge := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		text := `{"score":0.9,"missing":[],"wording":[]}`
		return &provider.Response{Parts: []provider.Part{provider.TextPart(text)}, Stop: provider.StopDone,
			Usage: provider.Usage{Input: 9, Output: 5, CacheRead: 4, Reasoning: 3}}, nil
	})
	_, verdicts, _ := run(t, Config{Provider: judge}, complexTask, providertest.Say("Done."))
	require.Equal(t, provider.Usage{Input: 9, Output: 5, CacheRead: 4, Reasoning: 3}, verdicts[0].Usage)
}

func TestWhatTheCriticReadsIsBounded(t *testing.T) {
	long := strings.Repeat("Delete all pages, then create 3 new ones. ", 25_000) // about a megabyte
	require.Equal(t, Rate(long[:16<<10]), Rate(long))
	require.False(t, Rate(strings.Repeat(" ", 16<<10)+long).Risky, "it isn't read so far")
	judge := providertest.Script(judged(.5, "", "be brief"))
	hooks, err := New(Config{Provider: judge, Rewrite: true,
		Complexity: func(string) Complexity { return Complexity{Score: 1} }})
	require.NoError(t, err)
	read := tools.New(tools.Spec{Name: "read"}, func(context.Context, struct{}) (string, error) { return long, nil })
	var steps []providertest.Step
	for range 100 {
		steps = append(steps, providertest.Call("read", struct{}{}))
	}
	a, err := agent.New(agent.Config{Provider: providertest.Script(append(steps, providertest.Say(long))...),
		Hooks: []agent.Hooks{hooks}, Tools: []tools.Tool{read},
		Limits: agent.Limits{Steps: 200, Repeats: -1, PromptBytes: -1}})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Prompt: long})
	require.NoError(t, err)
	require.Equal(t, long, res.Text())
	require.Len(t, judge.Requests(), 1, "a longer answer isn't rewritten")
	asked := judge.Requests()[0].Messages[0].Text()
	require.Less(t, len(asked), 161<<10)
	require.Contains(t, asked, "bytes are left out here")
}
