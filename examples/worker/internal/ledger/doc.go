// Package ledger keeps what the example itself has to remember, in tables of a SQLite file: the
// effects of tools, the reports, the worker processes, and which of them drove which run when.
//
// The table effects is what "0 repeated, 0 lost" is counted from. It has no key that would forbid a
// second row for a call, so that a repeated effect would be seen:
//
//	attempt, err := l.Begin(ctx, call)         // before the tool does anything
//	done, err := l.Done(ctx, call.ID)          // an effect of an earlier attempt
//	err = l.Effect(ctx, call, attempt, nil)    // the effect itself
//
// A Ledger is safe for concurrent use, also by several processes with one file.
package ledger
