// River is the example worker with the runs as jobs of River, a queue in PostgreSQL: see package
// agent/work/river. Its agent, its ledger and its page are the same.
//
//	go -C examples/worker/river run . -postgres DSN
//
// Each process serves a page and drives runs. Start it several times, with other addresses, and
// kill one with kill -9. River is under the Mozilla Public License 2.0, so this is a module of its
// own.
package main
