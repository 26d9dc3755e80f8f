// Package history does what is done with the log of a session as a whole: it copies, exports,
// imports, traces, prunes and removes sessions. It knows neither the agent nor the loop that drives
// a run; package agent gives it the sessions.
//
//   - [Fork] makes a new session of the facts of another one, [Import] of those that [Export] has
//     written, a [Line] each. Both are a [Copy].
//   - [Trace] returns the model calls that facts record.
//   - A [Pruner] removes sessions with their descendants: one ([Pruner.Remove]), what has been idle
//     ([Pruner.Retain]), or all that isn't needed to continue one ([Pruner.Prune]).
//
// # Guarantees
//
//   - A copy is made whole or not at all: it is one append. The original isn't changed, and may be
//     running.
//   - Nothing in a copy is open, so nothing in it waits or runs by itself. It has no standing
//     approvals.
//   - A copy says whose effects it has: RunStarted.From and Snapshot.From are the session in which
//     the run took place.
//   - Descendants are removed before their parents. After an error or a crash, what is left can be
//     removed again.
//
// # Where things are
//
// copy.go has the facts of a copy, fork.go and export.go the sessions made of them, trace.go the
// trace, pruner.go which sessions belong to one and their removal, and prune.go what is removed
// when.
package history
