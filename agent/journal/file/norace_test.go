//go:build !race

package file

// stepBetween makes the tests of crashes and failures go through every operation.
const stepBetween = 1
