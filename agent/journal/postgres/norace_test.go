//go:build !race

package postgres_test

// fewer divides what a test does in numbers where that is slow.
const fewer = 1
