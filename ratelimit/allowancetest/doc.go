// Package allowancetest is the suite of tests that every [ratelimit.AllowanceStore] passes.
//
// A store's test is one call:
//
//	func TestStore(t *testing.T) {
//		allowancetest.Run(t, func(t *testing.T) ratelimit.AllowanceStore {
//			s, err := mystore.Open(filepath.Join(t.TempDir(), "allowances.db"))
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { s.Close() })
//			return s
//		})
//	}
//
// Each check is a subtest with an empty store of its own. Whether a second process sees what the
// first has stored is for the store's own tests.
package allowancetest
