// Package guard stands between a provider and its callers, so that a call either succeeds or fails for a reason that
// the caller can't help either.
//
// A [Guard] is a Provider around a Provider. It makes an answer again that failed for a passing reason, with delays by
// class of failure ([Retry]) or as the provider advises; it ends an attempt that doesn't begin or falls silent; and it
// holds the answer to its grammar. With a gate, a budget, a ledger and a breaker it is the whole path of a call:
//
//	g, err := guard.New(p, guard.Config{
//		Name:    "primary",
//		Gate:    ratelimit.NewGate(ratelimit.GateConfig{Slots: 8}), // one for each provider and credential
//		Budget:  budget,                                            // shared
//		Ledger:  ledger,                                            // shared
//		Breaker: circuit.New("llm:primary", circuit.LLM()),
//	})
//	if err != nil {
//		return err
//	}
//	p, err := guard.Failover(g, backup)
//	…
//	res, err := provider.Generate(ctx, p, req)
//	var gaveUp *guard.GaveUpError
//	if errors.As(err, &gaveUp) {
//		log.Print(gaveUp.Attempts, gaveUp.Remedies(), res.Text()) // what had come by then
//	}
//
// # The path of an attempt
//
//   - The breaker is asked, without a permit. If it is open, the call fails now.
//   - The gate gives a slot, by lane, priority and session, when rates and pauses allow it.
//   - The budget reserves what the attempt may need. If it refuses, the slot goes back; if it makes the call wait, the
//     slot goes back, too. A call that waits for a slot in turn holds no reservation.
//   - The breaker gives a permit, and the provider is asked, under the idle watchdog. As the answer grows, so does the
//     reservation.
//   - What was used is settled with the budget and told the ledger, the permit is closed, and the slot goes back: after an
//     answer, a failure, a break, a panic of the loop body, a cancellation and a preemption alike.
//
// What was used is what the provider has reported. Where it hasn't, it is an estimate, marked as such and rather too
// high: a token for each 3 bytes. An attempt that was refused before its answer began has used nothing; one that was
// cut, canceled or timed out may have.
//
// An attempt that loses its slot to a person's request is made again, at the head of its session and at no cost in
// attempts. To the breaker it is no failure, and neither is one that was canceled or whose consumer has left.
//
// # What a consumer sees
//
// Before a wait of any length comes a Waiting chunk that says why and, if that is known, until when. If something of
// the answer had been shown, a Reset comes before that: what follows is a new answer, not the rest of the old one. When
// the guard gives up, what was shown stays, and the error is the last thing that comes. So it does when a budget ends
// an answer in the middle.
//
// # What is never tried again
//
//   - a class of failure whose attempts are used up; by default only passing failures have more than one
//   - anything once the answer has shown a call that the provider ran itself, because its effects may have happened
//   - an answer that has shown content, if the request says NoRestart
//   - what the provider wants to have tried again only after Config.MaxRetryAfter
//   - anything while the breaker is open, or once the budget refuses
//   - what was canceled; the context ends a wait at once, and its cause is the error
//   - what another guard has given up on ([GaveUpError]): guards around guards don't multiply attempts
//
// # Several providers
//
// [Failover] asks the next provider when one has failed, until content is shown; a [ChainConfig] with a Hedge asks it
// when one is slow. [Config].OnEvent and [ChainConfig].OnEvent tell of failed attempts, of bursts of them, and of what
// was given up, with remedies.
//
// # Guarantees
//
// No goroutine is started for a call without a Hedge, and no timer outlives it. A provider's panic becomes an error;
// one of the consumer's loop body goes on its way after everything is released. A provider that doesn't respect its
// context can't be interrupted, since it runs in the consumer's goroutine; [stream.BufferCall] with a Grace helps
// against such.
package guard
