package file

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/roletest"
)

var roles = roletest.Roles{"race": race, "busy": busy}

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m)
}
