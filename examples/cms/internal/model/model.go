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
const Label = ID + " (a script of some fifteen requests, not a language model)"

// A Model answers requests about a content site. Its zero value is ready for use. It has no state,
// so it is safe for concurrent use.
type Model struct{}

// New returns the model.
func New() *Model { return &Model{} }

// Info returns the model's limits, and prices of zero.
func (*Model) Info() provider.ModelInfo {
	return provider.ModelInfo{
		Provider: "pawl", ID: ID, Name: Label, Window: 128_000, Inputs: []string{"text"}, Outputs: []string{"text"},
		Reasoning: true,
		Prices:    &provider.Prices{Source: "it runs in the program itself"},
	}
}

// EndsWithContext returns true: the model never waits.
func (*Model) EndsWithContext() bool { return true }

// Stream answers a request. A text comes word by word.
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
		calls, text := decide(req)
		chunks, stop := []provider.Chunk{provider.Start(ID)}, provider.StopDone
		for word := range strings.SplitAfterSeq(text, " ") {
			chunks = append(chunks, provider.Text(word))
		}
		written := len(text)
		if len(calls) > 0 {
			stop, chunks = provider.StopToolCalls, []provider.Chunk{chunks[0], provider.Reasoning(text)}
		}
		for i, c := range calls {
			input, _ := json.Marshal(c.input) // it was decoded from JSON, or is text
			written += len(input)
			chunks = append(chunks, provider.ToolStart(i, "", c.tool), provider.ToolDelta(i, string(input)),
				provider.ToolEnd(i))
		}
		read := len(req.System)
		for i := range req.Messages {
			read += len(req.Messages[i].Text())
		}
		usage := provider.Usage{Input: int64(read/4 + 1), Output: int64(written)/4 + 1,
			Estimated: true}
		for _, c := range append(chunks, provider.End(stop, usage)) {
			if ctx.Err() != nil {
				yield(provider.Chunk{}, context.Cause(ctx))
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}
