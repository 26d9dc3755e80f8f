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

// replay returns the state of a run with these facts.
func replay(run string, facts ...fact) (*State, error) {
	s := &State{Run: run}
	for _, f := range facts {
		if err := s.add(f); err != nil {
			return nil, err
		}
	}
	return s, nil
}
