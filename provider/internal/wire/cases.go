package wire

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawlkit/pawl/provider/providertest"
)

// Variable is the environment variable with the folder of the recordings.
const Variable = "PAWL_WIRE"

// A Case is a case of recorded or hand-written exchanges.
type Case = providertest.Case

// folder returns the folder of the recordings, and skips the test if there is none on this machine.
func folder(t testing.TB) string {
	t.Helper()
	dir := os.Getenv(Variable)
	if dir == "" {
		t.Skipf("wire: no recordings: %s isn't set", Variable)
	}
	return dir
}

// Cases returns the recorded cases of the given providers, or of all, sorted by name. It skips the
// test if there are no recordings on this machine, and fails it if they can't be read.
func Cases(t testing.TB, providers ...string) []*Case {
	t.Helper()
	dir := folder(t)
	if len(providers) == 0 {
		providers = []string{"*"}
	}
	var cases []*Case
	for _, p := range providers {
		files, err := filepath.Glob(filepath.Join(dir, p, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("wire: the folder %s of %s contains no cases (%v)", p, Variable, err)
		}
		for _, f := range files {
			c, err := providertest.ReadCase(f)
			if err != nil {
				t.Fatalf("wire: %v", err)
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// kinds has the content types of hand-written answers by the ends of the files' names.
var kinds = map[string]string{".sse": "text/event-stream", ".html": "text/html"}

// File returns a hand-written case of one exchange: an answer of status 200, read from the file. A
// file whose name ends in .sse is a stream of server-sent events, one in .html a web page, any
// other is JSON. File panics if the file can't be read, which is a mistake in the test.
func File(wire, path string) *Case {
	body, err := os.ReadFile(path)
	if err != nil {
		panic(fmt.Sprintf("wire: %v", err))
	}
	return Answer(wire, 200, cmp.Or(kinds[filepath.Ext(path)], "application/json"), string(body))
}

// Answer returns a hand-written case of one exchange.
func Answer(wire string, status int, contentType, body string) *Case {
	c := providertest.NewCase("hand-written", status, contentType, body)
	c.Wire, c.Model = wire, "test-model"
	return c
}
