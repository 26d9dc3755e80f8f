//go:build !race

package sqlite_test

// fewer divides what a test does in numbers where that is slow.
const fewer = 1
