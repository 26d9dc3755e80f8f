package intent_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// host returns an agent with the tool, whose model follows the script.
func host(t *testing.T, steps ...providertest.Step) (*agent.Agent, *providertest.Model) {
	t.Helper()
	d, err := intent.New(intent.Config{Intents: content(), Model: agent.Generate})
	require.NoError(t, err)
	model := providertest.Script(steps...)
	a, err := agent.New(agent.Config{Journal: &journal.MapStore{}, Provider: model, Tools: []tools.Tool{intent.Tool(d)},
		NoGuard: true})
	require.NoError(t, err)
	return a, model
}

func detect(t *testing.T, a *agent.Agent, text string) *agent.Result {
	t.Helper()
	res, err := a.Session("s").Call(t.Context(), "intent.detect", intent.Request{Text: text})
	if res == nil || res.Status != agent.Paused {
		require.NoError(t, err)
	}
	return res
}

func called(t *testing.T, res *agent.Result) (v intent.Verdict) {
	t.Helper()
	require.NotNil(t, res.Called)
	require.NoError(t, json.Unmarshal([]byte(res.Called.Text()), &v), res.Called.Text())
	return v
}

func TestACertainRuleAsksNeitherAModelNorAPerson(t *testing.T) {
	a, model := host(t)
	require.Equal(t, intent.Verdict{Intent: "write", Confidence: 0.95, From: intent.FromRules},
		called(t, detect(t, a, "write the post")))
	require.Empty(t, model.Requests())
}

func TestACertainModelAsksNoPerson(t *testing.T) {
	a, model := host(t, opinion("status", 1))
	res := detect(t, a, "any progress?")
	require.Equal(t, intent.Verdict{Intent: "status", Confidence: 1, From: "both"}, called(t, res))
	require.Len(t, model.Requests(), 1)
	require.Equal(t, 0, res.Steps, "the question comes before the first step")
}

func TestAPersonIsAskedWhatIsNotClear(t *testing.T) {
	for _, c := range []struct {
		text   string
		step   providertest.Step
		prompt string
		answer string
		want   intent.Verdict
	}{
		{"any progress?", opinion("status", 0.6),
			"Is this what you would like?\n1. say how far it is\n2. something else",
			"status", intent.Verdict{Intent: "status", Confidence: 1, From: intent.FromPerson}},
		{"any progress?", opinion("write", 0.9),
			"What would you like?\n1. write the content\n2. say how far it is\n3. something else",
			"status", intent.Verdict{Intent: "status", Confidence: 1, From: intent.FromPerson}},
		{"any progress?", providertest.Fail(fault.Permanent),
			"Is this what you would like?\n1. say how far it is\n2. something else",
			"something else", intent.Verdict{From: intent.FromPerson}},
		{"help me with something", opinion("something else", 0.4),
			"What would you like?\n1. suggest topics\n2. research a topic\n3. create a skeleton\n" +
				"4. write the content\n5. make the text sound natural\n6. create images\n7. do everything\n8. say " +
				"how far it is\n9. something else",
			"write", intent.Verdict{Intent: "write", Confidence: 1, From: intent.FromPerson}},
	} {
		a, model := host(t, c.step)
		res := detect(t, a, c.text)
		require.Len(t, res.Pending, 1)
		require.Equal(t, agent.PauseKind("intent"), res.Pending[0].Kind)
		require.Equal(t, c.prompt, res.Pending[0].Reason)
		require.Equal(t, 0, res.Steps)

		err := a.Session("s").Decide(t.Context(), agent.Answer(res.Pending[0].ID, "dance"))
		require.Error(t, err, "only the choices are answers")
		res, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, c.answer)))
		require.NoError(t, err)
		require.Equal(t, c.want, called(t, res))
		require.Len(t, model.Requests(), 1, "the model isn't asked again")
	}
}

func TestAToolWithoutADetectorFails(t *testing.T) {
	a, err := agent.New(agent.Config{Journal: &journal.MapStore{}, Provider: providertest.Script(),
		Tools: []tools.Tool{intent.Tool(nil)}})
	require.NoError(t, err)
	res, err := a.Session("s").Call(context.Background(), "intent.detect", intent.Request{Text: "x"})
	require.NoError(t, err)
	require.Equal(t, tools.Failed, res.Called.Status)
}
