package langchain_test

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/langchain"
	"github.com/pawlkit/pawl/provider/providertest"
)

// parrot is a langchaingo model.
type parrot struct{}

func (parrot) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, parrot{}, prompt, options...)
}

func (parrot) GenerateContent(_ context.Context, messages []llms.MessageContent,
	_ ...llms.CallOption) (*llms.ContentResponse, error) {
	last := messages[len(messages)-1]
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		Content:        fmt.Sprint(last.Parts[0]),
		StopReason:     "stop",
		GenerationInfo: map[string]any{"PromptTokens": 3, "CompletionTokens": 2},
	}}}, nil
}

func ExampleNew() {
	p, err := langchain.New(parrot{}, langchain.Config{Model: "parrot-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := provider.Generate(context.Background(), p,
		&provider.Request{Messages: []provider.Message{provider.User("Hello.")}})
	fmt.Println(res.Text(), res.Stop, res.Usage.Input, res.Usage.Output, err)
	// Output: Hello. done 3 2 <nil>
}

func ExampleModel() {
	llm := langchain.Model(providertest.Script(providertest.Say("Cold."))) // or any adapter, or a guard around one
	text, err := llms.GenerateFromSinglePrompt(context.Background(), llm, "How is the weather in Oslo?")
	fmt.Println(text, err)
	// Output: Cold. <nil>
}
