package journaltest

import (
	"context"
	"testing"

	"github.com/pawlkit/pawl/agent/journal"
)

// Run runs every check as a subtest of t, each against a store of its own. Open returns an empty one, and arranges with
// t.Cleanup for whatever it needs to be closed.
func Run(t *testing.T, open func(t *testing.T) journal.Store) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			c.check(t, open(t))
		})
	}
}

// tb is what a check needs of a testing.TB, so that the suite's own tests can hand it one that only takes notes.
type tb interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Fatalf(format string, args ...any)
}

type check struct {
	name  string
	check func(t tb, s journal.Store)
}

func checks() []check {
	var all []check
	for _, part := range [][]check{
		appendChecks, retryChecks, readChecks, contentChecks, refusalChecks,
		headChecks, listChecks, leaseChecks, inboxChecks, deleteChecks, raceChecks,
	} {
		all = append(all, part...)
	}
	return all
}
