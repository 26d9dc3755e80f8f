// Package site is what the example serves: an API for runs, the page, whose views follow the runs
// over server-sent events, and metrics for Prometheus.
//
//	h := site.New(ctx, site.Config{Agent: a, Worker: w, Ledger: l, Queue: site.InJournal(a), Wake: w.Wake})
//
// It has no login, so it answers only this computer: see serve.Local. Errors are
// application/problem+json, as those of package serve.
package site
