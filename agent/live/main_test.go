package live_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	play() // returns in the process that runs the tests
	goleak.VerifyTestMain(m)
}

// play plays the role of a process that gets signals, where there are some.
var play = func() {}
