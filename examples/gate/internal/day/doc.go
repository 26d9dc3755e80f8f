// Package day is a simulated day at a rate-limited provider of models: people who ask, background work, floods of it, and an
// outage. It lives it through twice at the same time: behind Pawl's own gate, guard, breaker, budget and ledger, and behind a
// plain first-in first-out limiter.
//
// What happens is a [Plan], made of a seed. Who lives through it, and when it is over, is what [Plan.Run] says:
//
//	plan := day.NewPlan(day.Config{Seed: 1})
//	report := plan.Run(func(t day.Tick) { fmt.Println(t.At, t.Sides[0].Waiting) })
//	fmt.Println(report.Sides[0].People.P(.99))
//
// Run waits as long as the day lasts, unless it is called in a bubble of testing/synctest: there the clock jumps from one event to
// the next. Nothing of what is measured is a model of the library: calls go through a [guard.Chain] of two providers,
// each with a guard, a gate and a breaker, which share a budget and a ledger. Only the providers are simulated ([Model]), and
// they are the same for both sides, as are the calls, to the token and the nanosecond.
package day
