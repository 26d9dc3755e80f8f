// Package recall is working memory as tools that any agent may be given: notes and a todo list of a session; facts, mistakes
// and preferences of a tenant across sessions; a cache that spares a conversation what it has read already; the tool that
// reads back what compaction took out; and two with which a model marks its subgoals, the units in which compaction best forgets.
//
// A [Memory] makes the tools over a [Store], in the [Scope] that the host fixes:
//
//	m, err := recall.New(recall.Config{
//		Store: &recall.MapStore{}, // or package sqlmemory, which outlives the process
//		Scope: recall.OfCall("acme"),
//	})
//	if err != nil {
//		return err
//	}
//	a, err := agent.New(agent.Config{Tools: append(m.Notes(), m.Facts()...), …})
//
// # What holds
//
// No tool takes a tenant or a session from a model: an input that names one doesn't fit the schema, and a key is compared byte
// by byte within its tenant and kind, so that no key reaches another's entries, whatever it looks like. A scope that isn't
// known fails the call.
//
// No update is lost. Every write names the version it replaces; notes, todo items, mistakes and preferences are changed by
// compare and swap, and a fact is replaced only by a call that says which version it has read. A call that is made again after
// a crash, under its idempotency key, changes nothing if it is among the last 16 that wrote the entry.
//
// Limits are on by default, per tenant: 1,000 entries, 4 MiB, 16 KiB an entry ([Limits]). Beyond one the model is told to
// delete something; nothing but todo items that are done is forgotten by itself. What a session leaves is removed by [ForgetSession].
//
// Secrets are taken out before a text is stored ([Config].Redact, by default [RedactSecrets]). Stored text is shown within
// JSON strings, after a field that says that it is data and not instructions: whoever could make an agent store it doesn't get
// to instruct the next one. That is a mark, not a guarantee; what an agent may do is for policies to decide.
//
// Errors that a model can put right are of class fault.Invalid, and say how. That there is nothing under a key is a result.
// There are no goroutines.
package recall
