// Package journaltest holds the suite that every [journal.Store] passes.
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
// Each check is a subtest with an empty store of its own. The suite proves what [journal.Store] says of one store in use by
// one process: order, conflicts, retries, leases, inbox, pruning, races between goroutines. What only files and servers have, a test of
// theirs must prove: that an append survives a crash, that a second process sees it, that a torn write is not read.
//
// A few checks wait for leases of some milliseconds to run out, by the store's own clock; all others need no time.
// Every check gives up after ten seconds.
package journaltest
