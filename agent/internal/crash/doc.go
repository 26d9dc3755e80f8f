// Package crash shows by killing processes that a run goes on after a crash without doing anything twice:
//
//	go test ./agent/... -run Crash -count=1 -v
//
// A child process runs an agent of twelve steps with calls beside each other, whose effects are rows in a SQLite file, and
// whose log is in the store under test. The parent kills it with SIGKILL at random moments, and starts another, until the
// run is complete. Then every effect that mustn't be repeated is there exactly once, every other
// one is in its final state, and the log replays.
package crash
