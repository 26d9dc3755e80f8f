package plan

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/roletest"
)

var roles = roletest.Roles{"run": runPlan}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m)
}
