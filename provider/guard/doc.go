// Package guard wraps a provider, so that a call fails only for reasons that retries and waiting
// can't fix.
//
// A [Guard] is a Provider around a Provider. It retries calls that failed for a transient reason,
// with delays by class of failure ([fault.Retry]) or as the provider advises; it ends an attempt
// that doesn't begin or falls silent; and it checks the grammar of the answer. It can also use a
// gate, a budget, a ledger and a breaker:
//
//	g, err := guard.New(p, guard.Config{
//		Name:    "primary",
//		Gate:    ratelimit.NewGate(ratelimit.GateConfig{Slots: 8}), // one for each provider and credential
//		Budget:  limits,                                            // shared
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
//		log.Print(gaveUp.Attempts, gaveUp.Remedies(), res.Text()) // the answer so far
//	}
//
// # Order of an attempt
//
//   - The guard asks the breaker, without taking a permit. If it is open, the call fails now.
//   - The gate grants a slot, by lane, priority and session, when rates and pauses allow it.
//   - The budget reserves what the attempt may need. If it rejects the call or makes it wait, the
//     slot is released. A call that waits for a slot holds no reservation.
//   - The breaker grants a permit, and the provider is called, under the idle watchdog. The
//     reservation grows with the answer.
//   - The usage is settled with the budget and recorded in the ledger, the permit is ended, and the
//     slot is released: after an answer, a failure, a break, a panic of the loop body, a
//     cancellation and a preemption alike.
//
// The usage is what the provider has reported. If it hasn't, it is an estimate on the high side,
// marked as such: a token for each 3 bytes. An attempt that was rejected before its answer began
// has used nothing; one that was cut, canceled or timed out may have used something.
//
// An attempt that is preempted by an interactive request is made again, at the head of its session,
// and doesn't count as an attempt. The breaker doesn't count it as a failure, nor an attempt that
// was canceled or whose consumer has left.
//
// # What a consumer sees
//
// Before each wait there is a Waiting chunk that says why and, if that is known, until when. If
// part of the answer had been shown, a Reset precedes it: what follows is a new answer, not the
// rest of the old one. When the guard gives up, or when a budget ends an answer in the middle, what
// was shown remains valid, and the error comes last.
//
// # What is never retried
//
//   - a class of failure whose attempts are used up; by default only passing failures have more
//     than one
//   - anything once the answer has shown a call that the provider ran itself, because its effects
//     may have happened
//   - an answer that has shown content, if the request says NoRestart
//   - a call for which the provider advises a wait longer than Config.MaxRetryAfter
//   - an interactive call, 30 s after its first failure: its last attempt begins by then. Waits in a
//     gate don't count, because the gate says when they end
//   - a rate-limited call of a [Chain], while a later provider of it is free
//   - anything while the breaker is open, or after the budget has rejected it
//   - a canceled call; the context ends a wait at once, and its cause is the error
//   - a call that another guard has given up ([GaveUpError]): nested guards don't multiply attempts
//
// # Other calls
//
// [Guard.Do] makes calls that aren't answers of a model, such as those for embeddings, in the same
// order and with the same parts.
//
// # Several providers
//
// [Failover] calls the next provider when one has failed, until content is shown. When one is rate
// limited, it calls a later one that is free at once, and comes back if that fails.
// [Config].OnEvent and [ChainConfig].OnEvent report failed attempts, bursts of them, and calls that
// were given up, with remedies.
//
// # Guarantees
//
// No goroutine is started for a call, and no timer outlives it. A provider's panic becomes an
// error; a panic of the consumer's loop body propagates after everything is released. A provider
// that ignores its context can't be interrupted, since it runs in the consumer's goroutine. Put
// [Abandonable] around such a provider, inside the guard: its calls then end with their context,
// and the guard's limits end its attempts.
package guard
