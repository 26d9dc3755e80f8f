package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider/providertest"
)

// Variable is the environment variable with the folder of the recordings.
const Variable = "PAWL_WIRE"

// A Case is a case of recorded or hand-written exchanges.
type Case struct {
	providertest.Case
}

// Cases returns the recorded cases of the given providers, or of all, sorted by name. It skips the
// test if there are no recordings on this machine, and fails it if they can't be read.
func Cases(t testing.TB, providers ...string) []*Case {
	t.Helper()
	dir := os.Getenv(Variable)
	if dir == "" {
		t.Skipf("wire: no recordings: %s isn't set", Variable)
	}
	if len(providers) == 0 {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatalf("wire: %v", err)
		}
		for _, e := range entries {
			if files, _ := filepath.Glob(filepath.Join(dir, e.Name(), "*.json")); len(files) > 0 {
				providers = append(providers, e.Name())
			}
		}
	}
	var cases []*Case
	for _, p := range providers {
		files, err := filepath.Glob(filepath.Join(dir, p, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("wire: the folder %s of %s contains no cases (%v)", p, Variable, err)
		}
		slices.Sort(files)
		for _, f := range files {
			c, err := providertest.ReadCase(f)
			if err != nil {
				t.Fatalf("wire: %v", err)
			}
			cases = append(cases, &Case{Case: *c})
		}
	}
	return cases
}

// Only returns the case with exchange i alone.
func (c *Case) Only(i int) *Case { return &Case{Case: *c.Take(i, 1)} }

// File returns a hand-written case of one exchange: an answer of status 200, read from the file. A
// file whose name ends in .sse is a stream of server-sent events, any other is JSON. File panics if
// the file can't be read, which is a mistake in the test.
func File(wire, path string) *Case {
	body, err := os.ReadFile(path)
	if err != nil {
		panic(fmt.Sprintf("wire: %v", err))
	}
	kind := "application/json"
	if strings.HasSuffix(path, ".sse") {
		kind = "text/event-stream"
	}
	return Answer(wire, 200, kind, string(body))
}

// Answer returns a hand-written case of one exchange.
func Answer(wire string, status int, contentType, body string) *Case {
	c := &Case{Case: *providertest.NewCase("hand-written", status, contentType, body)}
	c.Wire, c.Model = wire, "test-model"
	return c
}
