package wire

import (
	"encoding/json"
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

// A Case is a recorded case with the expected results of a correct decoder: Expect has one entry for each exchange.
type Case struct {
	providertest.Case
	Expect []Expect
}

// Expect is the expected result of decoding one answer. The figures of Usage are the provider's own; see [Usage].
type Expect struct {
	Text              string        `json:"text"`
	Reasoning         string        `json:"reasoning"`
	ToolCalls         []ExpectCall  `json:"tool_calls"`
	ProviderToolCalls []ExpectCall  `json:"provider_tool_calls"`
	Finish            *string       `json:"finish"` // stop, length, tool_calls, content_filter, error; nil: not stated
	FinishAlt         []*string     `json:"finish_alt"`
	FinishRaw         *string       `json:"finish_raw"`
	Usage             ReportedUsage `json:"usage"`
	Error             *ExpectError  `json:"error"`
	Refusal           *string       `json:"refusal"`
	Truncated         bool          `json:"truncated"`
}

// An ExpectCall is a call of a tool.
type ExpectCall struct {
	ID         *string         `json:"id"`
	Name       string          `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Raw        string          `json:"raw_arguments"`
	Incomplete bool            `json:"incomplete"` // Raw is the received part
	Custom     bool            `json:"custom"`     // Arguments is a string of free text
}

// An ExpectError is an error as the provider describes it. Status 200 means that it came inside an answer.
type ExpectError struct {
	Status  int     `json:"status"`
	Type    *string `json:"type"`
	Code    any     `json:"code"` // a string, a number, or nil
	Message *string `json:"message"`
}

// Cases returns the recorded cases of the given providers, or of all, sorted by name. It skips the test if
// there are no recordings on this machine, and fails it if they can't be read.
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
			if e.IsDir() && e.Name() != "expect" && e.Name() != "LICENSES" {
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
			c, err := read(dir, f)
			if err != nil {
				t.Fatalf("wire: %v", err)
			}
			cases = append(cases, c)
		}
	}
	return cases
}

// read reads a case and its expectation, which is in the same file or beside it.
func read(dir, file string) (*Case, error) {
	recorded, err := providertest.ReadCase(file)
	if err != nil {
		return nil, err
	}
	c := &Case{Case: *recorded}
	text := []byte(recorded.Expect)
	if len(text) == 0 {
		var beside struct {
			Expect json.RawMessage `json:"expect"`
		}
		name := filepath.Join(dir, "expect", filepath.Base(filepath.Dir(file)), filepath.Base(file))
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("the expectation of %s: %w", c.Name, err)
		}
		if err := json.Unmarshal(data, &beside); err != nil {
			return nil, fmt.Errorf("the expectation of %s: %w", c.Name, err)
		}
		text = beside.Expect
	}
	if err := json.Unmarshal(text, &c.Expect); err != nil {
		return nil, fmt.Errorf("the expectation of %s: %w", c.Name, err)
	}
	if len(c.Expect) != len(c.Exchanges) {
		return nil, fmt.Errorf("%s has %d exchanges and %d expectations", c.Name, len(c.Exchanges), len(c.Expect))
	}
	return c, nil
}

// Only returns the case with exchange i alone.
func (c *Case) Only(i int) *Case {
	out := &Case{Case: *c.Take(i, 1)}
	if i < len(c.Expect) {
		out.Expect = c.Expect[i : i+1]
	}
	return out
}

// File returns a hand-written case of one exchange: an answer of status 200, read from the file. A file whose name
// ends in .sse is a stream of server-sent events, any other is JSON. File panics if the file can't be read, which is a mistake in the test.
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
