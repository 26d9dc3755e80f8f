// Package work is what a call, or a node of a plan, has others do: a run of a subagent, a plan that
// was submitted, a call of a tool in a session of its own.
//
// Work is durable, and is found again by its name after a crash. Its [Outcome] says how it stands:
// it is done, it has failed, it waits for decisions, or it was stopped. Only the first two are
// results. A stop never is one: the context has ended, the agent is drained, a lease is lost or
// held, a store doesn't answer. The next process goes on.
//
// A tool whose calls own work is an [Owner], and its function is [Do]. Package agent does the rest:
// it suspends the call while the work waits, passes decisions on, leaves the call started when the
// work was stopped, cancels the work when the call ends otherwise, and undoes and deletes it.
package work
