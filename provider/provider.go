package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Provider answers a request with a sequence of chunks.
//
// The sequence is ranged over at most once. The call starts when the range does, and is over, with
// every goroutine, timer and connection closed, when the range statement ends, however it ends. An
// error is yielded once, last, together with a zero Chunk. The request isn't changed, and must not
// be changed by the caller while the call lasts. A Provider is safe for concurrent use.
type Provider interface {
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// Func makes a Provider of a function.
type Func func(ctx context.Context, req *Request) iter.Seq2[Chunk, error]

// Stream calls f. If that is nil, the sequence is an error.
func (f Func) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	if f == nil {
		return func(yield func(Chunk, error) bool) { yield(Chunk{}, errNoFunc) }
	}
	return f(ctx, req)
}

var errNoFunc = fault.New(fault.Invalid, "provider: the Func is nil")

// An Informer is a Provider that knows its model.
type Informer interface {
	Info() ModelInfo
}

// A TokenCounter is a Provider that can count the input tokens of a request.
type TokenCounter interface {
	CountTokens(ctx context.Context, req *Request) (int, error)
}

// A Cancelable is a Provider that says whether its sequences end with their context.
//
// If EndsWithContext returns true, the range statement over each sequence of the Provider returns
// promptly once the context of the call has ended, whatever the network, the server and the model
// do. Promptly means at once, but for the time that cleaning up takes, or within a documented time
// of a few seconds. The time in which the body of the loop runs doesn't count. Such a Provider can
// run on the caller's goroutine. A declaration that isn't true makes a caller hang with the
// Provider. So a Provider that calls functions of its user, such as a custom http.RoundTripper,
// should return true only if they end with their context, too. The result must not change.
type Cancelable interface {
	EndsWithContext() bool
}

// A Nearby declares whether its server is in the host's own network: such a server may need long to
// load a model, and a failover chain doesn't leave it because it is silent. A Provider that doesn't
// implement it, and wraps none that does, isn't near.
type Nearby interface {
	Near() bool
}

// ErrConsumed is yielded by a second range over the sequence of a call.
var ErrConsumed = fault.New(fault.Permanent,
	"provider: the stream of this call has been consumed already; make another call")

// ErrIncomplete is the error of a stream that ended without its End: the connection was cut, or a
// proxy closed it. The answer so far is partial.
var ErrIncomplete = fault.New(fault.Transient, "provider: the stream ended before the answer was complete")

// ErrNilProvider is the error of a call to a nil Provider.
var ErrNilProvider = fault.New(fault.Permanent,
	"provider: the Provider is nil; construct one first, for example with an adapter's New")

// ErrNilRequest is the error of a call with a nil Request.
var ErrNilRequest = fault.New(fault.Permanent, "provider: the Request is nil")

// ErrNoCount is returned by [CountTokens] when neither the Provider nor anything it wraps can
// count.
var ErrNoCount = errors.New("provider: this provider can't count tokens")

// Generate makes a call and collects its answer. The Response is never nil: on an error it holds
// the answer so far. Waiting chunks are skipped.
func Generate(ctx context.Context, p Provider, req *Request) (*Response, error) {
	var c Collector
	if isNil(p) {
		return c.Response(), ErrNilProvider
	}
	if req == nil {
		return c.Response(), ErrNilRequest
	}
	return collect(&c, p.Stream(ctx, req))
}

// CollectSeq collects the sequence of one call, as [Generate] does.
func CollectSeq(seq iter.Seq2[Chunk, error]) (*Response, error) {
	var c Collector
	return collect(&c, seq)
}

func collect(c *Collector, seq iter.Seq2[Chunk, error]) (*Response, error) {
	if seq == nil {
		return c.Response(), ErrIncomplete
	}
	for chunk, err := range seq {
		if err != nil {
			return c.Response(), err
		}
		if err := c.Add(chunk); err != nil {
			return c.Response(), err
		}
	}
	if !c.Complete() {
		return c.Response(), ErrIncomplete
	}
	return c.Response(), nil
}

// Info returns the description of p's model. It asks p, then what p wraps, depth first, through
// `Unwrap() Provider` and `Unwrap() []Provider`. The second result is false if none of them knows
// it.
func Info(p Provider) (ModelInfo, bool) {
	budget := maxWrap
	if i, ok := find(p, &budget, is[Informer]); ok {
		return i.Info(), true
	}
	return ModelInfo{}, false
}

// CountTokens returns the number of input tokens of req, counted by p or by what p wraps (see
// [Info]). It returns [ErrNoCount] if none of them can.
func CountTokens(ctx context.Context, p Provider, req *Request) (int, error) {
	if req == nil {
		return 0, ErrNilRequest
	}
	budget := maxWrap
	c, ok := find(p, &budget, is[TokenCounter])
	if !ok {
		return 0, ErrNoCount
	}
	n, err := c.CountTokens(ctx, req)
	if err != nil {
		return 0, fmt.Errorf("provider: counting tokens: %w", err)
	}
	return n, nil
}

// EndsWithContext reports whether p declares that its sequences end with their context: see
// [Cancelable]. It is false for a nil Provider. It doesn't ask what p wraps, because a wrapper may
// block on its own: a wrapper declares for itself, by asking what it wraps.
func EndsWithContext(p Provider) bool {
	c, ok := p.(Cancelable)
	return ok && !isNil(p) && c.EndsWithContext()
}

// is returns p as a T, if it is one.
func is[T any](p Provider) (T, bool) {
	t, ok := p.(T)
	return t, ok
}

// maxWrap bounds how many Providers a search visits, so that one that unwraps to itself can't hang
// a caller.
const maxWrap = 1000

// find returns what is wanted of the first of p and what it wraps that has it. Each visited
// Provider costs one of the budget.
func find[T any](p Provider, budget *int, want func(Provider) (T, bool)) (t T, ok bool) {
	if *budget--; *budget < 0 || isNil(p) {
		return t, false
	}
	if t, ok := want(p); ok {
		return t, true
	}
	switch w := p.(type) {
	case interface{ Unwrap() Provider }:
		return find(w.Unwrap(), budget, want)
	case interface{ Unwrap() []Provider }:
		for _, inner := range w.Unwrap() {
			if t, ok := find(inner, budget, want); ok {
				return t, true
			}
		}
	}
	return t, false
}
