// Package rules holds what this repository promises about itself: which package may import which,
// that every package is documented and has an example, how long a file and how large a struct may
// be, and that the README tells the truth.
//
//	go test ./internal/rules
//	go run ./internal/rules/sizes
//
// A test that fails says what to change. A new package needs a row in the table of imports_test.go:
// before you add it, decide where the package belongs.
//
// A rule about layout fails only for a file of more than 600 lines, or a struct of more than 40
// fields. [Sizes] prints what is above 400 lines and 24 fields, how much code the central packages
// have, what they export, and which files of package agent refer to each other in a cycle.
package rules
