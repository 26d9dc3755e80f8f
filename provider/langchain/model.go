package langchain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/provider"
)

// Model returns a langchaingo model that makes its calls with p. It is safe for concurrent use. If
// p is nil, every call fails. The package comment says what is lost.
//
// The answer is one choice. Its GenerationInfo has PromptTokens (all of the prompt),
// CompletionTokens, TotalTokens, PromptCachedTokens, CacheCreationInputTokens, ReasoningTokens and
// ThinkingContent, as langchaingo's openai model has them. A call without an id of its provider's
// gets one, so that its result can name it.
//
// An error of a streaming function ends the call and is returned. Streaming functions get an answer
// once: the request sets NoRestart.
func Model(p provider.Provider) llms.Model { return &model{p: p} }

type model struct{ p provider.Provider }

// Call answers a prompt with a text.
func (m *model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

// GenerateContent makes a call of the Provider.
func (m *model) GenerateContent(ctx context.Context, messages []llms.MessageContent,
	options ...llms.CallOption) (*llms.ContentResponse, error) {
	if isNil(m.p) {
		return nil, coded(provider.ErrNilProvider)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	var opts llms.CallOptions
	for _, o := range options {
		if o != nil {
			o(&opts)
		}
	}
	req, err := requestOf(messages, &opts)
	if err != nil {
		return nil, coded(err)
	}
	res, err := m.collect(ctx, req, &opts)
	if err != nil {
		return nil, err
	}
	return choiceOf(res), nil
}

// collect makes the call and passes on the streamed pieces.
func (m *model) collect(ctx context.Context, req *provider.Request, opts *llms.CallOptions) (*provider.Response,
	error) {
	var c provider.Collector
	shown := false
	for chunk, err := range m.p.Stream(ctx, req) {
		if err == nil {
			err = c.Add(chunk)
		}
		if err != nil {
			return nil, coded(err)
		}
		switch chunk.Kind {
		case provider.KindReset:
			if shown {
				return nil,
					coded(errors.New("langchain: the answer started again after a part of it had been streamed"))
			}
		case provider.KindText, provider.KindReasoning:
			streamed, err := show(ctx, chunk, opts)
			if err != nil {
				return nil, err
			}
			shown = shown || streamed
		}
	}
	if !c.Complete() {
		return nil, coded(provider.ErrIncomplete)
	}
	return c.Response(), nil
}

// show calls the streaming functions, as langchaingo's openai model does.
func show(ctx context.Context, chunk provider.Chunk, opts *llms.CallOptions) (streamed bool, err error) {
	text, reasoning := []byte(chunk.Text), []byte(nil)
	if chunk.Kind == provider.KindReasoning {
		text, reasoning = nil, text
	}
	if f := opts.StreamingFunc; f != nil && len(text) > 0 {
		streamed = true
		if err := f(ctx, text); err != nil {
			return true, fmt.Errorf("langchain: the streaming function: %w", err)
		}
	}
	if f := opts.StreamingReasoningFunc; f != nil && len(text)+len(reasoning) > 0 {
		streamed = true
		if err := f(ctx, reasoning, text); err != nil {
			return true, fmt.Errorf("langchain: the streaming function for reasoning: %w", err)
		}
	}
	return streamed, nil
}

// coded converts a Provider's error to langchaingo's.
func coded(err error) error {
	e := llms.NewError(codeOf(err), "pawl", err.Error())
	var known *provider.Error
	if errors.As(err, &known) && known.Provider != "" {
		e.Provider = known.Provider
	}
	return e.WithCause(err)
}

// reasons are the stop reasons of langchaingo's openai model.
var reasons = map[provider.StopReason]string{
	provider.StopDone: "stop", provider.StopLength: "length", provider.StopToolCalls: "tool_calls",
	provider.StopFiltered: "content_filter", provider.StopPaused: "pause_turn", provider.StopError: "error",
}

func choiceOf(res *provider.Response) *llms.ContentResponse {
	u := res.Usage
	choice := &llms.ContentChoice{
		Content:          res.Text(),
		ReasoningContent: res.Reasoning(),
		StopReason:       reasons[res.Stop],
		GenerationInfo: map[string]any{
			"PromptTokens": int(u.Input), "CompletionTokens": int(u.Output), "TotalTokens": int(u.Total()),
			"PromptCachedTokens": int(u.CacheRead), "CacheCreationInputTokens": int(u.CacheWrite),
			"ReasoningTokens": int(u.Reasoning), "ThinkingContent": res.Reasoning(),
		},
	}
	if said := res.Message(); choice.Content == "" {
		choice.Content = said.Refusal()
	}
	ids := map[string]bool{}
	for i, c := range res.Calls() {
		id := c.ID
		if id == "" || ids[id] {
			id = "call_" + strconv.Itoa(i)
		}
		ids[id] = true
		f := &llms.FunctionCall{Name: c.Name, Arguments: cmp.Or(string(c.Input)+c.Invalid, "{}")}
		choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: id, Type: "function", FunctionCall: f})
		if choice.FuncCall == nil {
			choice.FuncCall = f
		}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}
}
