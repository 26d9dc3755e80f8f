//go:build race

package file

// stepBetween skips most points of failure: the tests of them run in one goroutine, and take twenty
// times as long with the race detector.
const stepBetween = 7
