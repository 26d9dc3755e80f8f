// Package alarm lets the time limits of one piece of work share a timer.
//
// Most limits are never reached. A run of an agent has three at any time (its own, that of the model's silence, that of a tool), which begin
// anew with every call; a timer for each would be made, moved and stopped all the time. A [Clock] has one timer, which is
// left alone as long as it fires early enough: who has set an alarm is rung at that time or before, looks for itself
// whether its time is up, and sets another alarm if it isn't.
//
//	clock.Set(limit, clock.Now(), 30*time.Second)
//
// # Guarantees
//
//   - An alarm rings no later than it was set for, apart from what the Go runtime is late.
//   - Setting an alarm for a later time than it is set for costs no timer, nor does going on without one.
//   - Each ring has a goroutine of its own, without a lock: one that takes its time delays no other.
//   - After Stop or Close no ring begins; one that has begun may still be under way.
package alarm
