// Package durable measures what durable steps cost: runs of an agent with its journal in
// PostgreSQL, beside the same work as a workflow of DBOS for Go, as jobs of River, and as bare
// statements, and with its journal in SQLite beside DBOS and bare statements there. It is a module
// of its own, so that no other has these dependencies. River's license is the MPL-2.0.
//
//	go test -run TestTable -v -runs 200 -rounds 3
//
// prints the tables of docs/costs.md. A run has 10 steps with one tool call each, and then an
// answer: 21 calls of model or tool. All of them answer at once, so what is measured is what it
// takes to keep them. 8 runs are in progress at a time. Each side has a database of its own on one
// server, which waits for its disk; the sides take turns in each round. Durability is the same: a
// call whose result is kept isn't made again after a power failure.
//
// DBOS has SQLite's setting "synchronous" at NORMAL, which a power failure may set back by some
// commits, so it is compared with Pawl's Durability: Process there.
//
// Without -runs and -rounds the test only shows that every side still does the work.
package durable
