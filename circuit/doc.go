// Package circuit stops calls to a resource that keeps failing, and finds out when it works again.
//
// A [Breaker] guards one resource: a provider, a host, a tool. While it is closed, calls pass. When
// too many calls have failed (a number in a row, or a share of the last ones), it opens and rejects
// calls at once with an [*OpenError] until a cooldown is over. Then it is half-open: a few calls
// pass as probes. When enough probes have succeeded, it closes; if one fails or takes too long, it
// opens again. A [Set] holds a breaker for each key.
//
// The class of a call's error ([fault.Of]) decides whether it counts: transient and degraded errors
// are failures of the resource. Rate limits, mistakes of the caller, cancellations and preemptions
// never change a breaker's state.
//
//	breakers := circuit.NewSet(circuit.Network())
//
//	page, err := circuit.Do(ctx, breakers.Get("network:cms"), func(ctx context.Context) (*Page, error) {
//		return client.Page(ctx, id)
//	})
//	var open *circuit.OpenError
//	if errors.As(err, &open) {
//		return nil, fmt.Errorf("%s is down, next try in %v: %w", open.Name, open.RetryAfter, err)
//	}
//
// For a call that isn't one function, [Breaker.Allow] returns a [Permit], which must be ended with
// [Permit.Done] exactly once.
//
// # Guarantees
//
// The result of a call counts only while the breaker is in the state in which it admitted the call:
// a result that comes after the breaker has opened, closed or been reset is ignored. While
// half-open, at most Config.ClosesAfter probes run at once, however many callers there are, and a
// probe that never ends keeps its place for at most Config.ProbeTimeout. A breaker that closes
// forgets earlier failures.
//
// The package starts no goroutine and no timer: changes that are due to time are made by the next
// call. A successful call through a closed breaker takes two atomic loads, or one short lock while
// there are failures among the last results. It doesn't read the clock and allocates nothing.
// [Config.OnChange] is called in order and outside of locks.
package circuit
