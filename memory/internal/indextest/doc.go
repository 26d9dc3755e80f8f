// Package indextest holds what the tests of every [index.Index] have in common: random entries
// ([Random]), an index that is a map and a sort ([Plain]), random histories of an index, or of a
// Finder over one, beside such a map ([History], [InStep]), concurrent use ([Crowd]), and the table
// of searches in package index ([Lines], [Table]).
//
// An index's test:
//
//	func TestAnIndexIsAsGoodAsAMapAndASort(t *testing.T) {
//		m := &index.Memory{}
//		indextest.History(t, 1, indextest.Subject{
//			Index:   func() index.Index { return m },
//			Len:     func() int { return m.Len() },
//			Restart: func() { m = reload(t, m) },
//		})
//	}
//
// Entries are compared by cosine.
package indextest
