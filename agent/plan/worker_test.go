package plan

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestWorkersGetOutputsAndFeedback(t *testing.T) {
	store := &journal.MapStore{}
	model := providertest.Script(providertest.Say("draft"), providertest.Say("better"))
	writer, err := agent.New(agent.Config{Name: "writer", Provider: model, Journal: store})
	require.NoError(t, err)
	var s shop
	var judged []string
	var mu sync.Mutex
	r := s.runner(t,
		Config{Agent: s.agent(t, store), Workers: map[string]*agent.Agent{"writer": writer}, Checks: map[string]Check{
			"tone": func(_ context.Context, c Candidate) (Verdict, error) {
				mu.Lock()
				defer mu.Unlock()
				judged = append(judged, string(c.Output))
				return Verdict{Passed: c.Round == 2, Feedback: "be kinder"}, nil
			},
			"spell": func(_ context.Context, c Candidate) (Verdict, error) {
				if c.Round == 1 {
					return Verdict{}, errors.New("no dictionary")
				}
				return Verdict{Passed: true}, nil
			},
		}})
	p := plan("A", made("facts"), Node{ID: "text", Worker: "writer", Prompt: "Write.", After: []string{"facts"},
		Review: &Review{Checks: []string{"tone", "spell"}}}, made("out", "text"))
	p.Nodes[2].Input["on"] = From("text")
	events, err := run(r, p)
	require.NoError(t, err)
	require.Equal(t, Completed, last(events).(*Ended).Status)
	require.Equal(t, []string{`"draft"`, `"better"`}, judged)
	model.AssertSaw(t, 0, providertest.UserText("Write.\n\n<output node=\"facts\">\n{\"id\":\"facts\""))
	model.AssertSaw(t, 1, providertest.UserText("be kinder"),
		providertest.UserText("spell: the check couldn't judge: no dictionary"), providertest.AssistantText("draft"))
	state, err := r.State(t.Context(), "p-1")
	require.NoError(t, err)
	require.JSONEq(t, `{"id":"out","on":"better"}`, string(state.outputs()["out"]))
}

// A worker whose run ends without completing has failed, though it may have said something.
func TestAWorkerThatDoesntCompleteIsAFailure(t *testing.T) {
	for name, step := range map[string]providertest.Step{
		"a provider fails": providertest.Fail(fault.Permanent),
		"a cut answer":     providertest.Stop(provider.StopLength, providertest.Say("The first half")),
		"a refusal":        providertest.Refuse("I won't."),
		"silence":          providertest.Empty(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &journal.MapStore{}
				worker, err := agent.New(agent.Config{Name: "w", Provider: providertest.Script(step), Journal: store})
				require.NoError(t, err)
				var s shop
				r := s.runner(t, Config{Agent: s.agent(t, store), Workers: map[string]*agent.Agent{"w": worker}})
				_, err = run(r, plan("A", made("a"), Node{ID: "w", Worker: "w", Prompt: "x", After: []string{"a"}}))
				var why *FailedError
				require.ErrorAs(t, err, &why)
				require.Equal(t, []string{"a", "-a"}, s.all())
			})
		})
	}
}

// A person is told why a worker's model call has failed in words that say what to change.
func TestAQuestionAboutAFailedModelCallSaysWhatToChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		refused := &provider.Error{Class: fault.UserFixable, Provider: "openai", Status: 401,
			Message: "Incorrect API key provided: sk-abc"}
		worker, err := agent.New(agent.Config{Name: "w", Provider: providertest.Script(providertest.FailWith(refused)),
			Journal: store})
		require.NoError(t, err)
		var s shop
		r := s.runner(t, Config{Agent: s.agent(t, store), Workers: map[string]*agent.Agent{"w": worker}})
		_, err = r.Start(t.Context(), "p-1", plan("A", Node{ID: "w", Worker: "w", Prompt: "x"}))
		require.NoError(t, err)
		_, err = r.Finish(t.Context(), "p-1")
		var paused *agent.PausedError
		require.ErrorAs(t, err, &paused)
		require.Contains(t, paused.Pending[0].Reason, "OpenAI doesn't accept the key. Set OPENAI_API_KEY")
		require.NotContains(t, paused.Pending[0].Reason, "sk-abc")
	})
}

// A worker that has reached a limit of tokens or money has failed in a way that a person can mend:
// what other nodes have done stays.
func TestALimitOfAWorkerIsAskedAboutAndUndoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var s, other shop
		step := providertest.WithUsage(provider.Usage{Output: 1000}, providertest.Call("look", object{"name": "x"}))
		worker, err := agent.New(agent.Config{Name: "w", Provider: providertest.Script(step), Journal: store,
			Limits: agent.Limits{Tokens: 100}, Tools: []tools.Tool{tools.New(tools.Spec{Name: "look"}, other.make)}})
		require.NoError(t, err)
		r := s.runner(t, Config{Agent: s.agent(t, store), Workers: map[string]*agent.Agent{"w": worker}})
		_, err = r.Start(t.Context(), "p-1", plan("A", made("a"),
			Node{ID: "w", Worker: "w", Prompt: "x", After: []string{"a"}}))
		require.NoError(t, err)
		_, err = r.Finish(t.Context(), "p-1")
		var paused *agent.PausedError
		require.ErrorAs(t, err, &paused)
		require.Len(t, paused.Pending, 1)
		require.Contains(t, paused.Pending[0].Reason, "Limits.Tokens")
		require.Equal(t, []string{"a"}, s.all())
	})
}
