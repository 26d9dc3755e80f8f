// Package day simulates a day at a rate-limited provider of models: people who ask, background
// work, floods of it, and an outage. It runs twice at the same time: behind Pawl's gate, guard,
// breaker, budget and ledger, and behind a plain first-in first-out limiter.
//
// The events of the day are a [Plan], made from a seed. [Plan.Run] runs it and returns a report:
//
//	plan := day.NewPlan(day.Config{Seed: 1})
//	report := plan.Run(func(t day.Tick) { fmt.Println(t.At, t.Sides[0].Waiting) })
//	fmt.Println(report.Sides[0].People.P(.99))
//
// Run waits as long as the day lasts, unless it is called in a bubble of testing/synctest: there
// the clock jumps from one event to the next. The library itself isn't simulated: calls go through
// a [guard.Chain] of two providers, each with a guard, a gate and a breaker, which share a budget
// and a ledger. Only the providers are simulated ([Model]). They are the same for both sides, and
// so are the calls, to the token and the nanosecond.
package day
