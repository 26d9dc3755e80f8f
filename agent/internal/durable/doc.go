// Package durable shows, by tests alone, that runs outlive their processes: on real stores, in real processes.
//
// The crash test kills processes at random moments:
//
//	go test ./agent/... -run Crash -count=1 -v
//
// A child process runs an agent of twelve steps with calls beside each other, whose effects are rows in a SQLite file, and
// whose log is in the store under test. The parent kills it with SIGKILL, and starts another, until the run is complete.
// Then every effect that mustn't be repeated is there exactly once, every other one is in its final state, the log
// replays, and a reader in the parent has got each fact once.
//
// The benchmarks say what it costs:
//
//	go test ./agent/internal/durable -run '^$' -bench .
package durable
