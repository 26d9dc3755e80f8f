package assistant

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestAModelOfTheChatSeesNoAddresses(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) {
		c.Real = true
		c.Model = providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			seen, err := json.Marshal(req)
			require.NoError(t, err)
			require.NotContains(t, string(seen), "ann@example.com")
			require.Contains(t, string(seen), "[e-mail 1]")
			return providertest.Call(contenttools.StructuredResponse,
				contenttools.Answer{Message: "I can't reach [e-mail 1]."}).Response(), nil
		})
	})
	for range 2 { // the second time, the answer is in the conversation
		answer := b.say("ann", "", "help me with something for ann@example.com")
		require.Equal(t, "I can't reach ann@example.com.", answer.Message)
	}
}

func TestResultsOfToolsAreMaskedAndTheConversationIsNot(t *testing.T) {
	var got []provider.Message
	p := masking{providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		got = req.Messages
		return providertest.Say("x").Response(), nil
	})}
	result := provider.ToolResult{Parts: []provider.Part{provider.TextPart("Call +49 30 901820")}}
	asked := []provider.Message{provider.User("I am ann@example.com"),
		{Role: provider.RoleTool, Parts: []provider.Part{provider.ResultPart(result)}}}
	_, err := provider.Generate(t.Context(), p, &provider.Request{Messages: asked})
	require.NoError(t, err)
	require.Equal(t, "I am [e-mail 1]", got[0].Text())
	require.Equal(t, "Call [phone 1]", got[1].Parts[0].Result.Text())
	require.Equal(t, "I am ann@example.com", asked[0].Text(), "the conversation has them")
}
