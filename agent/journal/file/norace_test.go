//go:build !race

package file

// stepBetween makes the tests of crashes and failures cover every operation.
const stepBetween = 1
