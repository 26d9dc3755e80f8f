// Package recalltest holds the suite that every [recall.Store] passes, and that of a [memory.Store]
// with a bound ([Texts]).
//
// A store's test is one call:
//
//	func TestStore(t *testing.T) {
//		recalltest.Run(t, func(t *testing.T, limits recall.Limits) recall.Store {
//			return &recall.MapStore{Limits: limits}
//		})
//	}
//
// Each check is a subtest with empty stores of its own. The suite proves what [recall.Store] says
// of one store in use by one process: versions, order, limits, tenants and names that must stay
// apart, random histories against a plain map, races between goroutines. What only files and
// servers have, a test of theirs must prove: that an entry survives a crash, that a second process
// sees it.
package recalltest
