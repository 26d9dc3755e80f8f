package guard

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/abandon"
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
		cfg.Grace = abandon.Grace
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
		if err := a.call(ctx, req, yield); err != nil {
			yield(provider.Chunk{}, err)
		}
	})
}

// call makes a call and returns the error that is still to be yielded.
func (a *abandonable) call(ctx context.Context, req *provider.Request, yield func(provider.Chunk, error) bool) error {
	report := func(hook func(context.Context, *provider.Request)) func() {
		return func() {
			defer func() { _ = recover() }() // a panic of it changes nothing
			if hook != nil {
				hook(ctx, req)
			}
		}
	}
	failed, wantsError := errGoexit, true
	returned := abandon.Range(ctx,
		abandon.Reports{Grace: a.cfg.Grace, Abandoned: report(a.cfg.OnAbandoned), Returned: report(a.cfg.OnReturned)},
		func(ctx context.Context, hand func(provider.Chunk, error) bool) { failed = a.provide(ctx, req, hand) },
		func(chunk provider.Chunk, err error) bool {
			if !yield(chunk, err) || err != nil {
				wantsError = false
				return false
			}
			wantsError = wantsError && chunk.Kind != provider.KindEnd
			return true
		})
	switch {
	case !wantsError:
		return nil
	case !returned:
		return &AbandonedError{After: a.cfg.Grace, Err: canceled(ctx)}
	case failed != nil:
		return failed
	case ctx.Err() != nil:
		return canceled(ctx)
	}
	return nil
}

// provide passes what the provider yields to hand. The error is that of a panic.
func (a *abandonable) provide(ctx context.Context, req *provider.Request,
	hand func(provider.Chunk, error) bool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = stream.NewPanicError("the provider", v)
		}
	}()
	if seq := a.provider.Stream(ctx, req); seq != nil {
		seq(hand)
	}
	return nil
}
