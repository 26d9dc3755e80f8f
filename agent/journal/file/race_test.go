//go:build race

package file

// stepBetween leaves most points of failure out: the tests that go through them run in one goroutine, and take twenty times as long
// under the race detector.
const stepBetween = 7
