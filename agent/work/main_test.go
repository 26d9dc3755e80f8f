package work_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/internal/roletest"
)

var (
	runs       = flag.Int("runs", 6, "how many runs TestCrashesOfWorkersRepeatNothingAndLoseNothing makes")
	kills      = flag.Int("kills", 3, "how many processes it kills")
	workers    = flag.Int("workers", 2, "how many processes work at a time in it")
	patience   = flag.Duration("patience", 2*time.Minute, "how long it waits for the end of all runs")
	postgresly = flag.Bool("postgres", false, "run all of it with PostgreSQL, too")
)

var roles = roletest.Roles{"worker": workUntilKilled}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		pgtest.Stop()
		os.Exit(code)
	}))
}
