//go:build race

package postgres_test

// fewer divides what a test does in numbers: under the race detector a statement takes twenty times
// as long.
const fewer = 10
