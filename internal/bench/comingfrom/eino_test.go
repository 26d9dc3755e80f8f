package comingfrom

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// scripted calls the tool, and says what it has returned.
type scripted struct{}

func (scripted) Generate(_ context.Context, input []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	last := input[len(input)-1]
	if last.Role == schema.Tool {
		return schema.AssistantMessage("It is "+last.Content+".", nil), nil
	}
	return schema.AssistantMessage("", []schema.ToolCall{{ID: "1", Type: "function",
		Function: schema.FunctionCall{Name: "weather", Arguments: `{"city": "Oslo"}`}}}), nil
}

func (s scripted) Stream(ctx context.Context, input []*schema.Message,
	opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, input, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func (s scripted) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return s, nil }

func TestTheProgramForEinoAnswers(t *testing.T) {
	text, err := Ask(t.Context(), scripted{}, "How cold is it in Oslo?")
	require.NoError(t, err)
	require.Equal(t, "It is 3 °C in Oslo.", text)
}

func TestThePageShowsTheProgramForEino(t *testing.T) {
	program, err := os.ReadFile("eino.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../../../docs/coming-from.md")
	require.NoError(t, err)
	require.True(t, strings.Contains(string(page), "```text\n"+string(program)+"```"), "the page shows another program")
}
