// Package circuit stops calls to a resource that keeps failing, and finds out when it works again.
//
// A [Breaker] stands before one resource: a provider, a host, a tool. While it is closed calls pass. When too many have failed
// (so many in a row, or a share of the last ones) it opens, and refuses calls at once with an [*OpenError] until a cooldown is
// over. Then it is half-open: a few calls pass as probes. When enough of them have succeeded it closes; if one fails, or
// takes too long, it opens again. A [Set] holds a breaker for each key.
//
// What counts is the class of a call's error ([fault.Of]): transient and degraded are failures of the resource. A rate limit,
// a mistake of the caller, a cancellation or preemption says nothing about it, and never moves a breaker.
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
// Where a call isn't one function, [Breaker.Allow] gives a [Permit] that is ended with [Permit.Done], exactly once.
//
// # Guarantees
//
// The result of a call counts only while the breaker is in the state in which it let the call pass: what comes late, after it has
// opened, closed or was reset, is nobody's. Of any number of callers at recovery, at most Config.ClosesAfter are on their way at
// once, and a probe that never ends holds its place for Config.ProbeTimeout at most. A breaker that closes has forgotten the
// failures from before.
//
// Nothing here starts a goroutine or a timer: what time brings about is noticed by the next call. A call that passes a closed
// breaker and succeeds takes two atomic loads, or one short lock while there are failures among the last results, no look
// at the clock and no allocation. [Config.OnChange] is called in order and outside of locks.
//
// Several processes may share what they know through a [Store], beside the calls: see [Set.Share].
package circuit
