// Package recall has tools that give an agent a working memory: notes and a todo list of a session;
// facts, mistakes and preferences of a tenant across sessions; and two tools with which a model
// marks its subgoals, which compaction can then replace by notes.
//
// A [Toolset] makes the tools over a [Store], in the [Scope] that the host sets:
//
//	m, err := recall.New(recall.Config{
//		Store: &recall.MapStore{}, // or packages sqlmemory and pgmemory, which outlive the process
//		Scope: recall.OfCall("acme"),
//	})
//	if err != nil {
//		return err
//	}
//	a, err := agent.New(agent.Config{Tools: append(m.Notes(), m.Facts()...), …})
//
// # Guarantees
//
// No tool accepts a tenant or a session from a model: an input that names one doesn't match the
// schema. Keys are compared byte by byte within a tenant and kind, so no key can reach another
// tenant's entries. If the scope isn't known, the call fails.
//
// No update is lost. Every write names the version it replaces: notes, todo items, mistakes and
// preferences are changed by compare and swap, and a fact is replaced only by a call that names the
// version that it has read. A call that is repeated after a crash, with the same idempotency key,
// changes nothing if it is among the last 16 that wrote the entry.
//
// Limits are on by default, per tenant: 1,000 entries, 4 MiB, 16 KiB an entry ([Limits]). When a
// limit is reached, the error asks the model to delete something; only finished todo items are
// deleted automatically. [ForgetSession] removes the entries of a session.
//
// Secrets are redacted before a text is stored ([Config].Redact, by default [secret.Redact]).
// Stored text is shown within JSON strings, after a field that says that it is data and not
// instructions, so that text from an attacker doesn't instruct later sessions. That is a mark and
// not a guarantee; use policies to limit what an agent may do. An entry that was written in a
// conversation with text from outside ([tools.Call].Outside) comes back as such
// ([tools.Result].Outside), until it is deleted.
//
// Errors that a model can correct are of class fault.Invalid, and say how. A missing entry is a
// result and not an error. There are no goroutines.
package recall
