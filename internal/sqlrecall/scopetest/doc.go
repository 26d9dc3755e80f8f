// Package scopetest holds the suite of what the stores of working memory do with scopes, beyond
// package recalltest: which of them has which texts, and what Forget deletes.
//
//	func TestScopes(t *testing.T) {
//		scopetest.Run(t, func(t *testing.T, textBytes int64) scopetest.Store { … })
//	}
package scopetest
