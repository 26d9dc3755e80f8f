package comingfrom

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
)

type City struct {
	Name string `json:"city"`
}

func Ask(ctx context.Context, llm model.ToolCallingChatModel, prompt string) (text string, err error) {
	weather, err := utils.InferTool("weather", "Current weather in a city.",
		func(_ context.Context, in City) (string, error) { return "3 °C in " + in.Name, nil })
	if err != nil {
		return "", err
	}
	a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:        "weather",
		Description: "answers questions about the weather",
		Instruction: "Answer briefly.",
		Model:       llm,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{weather}}},
	})
	if err != nil {
		return "", err
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: a}).Query(ctx, prompt)
	for {
		ev, ok := events.Next()
		if !ok {
			return text, nil
		}
		if ev.Err != nil {
			return "", ev.Err
		}
		if ev.Output != nil && ev.Output.MessageOutput != nil {
			message, err := ev.Output.MessageOutput.GetMessage()
			if err != nil {
				return "", err
			}
			text = message.Content
		}
	}
}
