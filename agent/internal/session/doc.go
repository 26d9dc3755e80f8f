// Package session owns the logs of an agent's sessions: it opens a session, holds its lease, reads
// its facts, appends to it, reads its inbox, and closes it. It knows neither the agent nor the loop
// that drives a run, so that whatever changes a session uses it in the same way: a run, a fork, an
// undo, a decision.
//
//   - [Sessions] are the sessions of one store. They know which of them this process holds, and
//     keep the states of those that it closed last.
//   - A [Log] is one session that this process holds. [Log.Append] is the only way to write facts:
//     it numbers, encodes, applies and stores them, all or none. A fact that can't follow the facts
//     before it is never stored.
//   - An [Item] is a request to a session that waits in its inbox.
//
// Between [Log.Hold] and [Log.Close] no other process writes to the session, unless the lease
// is lost; then the context of the Log ends, and the store refuses what is appended.
package session
