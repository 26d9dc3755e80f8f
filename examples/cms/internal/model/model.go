package model

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/pawlkit/pawl/provider"
)

// ID is the model's name.
const ID = "built-in"

// Label describes the model on a screen.
const Label = ID + " (plain Go, understands a documented set of requests; not a language model)"

// A Model answers requests about a content site. Its zero value is ready for use. It has no state, so it is safe for concurrent use.
type Model struct{}

// New returns the model.
func New() *Model { return &Model{} }

// Info returns the model's limits, and prices of zero.
func (*Model) Info() provider.ModelInfo {
	return provider.ModelInfo{
		Provider: "pawl", ID: ID, Name: Label, Window: 1 << 20, Inputs: []string{"text"}, Outputs: []string{"text"}, Reasoning: true,
		Prices: &provider.Prices{Source: "it runs in the program itself"},
	}
}

// Stream answers a request, word by word.
func (*Model) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	var ranged atomic.Bool
	return func(yield func(provider.Chunk, error) bool) {
		switch {
		case ranged.Swap(true):
			yield(provider.Chunk{}, provider.ErrConsumed)
			return
		case req == nil:
			yield(provider.Chunk{}, provider.ErrNilRequest)
			return
		}
		if err := ctx.Err(); err != nil {
			yield(provider.Chunk{}, context.Cause(ctx))
			return
		}
		s := speech{ctx: ctx, yield: yield}
		s.give(provider.Start(ID))
		stop := s.answer(decide(req))
		s.give(provider.End(stop, provider.Usage{Input: promptTokens(req), Output: tokens(s.bytes), Estimated: true}))
	}
}

// A speech streams one answer. After the consumer has stopped or the context has ended, it emits nothing.
type speech struct {
	ctx   context.Context
	yield func(provider.Chunk, error) bool
	over  bool
	bytes int
}

func (s *speech) give(c provider.Chunk) {
	if s.over {
		return
	}
	if s.ctx.Err() != nil {
		s.over = true
		s.yield(provider.Chunk{}, context.Cause(s.ctx))
		return
	}
	s.bytes += len(c.Text) + len(c.Name)
	s.over = !s.yield(c, nil)
}

// answer streams a move and returns the stop reason.
func (s *speech) answer(m move) provider.StopReason {
	if m.call == nil {
		s.say(provider.Text, m.text)
		return provider.StopDone
	}
	s.say(provider.Reasoning, m.think)
	s.give(provider.ToolStart(0, "", m.call.tool))
	for rest := string(m.call.input); rest != "" && !s.over; {
		n := cut(rest, 24)
		s.give(provider.ToolDelta(0, rest[:n]))
		rest = rest[n:]
	}
	s.give(provider.ToolEnd(0))
	return provider.StopToolCalls
}

// say streams text in chunks of one word and the space after it.
func (s *speech) say(chunk func(string) provider.Chunk, text string) {
	for text != "" && !s.over {
		n := len(text)
		if i := strings.IndexAny(text, " \n"); i >= 0 {
			n = i + 1
		}
		s.give(chunk(text[:n]))
		text = text[n:]
	}
}

// cut returns where to cut text after at most n bytes without splitting a character.
func cut(text string, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for n > 1 && text[n]&0xc0 == 0x80 {
		n--
	}
	return n
}

// promptTokens estimates the tokens of a request: four bytes each.
func promptTokens(req *provider.Request) int64 {
	n := len(req.System)
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for i := range req.Messages {
		for _, p := range req.Messages[i].Parts {
			n += len(p.Text)
			if p.Call != nil {
				n += len(p.Call.Name) + len(p.Call.Input)
			}
			if p.Result != nil {
				n += len(p.Result.Text())
			}
		}
	}
	return tokens(n)
}

func tokens(bytes int) int64 { return int64(bytes+3) / 4 }

// A move is the model's next action: a text, or a thought and a call.
type move struct {
	text  string
	think string
	call  *call
}

// A call is a tool and its input.
type call struct {
	tool  string
	input json.RawMessage
}
