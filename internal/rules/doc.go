// Package rules holds the tests of what this repository promises about itself: which package may import which, that every
// package is documented and shown in use, that the README tells the truth. It has no code but its tests.
//
//	go test ./internal/rules
//
// A test that fails says what to change. A new package needs a row in the table of imports_test.go: that row is the place
// to think about where the package belongs.
package rules
