package file

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		os.Exit(play(role)) // a child process of process_test.go
	}
	goleak.VerifyTestMain(m)
}
