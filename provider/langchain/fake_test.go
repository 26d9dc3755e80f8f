package langchain

import (
	"context"
	"sync"

	"github.com/tmc/langchaingo/llms"
)

// A fakeModel is a langchaingo model that streams pieces, and then returns choices or an error. It
// stores its requests.
type fakeModel struct {
	pieces  []string // "~" begins reasoning
	choices []*llms.ContentChoice
	err     error

	mu       sync.Mutex // guards what follows
	messages []llms.MessageContent
	opts     llms.CallOptions
}

func (f *fakeModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, f, prompt, options...)
}

func (f *fakeModel) GenerateContent(ctx context.Context, messages []llms.MessageContent,
	options ...llms.CallOption) (*llms.ContentResponse, error) {
	var opts llms.CallOptions
	for _, o := range options {
		o(&opts)
	}
	f.mu.Lock()
	f.messages, f.opts = messages, opts
	f.mu.Unlock()
	for _, p := range f.pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := streamPiece(ctx, &opts, p); err != nil {
			return nil, err
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	return &llms.ContentResponse{Choices: f.choices}, ctx.Err()
}

// streamPiece calls the streaming functions, as langchaingo's openai model does.
func streamPiece(ctx context.Context, opts *llms.CallOptions, p string) error {
	if p != "" && p[0] == '~' {
		if opts.StreamingReasoningFunc != nil {
			return opts.StreamingReasoningFunc(ctx, []byte(p[1:]), nil)
		}
		return nil
	}
	if opts.StreamingReasoningFunc != nil {
		if err := opts.StreamingReasoningFunc(ctx, nil, []byte(p)); err != nil {
			return err
		}
	}
	if opts.StreamingFunc != nil {
		return opts.StreamingFunc(ctx, []byte(p))
	}
	return nil
}

// modelFunc is a langchaingo model made of a function.
type modelFunc func(ctx context.Context) (*llms.ContentResponse, error)

func (f modelFunc) Call(ctx context.Context, _ string, _ ...llms.CallOption) (string, error) {
	return "", nil
}

func (f modelFunc) GenerateContent(ctx context.Context, _ []llms.MessageContent,
	_ ...llms.CallOption) (*llms.ContentResponse, error) {
	return f(ctx)
}

func said(text, stop string) []*llms.ContentChoice {
	return []*llms.ContentChoice{{Content: text, StopReason: stop,
		GenerationInfo: map[string]any{"PromptTokens": 10, "CompletionTokens": 3}}}
}
