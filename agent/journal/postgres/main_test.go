package postgres_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/pgtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		pgtest.Stop()
		os.Exit(code)
	}))
}
