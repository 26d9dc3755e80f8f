package journaltest

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// notes is a tb that takes the failure down instead of failing.
type notes struct {
	ctx      context.Context
	cleanups []func()
	failure  string
}

func (n *notes) Helper()                  {}
func (n *notes) Context() context.Context { return n.ctx }
func (n *notes) Cleanup(f func())         { n.cleanups = append(n.cleanups, f) }
func (n *notes) Fatalf(format string, args ...any) {
	n.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// verdict runs one check against s, and returns what it found wrong.
func verdict(ctx context.Context, c check, s journal.Store) string {
	n := &notes{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, f := range n.cleanups {
				f()
			}
		}()
		c.check(n, s)
	}()
	<-done
	return n.failure
}

func TestNoCheckFailsAGoodStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range checks() {
			if failure := verdict(t.Context(), c, journal.NewMemory()); failure != "" {
				t.Errorf("%s: %s", c.name, failure)
			}
		}
	})
}

func TestEveryCheckHasANameOfItsOwn(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range checks() {
		if seen[c.name] || c.name == "" {
			t.Errorf("name %q is empty or used twice", c.name)
		}
		seen[c.name] = true
	}
}

// Each defect is caught by the check that is there for it; that others fail too is no matter.
func TestEveryDefectIsCaught(t *testing.T) {
	byName := make(map[string]check)
	for _, c := range checks() {
		byName[c.name] = c
	}
	for _, d := range defects {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, ok := byName[d.caught]
				if !ok {
					t.Fatalf("no check is named %q", d.caught)
				}
				failure := verdict(t.Context(), c, d.wrap(journal.NewMemory()))
				if failure == "" {
					t.Fatalf("%q lets it pass", d.caught)
				}
				t.Log(failure)
			})
		})
	}
}
