package guard

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// AbandonConfig configures [Abandonable]. Its zero value is valid.
type AbandonConfig struct {
	// Grace is the time that a call has to return after the end of its context, or after its
	// consumer has left; 0 or less: 5 s.
	Grace time.Duration
	// OnAbandoned, if it isn't nil, is called when a call is abandoned, in the goroutine that
	// ranges over it, with the context and the request of the call.
	OnAbandoned func(context.Context, *provider.Request)
	// OnReturned, if it isn't nil, is called when a call that was abandoned has returned after all,
	// in the goroutine of that call, after OnAbandoned has returned.
	OnReturned func(context.Context, *provider.Request)
}

const defaultGrace = 5 * time.Second

// Abandonable returns a provider whose calls end with their context, though p may ignore it. That
// is p itself if it declares to end with its context ([provider.EndsWithContext]), or is nil.
//
// Otherwise each call of p runs on a goroutine of its own, and hands its chunks over one at a time:
// p goes on when the consumer is done with the last one. Once the context has ended, nothing more
// is handed over, and when p has returned, the error is the context's. If p doesn't return within
// AbandonConfig.Grace, the call is abandoned, and the error is an *[AbandonedError]. The time that
// p waits for the consumer doesn't count. What an abandoned call holds stays in use until it
// returns, including its goroutine. No other goroutine outlives the range statement.
//
// If the consumer leaves the loop, in whatever way, the context of p is canceled, and the call has
// the same time to return. After that it is abandoned.
//
// A panic of p becomes a *[stream.PanicError] with the stack of p. A call of runtime.Goexit in p
// becomes an error of class Permanent.
func Abandonable(p provider.Provider, cfg AbandonConfig) provider.Provider {
	if isNil(p) || provider.EndsWithContext(p) {
		return p
	}
	if cfg.Grace <= 0 {
		cfg.Grace = defaultGrace
	}
	return &abandonable{p, cfg}
}

// An AbandonedError says that a provider ignored the end of its context, and that its call was
// abandoned. Its class is that of Err.
type AbandonedError struct {
	After time.Duration // the time that the provider had to return
	Err   error         // why the context ended
}

// Error says how long the provider had to return, and why its context ended.
func (e *AbandonedError) Error() string {
	return fmt.Sprintf("guard: the provider ignored the end of its context for %s and was abandoned (%v)", e.After,
		e.Err)
}

// Unwrap returns why the context ended: its cause and its error.
func (e *AbandonedError) Unwrap() error { return e.Err }

// An item is a chunk or an error on its way to the consumer.
type item struct {
	chunk provider.Chunk
	err   error
}

// errGoexit is the error of a provider that has called runtime.Goexit.
var errGoexit = fault.New(fault.Permanent, "guard: the provider ended its goroutine")

// An abandonable is a provider whose calls can be abandoned.
type abandonable struct {
	provider provider.Provider
	cfg      AbandonConfig
}

// Unwrap returns the provider inside.
func (a *abandonable) Unwrap() provider.Provider { return a.provider }

// EndsWithContext returns true.
func (a *abandonable) EndsWithContext() bool { return true }

// Stream makes a call.
func (a *abandonable) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	return stream.Once(func(yield func(provider.Chunk, error) bool) {
		h := &handover{abandonable: a, ctx: ctx, req: req, items: make(chan item), next: make(chan struct{}),
			gone: make(chan struct{}), returned: make(chan struct{}), reported: make(chan struct{})}
		if err := h.run(yield); err != nil {
			yield(provider.Chunk{}, err)
		}
	})
}

// A handover is one call. The provider's goroutine hands items over to the consumer's.
type handover struct {
	*abandonable
	ctx context.Context
	req *provider.Request

	items    chan item
	next     chan struct{} // the consumer is done with its item and wants another
	gone     chan struct{} // closed when nothing more is handed over
	returned chan struct{} // closed when the provider has returned in time
	reported chan struct{} // closed when OnAbandoned was called

	decided atomic.Bool // the provider has returned in time, or was abandoned
	err     error       // of a provider that has returned in time by a panic or runtime.Goexit
}

// run makes the call and returns the error that is still to be yielded.
func (h *handover) run(yield func(provider.Chunk, error) bool) error {
	ctx, cancel := context.WithCancelCause(h.ctx)
	go h.provide(ctx)
	wantsError, abandoned := false, false
	func() {
		defer func() { // also if the loop body panics or ends its goroutine
			close(h.gone)
			cancel(errLeft)
			abandoned = h.abandon()
		}()
		wantsError = h.receive(yield)
	}()
	switch {
	case !wantsError:
		return nil
	case abandoned:
		return &AbandonedError{After: h.cfg.Grace, Err: canceled(h.ctx)}
	case h.err != nil:
		return h.err
	case h.ctx.Err() != nil:
		return canceled(h.ctx)
	}
	return nil
}

// receive yields items until the provider returns, ctx ends, an error was yielded or the consumer
// leaves. It reports whether an error may follow.
func (h *handover) receive(yield func(provider.Chunk, error) bool) (wantsError bool) {
	wantsError = true
	for {
		select {
		case it := <-h.items:
			if h.ctx.Err() != nil {
				return wantsError
			}
			if !yield(it.chunk, it.err) || it.err != nil {
				return false
			}
			wantsError = wantsError && it.chunk.Kind != provider.KindEnd
			h.next <- struct{}{}
		case <-h.returned:
			return wantsError
		case <-h.ctx.Done():
			return wantsError
		}
	}
}

// abandon waits for the provider, and reports whether it gave up waiting.
func (h *handover) abandon() bool {
	late := time.NewTimer(h.cfg.Grace)
	defer late.Stop()
	select {
	case <-h.returned:
		return false
	case <-late.C:
	}
	if h.decided.Swap(true) { // just in time
		<-h.returned
		return false
	}
	defer close(h.reported)
	h.report(h.cfg.OnAbandoned)
	return true
}

// report calls a function of the AbandonConfig. A panic of it changes nothing.
func (h *handover) report(hook func(context.Context, *provider.Request)) {
	if hook == nil {
		return
	}
	defer func() { _ = recover() }()
	hook(h.ctx, h.req)
}

// provide is the goroutine of the provider.
func (h *handover) provide(ctx context.Context) {
	err := errGoexit
	defer func() {
		if v := recover(); v != nil {
			err = stream.NewPanicError("the provider", v)
		}
		if h.decided.Swap(true) {
			<-h.reported
			h.report(h.cfg.OnReturned)
			return
		}
		h.err = err
		close(h.returned)
	}()
	if seq := h.provider.Stream(ctx, h.req); seq != nil {
		seq(h.hand)
	}
	err = nil
}

// hand is the loop body of the provider's sequence.
func (h *handover) hand(chunk provider.Chunk, err error) bool {
	select {
	case h.items <- item{chunk, err}:
	case <-h.gone:
		return false
	}
	select {
	case <-h.next:
		return true
	case <-h.gone:
		return false
	}
}
