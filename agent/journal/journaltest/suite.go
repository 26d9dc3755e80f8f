package journaltest

import (
	"context"
	"slices"
	"testing"

	"github.com/pawlkit/pawl/agent/journal"
)

// Run runs every check as a subtest of t, each with a store of its own. Open returns an empty
// store, and closes it with t.Cleanup if that is necessary. A store that is a [journal.Notifier], a
// [journal.Follower], a [journal.Eraser], a [journal.Queue] or a [journal.Transactor] is checked as
// such.
func Run(t *testing.T, open func(t *testing.T) journal.Store) {
	t.Helper()
	for _, c := range slices.Concat(checks(), followChecks) {
		t.Run(c.name, func(t *testing.T) { c.check(on(t, open(t))) })
	}
	for _, c := range eraseChecks {
		t.Run(c.name, func(t *testing.T) {
			s, ok := open(t).(journal.Eraser)
			if !ok {
				t.Skip("the store isn't a journal.Eraser")
			}
			c.check(on(t, s))
		})
	}
	for _, c := range queueChecks {
		t.Run(c.name, func(t *testing.T) {
			s, ok := open(t).(journal.Queue)
			if !ok {
				t.Skip("the store isn't a journal.Queue")
			}
			c.check(on(t, s))
		})
	}
	for _, c := range transactChecks {
		t.Run(c.name, func(t *testing.T) {
			s, ok := open(t).(journal.Transactor)
			if !ok {
				t.Skip("the store isn't a journal.Transactor")
			}
			c.check(on(t, s))
		})
	}
}

// tb is the part of testing.TB that a check needs. The suite's own tests pass one that records the
// failure.
type tb interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Fatalf(format string, args ...any)
}

type check struct {
	name  string
	check func(f *fixture)
}

// files are those of the scripts, without their folder.
var files = []string{"append", "head", "lease", "inbox", "delete"}

func checks() []check {
	var all []check
	for _, file := range files {
		all = append(all, scriptChecks(file)...)
	}
	return slices.Concat(all, loopChecks, contentChecks, refusalChecks, raceChecks, postedChecks)
}
