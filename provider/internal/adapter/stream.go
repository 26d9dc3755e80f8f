package adapter

import (
	"context"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// Stream returns the sequence of a call. It calls run, which passes the chunks of the answer to
// put, stops when that returns false, and returns the error of the call. That error ends the
// sequence unless End was passed or the consumer has stopped; once ctx is done, the error is
// [Over]'s. A nil ctx means context.Background. If ctx is done before, run isn't called.
func Stream(ctx context.Context, run func(ctx context.Context, put func(provider.Chunk) bool) error) stream.Seq {
	if ctx == nil {
		ctx = context.Background()
	}
	return stream.Once(func(yield func(provider.Chunk, error) bool) {
		var err error
		over := false // End was yielded, or the consumer has stopped: nothing may be yielded any more
		if ctx.Err() == nil {
			err = run(ctx, func(c provider.Chunk) bool {
				if over || ctx.Err() != nil {
					return false
				}
				wanted := yield(c, nil)
				over = !wanted || c.Kind == provider.KindEnd
				return wanted
			})
		}
		switch {
		case over:
		case ctx.Err() != nil:
			yield(provider.Chunk{}, Over(ctx))
		case err != nil:
			yield(provider.Chunk{}, err)
		}
	})
}

// An Answer is one call as its consumer sees it. The decoders of the adapters embed it.
type Answer struct {
	Model string // that was requested
	Names *Names
	Res   *Response // nil before it
	Yield func(provider.Chunk) bool

	Metadata Details // what the server says about the answer

	Begun bool // Start was yielded
	Over  bool // End was yielded, or the consumer has stopped

	half   rune // the first half of a character at the end of the text so far; see Text
	halfOf provider.ChunkKind
	halfAt int32
}

// Begin yields Start, once, with the rate limits in the headers.
func (a *Answer) Begin(id, model string) {
	if a.Begun {
		return
	}
	a.Begun = true
	start := provider.Chunk{Kind: provider.KindStart, ID: id, Name: model}
	if a.Res != nil {
		if limits := provider.RateLimits(a.Res.Header); limits != nil {
			start.Extra = &provider.Extra{RateLimits: limits}
		}
	}
	a.Put(start)
}

// Put yields a chunk, after a Start if there was none, unless the answer is over. End gets the
// details; its Extra must be its own.
func (a *Answer) Put(c provider.Chunk) {
	if !a.Begun {
		a.Begin("", a.Model)
	}
	if c.Kind == provider.KindEnd {
		c.Extra.Details = a.Metadata.values()
	}
	if a.joined(&c) {
		a.yield(c)
	}
}

func (a *Answer) yield(c provider.Chunk) {
	if !a.Over {
		a.Over = !a.Yield(c) || c.Kind == provider.KindEnd
	}
}
