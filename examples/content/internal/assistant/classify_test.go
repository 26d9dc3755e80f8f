package assistant

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// classified returns services whose model says what unclear messages want.
func classified(t *testing.T, say func() (string, error)) (b *bench, users *[]string) {
	t.Helper()
	users = new([]string)
	b = newBench(t, func(c *Config) {
		inner := c.Model
		c.Classify = true
		c.Model = providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
			if req.Labels.Kind != KindClassifier {
				return provider.Generate(ctx, inner, req)
			}
			*users = append(*users, req.Labels.User)
			text, err := say()
			if err != nil {
				return nil, err
			}
			return providertest.Say(text).Response(), nil
		})
	})
	return b, users
}

func TestTheModelSaysWhatAnUnclearMessageWants(t *testing.T) {
	t.Parallel()
	b, users := classified(t, func() (string, error) { return `{"intent":"RESEARCH_TOPIC","confidence":0.95}`, nil })
	a := b.draft("ann", "Remote work")
	var said intent.Verdict
	answer := b.Execute(t.Context(), Request{User: "ann", Message: "Do what my rivals do",
		Screen: Screen{ArtifactID: a.ID}, Detected: func(v intent.Verdict) { said = v }})
	require.True(t, answer.Success, answer.Message)
	require.Equal(t, []string{portfolio.TopicResearch}, answer.ToolsUsed)
	require.Equal(t, "model", said.From)
	require.Equal(t, []string{"ann"}, *users)

	require.True(t, b.say("ann", a.ID, "Create the skeleton").Success)
	require.Len(t, *users, 1, "the rules are sure")
}

func TestAConfirmationIsForWhatWasAsked(t *testing.T) {
	t.Parallel()
	answers := []string{`{"intent":"RESEARCH_TOPIC","confidence":0.8}`,
		`{"intent":"CREATE_SKELETON","confidence":0.99}`}
	b, users := classified(t, func() (text string, err error) {
		text, answers = answers[0], answers[1:]
		return text, nil
	})
	a := b.draft("ann", "Remote work")
	answer := b.say("ann", a.ID, "Do what my rivals do")
	require.Equal(t, "Shall I research the topic of an artifact?", answer.Message)
	answer = b.say("ann", a.ID, "Yes")
	require.Equal(t, []string{portfolio.TopicResearch}, answer.ToolsUsed, answer.Message)
	require.Len(t, *users, 1)
}

func TestAModelThatCannotSayIt(t *testing.T) {
	t.Parallel()
	for _, say := range []func() (string, error){
		func() (string, error) { return "", errors.New("down") },
		func() (string, error) { return "I think you want images", nil },
	} {
		b, _ := classified(t, say)
		answer := b.say("ann", "", "Do what my rivals do")
		require.Equal(t, Clarify, answer.Intent)
		require.True(t, answer.Success, answer.Message)
	}
}
