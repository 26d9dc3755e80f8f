package guard

import (
	"context"
	"iter"

	"github.com/pawlkit/pawl/provider"
)

// Do makes a call that isn't an answer of the guarded provider, such as one for embeddings: with
// the gate, budget, ledger, breaker, limits and retries of g, as [Guard.Stream] does. The embedders
// of the adapters take it as their Through.
//
// req says what is reserved and booked: Model, Labels, Interactive, Priority, Messages (or
// Config.Count of it) for the input, and MaxOutput for the output, which should be 1 for a call
// without one. The price is that of the guarded provider's [provider.InfoOf] for req.Model. do
// makes one attempt and returns its usage; without one, an estimate is booked. It must end with its
// context, which also ends after Config.FirstChunk, and is called again after a failure that is
// retried. Waits aren't reported.
func (g *Guard) Do(ctx context.Context, req *provider.Request, do func(context.Context) (provider.Usage, error)) error {
	if ctx == nil {
		ctx = context.Background()
	}
	if do == nil {
		return provider.ErrNilProvider
	}
	var failed error
	c := &call{guard: g, ctx: ctx, req: req, do: do}
	c.run(func(_ provider.Chunk, err error) bool {
		failed = err
		return true
	})
	return failed
}

// attempted returns the chunks of an attempt of Do: an answer without content.
func attempted(ctx context.Context, do func(context.Context) (provider.Usage, error)) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		usage, err := do(ctx)
		if err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		if yield(provider.Start(""), nil) {
			yield(provider.End(provider.StopDone, usage), nil)
		}
	}
}
