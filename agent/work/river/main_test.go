package river_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/internal/roletest"
)

var (
	runs  = flag.Int("runs", 20, "how many runs TestKillsRepeatNothingAndLoseNothing makes")
	kills = flag.Int("kills", 5, "how many workers it kills")
	deep  = flag.Int("deep", 0, "how many jobs are in the queue before BenchmarkRuns begins")
)

var roles = roletest.Roles{"worker": work, "keeper": keep, "person": decide, "hasten": hasten}

func TestMain(m *testing.M) {
	roles.Play()
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil { // they wait most of the time
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		pgtest.Stop()
		os.Exit(code)
	}))
}
