package providertest

import (
	"context"
	"iter"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// Func makes a model of a function that returns the whole answer, which is then streamed.
// Collected, the stream gives the same parts again. An empty Stop becomes [provider.StopToolCalls]
// if there are calls to run, else [provider.StopDone]; Complete doesn't matter. If there is an
// error, what the Response holds is streamed before it.
//
// [Step.Response] makes a Response with little text:
//
//	providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
//		return providertest.Say("You said " + req.LastUserText()).Response(), nil
//	})
//
// The model says of each name that it is free of charge ([Model.InfoOf]). fn may be called
// concurrently. It isn't called if the context is done already. It may block, so the model doesn't
// declare that it ends with its context ([provider.Cancelable]).
func Func(fn func(context.Context, *provider.Request) (*provider.Response, error)) provider.Provider {
	return function{provider.Func(func(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
		if ctx == nil {
			ctx = context.Background()
		}
		return stream.Once(func(yield func(provider.Chunk, error) bool) {
			switch {
			case fn == nil:
				yield(provider.Chunk{}, fault.New(fault.Permanent, "providertest: Func was given no function"))
			case req == nil:
				yield(provider.Chunk{}, provider.ErrNilRequest)
			case ctx.Err() != nil:
				yield(provider.Chunk{}, context.Cause(ctx))
			default:
				resp, err := fn(ctx, req)
				p := playResponse(resp, err)
				p.stream(ctx, yield)
			}
		})
	})}
}

// A function is a model that a Func is made of.
type function struct{ provider.Func }

func (function) Info() provider.ModelInfo                       { return free("") }
func (function) InfoOf(model string) (provider.ModelInfo, bool) { return free(model), true }

func playResponse(resp *provider.Response, err error) play {
	switch {
	case resp == nil && err == nil:
		return play{ending: failed,
			err: fault.New(fault.Permanent, "providertest: the function returned neither a Response nor an error")}
	case resp == nil:
		return play{ending: failed, err: err}
	}
	p := play{chunks: []provider.Chunk{{Kind: provider.KindStart, ID: resp.ID, Name: resp.Model}}}
	var g provider.Grammar
	_ = g.Next(&p.chunks[0]) // a Start may come first
	for i := range resp.Parts {
		for _, c := range partChunks(int32(i), &resp.Parts[i]) {
			if err := g.Next(&c); err != nil {
				p.ending = failed
				p.err = fault.Errorf(fault.Permanent,
					"providertest: part %d of the Response, of kind %q, can't be streamed: %w", i, resp.Parts[i].Kind, err)
				return p
			}
			p.chunks = append(p.chunks, c)
		}
	}
	if err != nil {
		p.ending, p.err = failed, err
		return p
	}
	stop := resp.Stop
	if stop == "" {
		stop = provider.StopDone
		if len(resp.Calls()) > 0 {
			stop = provider.StopToolCalls
		}
	}
	end := provider.End(stop, resp.Usage)
	end.Extra.StopRaw, end.Extra.Details = resp.StopRaw, resp.Details
	p.chunks = append(p.chunks, end)
	return p
}

// partChunks returns what streams part i of an answer. The part's number tells neighbours of one
// kind apart.
func partChunks(i int32, part *provider.Part) (chunks []provider.Chunk) {
	switch part.Kind {
	case provider.PartText, provider.PartReasoning, provider.PartRefusal:
		for _, piece := range words(part.Text) {
			chunks = append(chunks, provider.Chunk{Kind: chunkKinds[part.Kind], Index: i, Text: piece})
		}
		if len(chunks) == 0 {
			chunks = append(chunks, provider.Chunk{Kind: chunkKinds[part.Kind], Index: i})
		}
		if part.Opaque != nil {
			chunks = append(chunks, provider.Attach(*part.Opaque))
		}
	case provider.PartToolCall:
		call := part.Call
		if call == nil {
			call = &provider.ToolCall{}
		}
		chunks = append(chunks, provider.ToolStart(int(i), call.ID, call.Name))
		for _, piece := range pieces(nil, string(call.Input)+call.Invalid, 12) {
			chunks = append(chunks, provider.ToolDelta(int(i), piece))
		}
		chunks = append(chunks, provider.ToolEnd(int(i)))
		if part.Opaque != nil {
			chunks = append(chunks, provider.AttachTo(int(i), *part.Opaque))
		}
	default:
		c := provider.Chunk{Kind: chunkKinds[part.Kind], Extra: &provider.Extra{Part: part}}
		if part.Kind == provider.PartOpaque && part.Opaque != nil {
			c = provider.OpaquePart(*part.Opaque)
		}
		chunks = append(chunks, c)
	}
	return chunks
}

// chunkKinds has the kind of chunk for each kind of part that an answer may have.
var chunkKinds = map[provider.PartKind]provider.ChunkKind{
	provider.PartText:           provider.KindText,
	provider.PartReasoning:      provider.KindReasoning,
	provider.PartRefusal:        provider.KindRefusal,
	provider.PartProviderCall:   provider.KindProviderCall,
	provider.PartProviderResult: provider.KindProviderResult,
	provider.PartMedia:          provider.KindFile,
	provider.PartSource:         provider.KindSource,
	provider.PartOpaque:         provider.KindOpaque,
}
