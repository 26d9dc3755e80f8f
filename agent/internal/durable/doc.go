// Package durable shows, by tests alone, that runs outlive their processes: on a real store, in
// real processes.
//
// The crash test kills processes at random moments:
//
//	go test ./agent/internal/durable -run Crash -count=1 -v -kills 300
//
// A child process runs an agent in a live.Hub: three runs with calls beside each other, approvals,
// calls that ask questions and run again with the answers, calls that somebody else executes, and a
// source whose tools change all the time. The effects are rows in a SQLite file, and the log is in
// another. Another process answers. The parent kills both with SIGKILL after a random
// number of events, and starts others, until the runs are complete. Then every effect that mustn't
// be repeated is there exactly once, no call has one that wasn't started, every other effect is in
// its final state, the calls that were resumed had their state and their answers, the log replays,
// and each reader has got each fact once and in order: one in the parent, which polls the store,
// and two in the processes that were killed.
//
// The soak test has people chat in a hub and a worker drive jobs, in one process, for a day of
// virtual time, and measures memory, goroutines and the file:
//
//	go test ./agent/internal/durable -run StaysAsSmall -v -chats 1000 -soak 24h -chart soak.svg
//
// The benchmarks say what it costs:
//
//	go test ./agent/internal/durable -run '^$' -bench .
package durable
