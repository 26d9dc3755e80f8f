// The program gate shows the purpose of Pawl's gate. It simulates a day at a rate-limited provider
// of models, twice at the same time: behind Pawl's gate, guard, breaker, budget and ledger, and
// behind a first-in first-out limiter. It needs no API key.
//
//	go run ./examples/gate
//	go run ./examples/gate -svg gate.svg
//
// It prints, side by side, how long people waited for the first word of their answers (p50, p99 and
// the longest), throughput, preemptions, and spending against budgets; with -svg it draws people's
// waits over the day. Without -svg it writes no file.
//
// # The day
//
// 50 sessions (-sessions) have people who ask, mostly around noon and some in the evening, and
// agents that work in the background. Five times a day everything is reindexed: 400 background
// calls within 20 s. During the second flood the provider grants half its rate, and says so with
// 429 and Retry-After; in the middle of the fourth it fails for 20 minutes (529). Late in the day a
// background job runs away.
//
// The primary provider has 8 slots and 80 requests a minute, the backup half of that, is slower and
// more expensive. The times and lengths of requests and answers depend only on the -seed.
//
// # What is compared
//
// Both sides get the same calls at the same time, and have the same slots, rates, attempts and
// backup. Pawl's side is
//
//	gate, breaker (circuit.LLM) and guard for each provider, guard.Failover over both, one budget, one ledger
//
// with the library's defaults, unmodified: the program only configures them. The other side is a
// typical limiter: a semaphore and a rate, first come first served. Each caller retries by itself,
// after the provider's Retry-After or else after delays that double, and calls the backup when its
// attempts are used up. It has no lanes, no breaker and no budget.
//
// A flood takes longer behind Pawl's gate, since a fifth of the slots is reserved for people.
//
// # Time
//
// Time is virtual: the program runs in a bubble of testing/synctest, in which clocks jump from one
// event to the next, so a day takes a second or two, and a seed makes the same figures each time,
// however busy the machine is. Package testing gives bubbles to tests only, so the program runs
// itself as a test: see main.go. Your programs don't need this.
//
// # Exit status
//
//	0  the day is over
//	1  the output or the chart couldn't be written
//	2  a flag is invalid
//
// These are the statuses of the built program; "go run" prints them and exits with 1 itself.
package main
