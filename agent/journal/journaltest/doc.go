// Package journaltest is the suite of tests that every [journal.Store] passes.
//
// A store's test is one call:
//
//	func TestStore(t *testing.T) {
//		journaltest.Run(t, func(t *testing.T) journal.Store {
//			s, err := mystore.Open(filepath.Join(t.TempDir(), "runs.db"))
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { s.Close() })
//			return s
//		})
//	}
//
// Most checks are scripts, in the folder checks: commands, and below each what the store must
// answer. They show what a store has to do better than prose. What needs a loop or a race is in Go.
//
// Each check is a subtest with an empty store of its own. The suite covers what [journal.Store]
// promises to one process: order, conflicts, retries, leases, inbox, pruning, races between
// goroutines. A store in files or on a server needs tests of its own for the rest: that an append
// survives a crash, that a second process sees it, that an incomplete write isn't read.
//
// [Dying] and [Faulty] are for tests of agents: the store of a process that dies, and one that
// fails, hangs, is slow, and fails after it has kept what it was given.
//
// A few checks wait some milliseconds for leases to end, by the store's own clock. A check whose
// store doesn't return fails after two minutes.
package journaltest
