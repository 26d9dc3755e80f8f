package langchain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/internal/httpguard"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/stream"
)

var errLeft = errors.New("langchain: the consumer has left")

// A call is one call of a langchaingo model. All methods except produce run in the consumer's
// goroutine.
type call struct {
	p       *Provider
	ctx     context.Context
	yield   func(provider.Chunk, error) bool
	model   string
	names   *adapter.Names
	input   int // size of the request in bytes, for an estimate
	tools   bool
	begun   bool
	text    strings.Builder // yielded since the last Start
	thought strings.Builder
}

// A piece is a streamed piece of an answer.
type piece struct{ text, reasoning string }

// An outcome is the result of a model's call.
type outcome struct {
	res     *llms.ContentResponse
	err     error
	secrets *httpguard.Secrets // of the model's requests
}

// stream makes a call. It returns the error to yield, or errLeft.
func (p *Provider) stream(ctx context.Context, req *provider.Request, yield func(provider.Chunk, error) bool) error {
	if req == nil {
		return provider.ErrNilRequest
	}
	if req.Images != nil {
		return provider.ErrNoImages
	}
	if ctx.Err() != nil {
		return adapter.Over(ctx)
	}
	b, err := p.build(req)
	if err != nil {
		return err
	}
	c := &call{p: p, ctx: ctx, yield: yield, model: b.model, names: b.names, input: b.size, tools: len(req.Tools) > 0}
	o, err := c.run(b, !req.NoRestart)
	switch {
	case ctx.Err() != nil && !errors.Is(err, errLeft):
		return adapter.Over(ctx)
	case err != nil:
		return err
	case o.err != nil:
		return c.p.failure(o.err, o.secrets)
	}
	return c.finish(o.res)
}

// run calls the model and yields the streamed pieces. The model has returned when run returns.
func (c *call) run(b *built, streaming bool) (outcome, error) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	pieces, done := make(chan piece), make(chan outcome, 1)
	returned := false
	defer func() {
		cancel(nil)
		if !returned { // the consumer's loop body panicked
			<-done
		}
	}()
	options := b.options
	if streaming {
		options = append(options,
			llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
				return hand(ctx, pieces, piece{text: string(chunk)})
			}),
			llms.WithStreamingReasoningFunc(func(_ context.Context, reasoning, _ []byte) error {
				return hand(ctx, pieces, piece{reasoning: string(reasoning)})
			}))
	}
	go c.p.produce(ctx, b.messages, options, done)
	var left error
	for {
		select {
		case s := <-pieces:
			if left == nil {
				if left = c.show(s); left != nil {
					cancel(left)
				}
			}
		case o := <-done:
			returned = true
			return o, left
		}
	}
}

// hand passes a piece to the consumer, unless the call is over.
func hand(ctx context.Context, to chan<- piece, s piece) error {
	if s == (piece{}) {
		return nil
	}
	select {
	case to <- s:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// produce calls the model. A panic of the model is an error.
func (p *Provider) produce(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
	done chan<- outcome) {
	ctx, secrets := httpguard.Watch(ctx)
	// replaced, unless the model calls runtime.Goexit
	o := outcome{err: errors.New("langchain: the model ended its goroutine"), secrets: secrets}
	defer func() {
		if v := recover(); v != nil {
			o.res, o.err = nil, stream.NewPanicError("the langchaingo model", v)
		}
		done <- o
	}()
	o.res, o.err = p.llm.GenerateContent(ctx, messages, options...)
}

// show yields a streamed piece. Pieces of tool calls, which some models stream as well, are
// ignored.
func (c *call) show(s piece) error {
	if s.reasoning != "" {
		c.thought.WriteString(s.reasoning)
		return c.put(provider.Reasoning(s.reasoning))
	}
	if c.tools && isCallJSON(s.text) {
		return nil
	}
	c.text.WriteString(s.text)
	return c.put(provider.Text(s.text))
}

// put yields a chunk, after Start.
func (c *call) put(chunk provider.Chunk) error {
	if !c.begun {
		c.begun = true
		if err := c.put(provider.Start(c.model)); err != nil {
			return err
		}
	}
	if c.ctx.Err() != nil {
		return adapter.Over(c.ctx)
	}
	if !c.yield(chunk, nil) {
		return errLeft
	}
	return nil
}

// finish yields the parts of the answer that weren't streamed, and End.
func (c *call) finish(res *llms.ContentResponse) error {
	a := c.gather(res)
	if a.text == "" && len(a.calls) == 0 {
		a.text = c.text.String()
	}
	if a.reasoning == "" {
		a.reasoning = c.thought.String()
	}
	if c.begun && !(strings.HasPrefix(a.text, c.text.String()) && strings.HasPrefix(a.reasoning, c.thought.String())) {
		if err := c.put(provider.Reset("the streamed text differs from the answer")); err != nil {
			return err
		}
		c.begun = false
		c.text.Reset()
		c.thought.Reset()
	}
	for _, chunk := range a.rest(c.text.Len(), c.thought.Len()) {
		if err := c.put(chunk); err != nil {
			return err
		}
	}
	if a.cut(c.p.profile.stated) {
		return provider.ErrIncomplete
	}
	end := provider.End(a.stop(), a.usage(c.input))
	end.Extra.StopRaw = a.stopRaw
	return c.put(end)
}

// isCallJSON reports whether a streamed text is a piece of tool calls as JSON.
func isCallJSON(text string) bool {
	raw := bytes.TrimSpace([]byte(text))
	if len(raw) < 2 || raw[0] != '[' && raw[0] != '{' {
		return false
	}
	if raw[0] == '{' {
		raw = append(append([]byte("["), raw...), ']')
	}
	var calls []map[string]json.RawMessage
	if json.Unmarshal(raw, &calls) != nil || len(calls) == 0 {
		return false
	}
	for _, c := range calls {
		_, function := c["function"]
		_, args := c["arguments"]
		_, called := c["name"]
		if !function && !(args && called) {
			return false
		}
	}
	return true
}
