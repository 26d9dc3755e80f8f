package journaltest

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a tb that records the failure instead of failing.
type recorder struct {
	ctx      context.Context
	cleanups []func()
	failure  string
}

func (n *recorder) Helper()                  {}
func (n *recorder) Context() context.Context { return n.ctx }
func (n *recorder) Cleanup(f func())         { n.cleanups = append(n.cleanups, f) }
func (n *recorder) Fatalf(format string, args ...any) {
	n.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failureOf runs one check against s, and returns the message with which it failed, or "".
func failureOf(ctx context.Context, c check, s journal.Store) string {
	n := &recorder{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, f := range n.cleanups {
				f()
			}
		}()
		c.check(on(n, s))
	}()
	<-done
	return n.failure
}

// update writes the answers of the store in memory into the scripts, to be read before they are
// committed.
var update = flag.Bool("update", false, "write the scripts' answers")

func TestTheScriptsAreWrittenWithTheirAnswers(t *testing.T) {
	if !*update {
		t.Skip("without -update")
	}
	for _, file := range files {
		text, err := fs.ReadFile(scripts, "checks/"+file+".txt")
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		synctest.Test(t, func(t *testing.T) {
			var f *fixture
			for line := range strings.Lines(string(text)) {
				if line[0] == '\t' {
					continue
				}
				out.WriteString(line)
				switch {
				case strings.HasPrefix(line, "== "):
					f = on(t, &journal.MapStore{})
				case line != "\n" && line[0] != '#':
					c := commandOf(strings.TrimSuffix(line, "\n"))
					if answer := f.play(&c); answer != "" {
						out.WriteString("\t" + answer + "\n")
					}
				}
			}
		})
		if err := os.WriteFile("checks/"+file+".txt", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoCheckFailsAGoodStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range checks() {
			if failure := failureOf(t.Context(), c, &journal.MapStore{}); failure != "" {
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

// Each defect is caught by the check that is there for it. Others may catch it too.
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
				failure := failureOf(t.Context(), c, d.wrap(&journal.MapStore{}))
				if failure == "" {
					t.Fatalf("%q doesn't catch it", d.caught)
				}
				t.Log(failure)
			})
		})
	}
}

func TestAFailureNamesTheFieldsOfItsValues(t *testing.T) {
	r := &recorder{ctx: t.Context()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		on(r, &journal.MapStore{}).equal("conflict", journal.ConflictError{Session: "s", HaveFence: 3},
			journal.ConflictError{Session: "t"})
	}()
	<-done
	for _, cleanup := range r.cleanups {
		cleanup()
	}
	for _, want := range []string{"conflict: got ", "Session:s", "HaveFence:3", ", want ", "Session:t"} {
		if !strings.Contains(r.failure, want) {
			t.Errorf("%q lacks %q", r.failure, want)
		}
	}
}
