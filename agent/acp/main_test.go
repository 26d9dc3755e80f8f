package acp_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/roletest"
)

var roles = roletest.Roles{"agent": playAgent}

func TestMain(m *testing.M) {
	roles.Play() // returns in the process that runs the tests
	goleak.VerifyTestMain(m)
}
