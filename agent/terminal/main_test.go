package terminal_test

import (
	"os"
	"os/signal"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// The first call of Notify makes channels of the runtime, which mustn't belong to a bubble of
	// testing/synctest.
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	signal.Stop(c)
	goleak.VerifyTestMain(m)
}
