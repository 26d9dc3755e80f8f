// The program gate shows what Pawl's gate is for. It lives through a day at a rate-limited provider of models, twice at the
// same time: behind Pawl's gate, guard, breaker, budget and ledger, and behind a first-in first-out limiter. It needs
// no key.
//
//	go run ./examples/gate
//	go run ./examples/gate -svg gate.svg
//
// On a terminal it shows a table that changes as the day goes on, two hours of it a second (-speed); elsewhere a line for each hour.
// In the end it prints, side by side, how long people waited for the first word of their answers (p50, p99 and the longest),
// throughput, preemptions, and what was spent of what budget; with -svg it draws people's waits over the day. No file is
// written without it.
//
// # The day
//
// 50 sessions (-sessions) have people who ask, most of them around noon and some in the evening, and agents that work in the
// background. Five times a day everything is indexed anew: 400 background calls within 20 s. During the second flood the provider
// grants half its rate, and says so with 429 and Retry-After; in the middle of the fourth it fails for 20 minutes (529).
// Late in the day a background job runs away.
//
// The primary provider has 8 slots and 80 requests a minute, the backup half of that, is slower and dearer. What
// comes when, how long it is, and how long an answer takes depends on the -seed alone.
//
// # What is compared
//
// Both sides get the same calls at the same time, and have the same slots, rates, attempts and backup. Pawl's side is
//
//	gate, breaker (circuit.LLM) and guard for each provider, guard.Failover over both, one budget, one ledger
//
// with the library's defaults, unmodified: the program only configures them. The other side is a limiter as it is often
// written: a semaphore and a rate, first come first served; each caller tries again by itself, after the provider's
// Retry-After or else after delays that double, and asks the backup when its attempts are used up. It has no lanes, no breaker and
// no budget.
//
// A flood takes longer behind Pawl's gate, since a fifth of the slots is kept free for people. That is the price.
//
// # Time
//
// Time is virtual: the program runs in a bubble of testing/synctest, in which clocks jump from one event to the next, so a day takes
// a second or two, and a seed makes the same figures each time, however busy the machine is. Package testing gives bubbles to tests
// only, so the program runs itself as a test: see virtual.go. A program of yours has no need for that.
//
// # Exit status
//
//	0  the day is over
//	1  the output or the chart couldn't be written, or a call was lost or failed without a typed reason
//	2  a flag can't be taken
//
// These are a built program's; "go run" prints them and ends with 1 itself.
package main
