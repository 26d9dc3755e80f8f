// Package circuit stops calls to a resource that keeps failing, and finds out when it works again.
//
// A [Breaker] guards one resource: a provider, a host, a tool. While it is closed, calls pass. When
// too many calls have failed (a number in a row, or a share of the last ones), it opens and rejects
// calls at once with an [*OpenError] until a cooldown is over. Then it is half-open: a few calls
// pass as probes. When enough probes have succeeded, it closes; if one fails or takes too long, it
// opens again. A [Set] holds a breaker for each key.
//
// Every error of a call is a failure of the resource, unless its class (package circuit/fault) is
// known and says otherwise: rate limits, mistakes of the caller, cancellations and preemptions
// never change a breaker's state. [Config].Counts sets another rule. On the breakers of packages
// provider/guard and tools an error of unknown class doesn't count, because models make bad calls.
//
//	breakers := circuit.NewSet(circuit.Network())
//
//	res, err := circuit.Do(ctx, breakers.Get("network:cms"), func(ctx context.Context) (*http.Response, error) {
//		res, err := client.Do(req.WithContext(ctx))
//		if err != nil {
//			return nil, err
//		}
//		if err := fault.FromHTTP(res); err != nil { // net/http returns no error for a 503
//			res.Body.Close()
//			return nil, err
//		}
//		return res, nil
//	})
//	if errors.Is(err, circuit.ErrOpen) { // not called; ask this first, see OpenError
//		return nil, fmt.Errorf("the CMS is down: %w", err)
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
