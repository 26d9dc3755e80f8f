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

// stamp sets the envelope of a fact that nobody else has yet, and returns the fact.
func stamp(f fact, m Meta) fact {
	*f.meta() = m
	return f
}
