// Package guard stands between a provider and its callers, so that a call either succeeds or fails for a reason that
// the caller can't help either.
//
// A [Guard] is a Provider around a Provider. It makes an answer again that failed for a passing reason, with delays by
// class of failure ([Retry]) or as the provider advises; it ends an attempt that doesn't begin or falls silent; and it
// holds the answer to its grammar.
//
//	g, err := guard.New(p, guard.Config{Name: "primary", Idle: 30 * time.Second})
//	if err != nil {
//		return err
//	}
//	res, err := provider.Generate(ctx, g, req)
//	var gaveUp *guard.GaveUpError
//	if errors.As(err, &gaveUp) {
//		log.Print(gaveUp.Attempts, gaveUp.Class, res.Text()) // what had come by then
//	}
//
// # What a consumer sees
//
// Before a wait of any length comes a Waiting chunk that says why and until when. If something of the answer had been
// shown, a Reset comes before that: what follows is a new answer, not the rest of the old one. When the guard gives up,
// what was shown stays, and the error is the last thing that comes.
//
// # What is never tried again
//
//   - a class of failure whose attempts are used up; by default only passing failures have more than one
//   - anything once the answer has shown a call that the provider ran itself, because its effects may have happened
//   - an answer that has shown content, if the request says NoRestart
//   - what the provider wants to have tried again only after Config.MaxRetryAfter
//   - what was cancelled; the context ends a wait at once, and its cause is the error
//   - what another guard has given up on ([GaveUpError]): guards around guards don't multiply attempts
//
// # Guarantees
//
// No goroutine is started for a call, and no timer outlives it. A provider's panic becomes an error; one of the
// consumer's loop body goes on its way after everything is released. A provider that doesn't heed its context can't be
// interrupted, since it runs in the consumer's goroutine; [stream.BufferCall] with a Grace helps against such.
package guard
