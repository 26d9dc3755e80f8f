// Package report has the agent that writes reports: its tools, and the stand-in for its model.
//
// A report takes six steps: an outline, research by three subagents, a draft, figures, one HTML
// page, and its publication, which a person approves. Each tool has an effect, which is a row of
// the ledger under the call's idempotency key.
//
// The stand-in decides by the conversation alone, so that any process goes on where another one was
// killed. How long calls take and which of them fail comes from a generator that is seeded with the
// call and the attempt:
//
//	a, err := report.New(report.Config{Journal: store, Ledger: l, Worker: 1, Pace: 1})
//	…
//	err = a.Enqueue(ctx, report.Input("r-1", "lighthouses", ""), agent.QueueOptions{})
package report
