package intent_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
)

func opinion(name string, confidence float64) providertest.Step {
	return providertest.Say(fmt.Sprintf(`{"intent":%q,"confidence":%v}`, name, confidence))
}

func TestNoModelIsAskedIfTheRulesAreCertain(t *testing.T) {
	d, model := detector(t)
	v, err := d.Detect(t.Context(), "Write the post")
	require.NoError(t, err)
	require.Equal(t, d.Match("Write the post"), v)
	require.Empty(t, model.Requests())
}

func TestWithoutAModelTheRulesDecide(t *testing.T) {
	d, err := intent.New(intent.Config{Intents: content()})
	require.NoError(t, err)
	v, err := d.Detect(t.Context(), "any progress?")
	require.NoError(t, err)
	require.Equal(t, intent.Verdict{Intent: "status", Confidence: 0.75, From: intent.FromRules}, v)
}

func TestRulesAndModelAreCombined(t *testing.T) {
	for _, c := range []struct {
		text string
		step providertest.Step
		want intent.Verdict
	}{
		// 0.3 + 0.6 + 0.1
		{"any progress?", opinion("status", 1), intent.Verdict{Intent: "status", Confidence: 1, From: "both"}},
		{"any progress?", opinion("status", 0.75),
			intent.Verdict{Intent: "status", Confidence: 0.85, From: "both"}},
		{"any progress?", opinion("write", 0.9),
			intent.Verdict{Intent: "write", Confidence: 0.54, From: "both",
				Alternatives: []intent.Choice{{Intent: "status", Confidence: 0.3}}}},
		{"any progress?", opinion("something else", 0.9),
			intent.Verdict{Intent: "status", Confidence: 0.3, From: "both"}},
		{"do it", opinion("write", 0.92), intent.Verdict{Intent: "write", Confidence: 0.92, From: "model"}},
		{"do it", opinion("something else", 1), intent.Verdict{From: "model"}},
	} {
		d, model := detector(t, c.step)
		v, err := d.Detect(t.Context(), c.text)
		require.NoError(t, err)
		require.Equal(t, c.want, v)
		require.Len(t, model.Requests(), 1)
		req := model.Requests()[0]
		require.Contains(t, req.System, "- write: write the content\n")
		require.Contains(t, string(req.Output.Schema), `"something else"`)
		require.True(t, json.Valid(req.Output.Schema))
	}
}

func TestAModelThatFailsLeavesTheRulesVerdict(t *testing.T) {
	for _, step := range []providertest.Step{
		providertest.Say("I think it's status."), opinion("dance", 1), opinion("status", 1.5), opinion("status", -1),
		providertest.Say(`{"intent":"status","confidence":1,"why":"x"}`), providertest.Say(""),
	} {
		d, model := detector(t, step)
		v, err := d.Detect(t.Context(), "any progress?")
		require.ErrorContains(t, err, "isn't a verdict")
		require.Equal(t, fault.Degraded, fault.Of(err))
		require.Equal(t, d.Match("any progress?"), v)
		require.Len(t, model.Requests(), 1)
	}
	d, _ := detector(t, providertest.Fail(fault.Transient))
	v, err := d.Detect(t.Context(), "any progress?")
	require.Equal(t, fault.Transient, fault.Of(err))
	require.NotContains(t, err.Error(), "isn't a verdict")
	require.Equal(t, d.Match("any progress?"), v)
}
