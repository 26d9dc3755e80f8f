package wire

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// folder writes cases as recordings have them, some with the expectation in the same file, some in another.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, inside := range map[string]bool{"toy/b-inside": true, "toy/a-beside": false, "other/c": true} {
		c := *providertest.NewCase(filepath.Base(name), 200, "text/event-stream", answered)
		c.Provider, c.Wire = filepath.Dir(name), "anthropic-messages"
		if inside {
			c.Expect = json.RawMessage("[" + expected + "]")
		} else {
			beside := filepath.Join(dir, "expect", name+".json")
			require.NoError(t, os.MkdirAll(filepath.Dir(beside), 0o755))
			require.NoError(t, os.WriteFile(beside, []byte(`{"case":"a-beside","expect":[`+expected+`]}`), 0o600))
		}
		require.NoError(t, c.WriteFile(filepath.Join(dir, name+".json")))
	}
	return dir
}

func TestCasesAreReadWithTheirExpectations(t *testing.T) {
	t.Setenv(Variable, folder(t))
	var names []string
	for _, c := range Cases(t) {
		names = append(names, c.Provider+"/"+c.Name)
		require.Len(t, c.Expect, 1)
		require.Equal(t, "It is cold, Zoë.", c.Expect[0].Text)
	}
	require.Equal(t, []string{"other/c", "toy/a-beside", "toy/b-inside"}, names)
	require.Len(t, Cases(t, "toy"), 2)
	Run(t, Config{Providers: []string{"toy", "other"}, New: newToy, Splits: 1})
}

// A skipped is a testing.TB that records whether its test was skipped or ended.
type skipped struct {
	testing.TB
	what string
}

func (s *skipped) Helper() {}
func (s *skipped) Skipf(format string, args ...any) {
	s.what = "skipped: " + fmt.Sprintf(format, args...)
	panic(s)
}
func (s *skipped) Fatalf(format string, args ...any) {
	s.what = "failed: " + fmt.Sprintf(format, args...)
	panic(s)
}
func (s *skipped) Errorf(format string, args ...any) {
	s.what += "failed: " + fmt.Sprintf(format, args...)
}

// outcomeOf returns how a test that calls f ends.
func outcomeOf(t *testing.T, f func(testing.TB)) (what string) {
	s := &skipped{TB: t}
	defer func() {
		what = s.what
		if v := recover(); v != nil && v != any(s) {
			panic(v)
		}
	}()
	f(s)
	return ""
}

func TestWithoutRecordingsATestIsSkipped(t *testing.T) {
	t.Setenv(Variable, "")
	require.Equal(t, "skipped: wire: no recordings: PAWL_WIRE isn't set", outcomeOf(t, func(t testing.TB) { Cases(t) }))
}

func TestRecordingsThatCannotBeReadFailTheTest(t *testing.T) {
	dir := folder(t)
	t.Setenv(Variable, dir)
	require.Contains(t, outcomeOf(t, func(t testing.TB) { Cases(t, "nobody") }), "failed: wire: the folder nobody of PAWL_WIRE contains no cases")
	require.NoError(t, os.Remove(filepath.Join(dir, "expect", "toy", "a-beside.json")))
	require.Contains(t, outcomeOf(t, func(t testing.TB) { Cases(t, "toy") }), "failed: wire: the expectation of a-beside")
	t.Setenv(Variable, filepath.Join(dir, "nowhere"))
	require.Contains(t, outcomeOf(t, func(t testing.TB) { Cases(t) }), "failed: wire: open")
}

func TestAWrongCaseFailsUnlessItIsAKnownDeviation(t *testing.T) {
	c := handWritten(t, 200, answered)
	for _, tt := range []struct {
		wrong    []string
		argument string
		right    row
		failure  string
	}{
		{nil, "", row{cases: 1, right: 1}, ""},
		{[]string{"text"}, "", row{cases: 1, wrong: 1}, "failed: wire: hand-written:\n  text"},
		{[]string{"text"}, "the recording is cut", row{cases: 1, deviating: 1}, ""},
		{nil, "the recording is cut", row{cases: 1, wrong: 1}, "failed: wire: hand-written is right, so it isn't a deviation any more: the recording is cut"},
	} {
		var tab table
		require.Equal(t, tt.failure, outcomeOf(t, func(t testing.TB) { tab.add(t, c, tt.wrong, tt.argument) }))
		require.Equal(t, tt.right, *tab.rows["toy"])
		require.Equal(t, `failed: wire: KnownDeviations has "nothing", but there is no such case`,
			outcomeOf(t, func(t testing.TB) { tab.unknown(t, map[string]string{"nothing": "x", "hand-written": "y"}) }))
	}
}

func TestUsageFiguresAreInterpretedByFormat(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	all := ReportedUsage{Input: n(100), Output: n(20), CacheRead: n(30), CacheWrite: n(5), Reasoning: n(50)}
	for _, tt := range []struct {
		wire, body string
		want       provider.Usage
	}{
		{"anthropic-messages", "", provider.Usage{Input: 135, Output: 20, CacheRead: 30, CacheWrite: 5, Reasoning: 50}},
		{"bedrock-converse", "", provider.Usage{Input: 135, Output: 20, CacheRead: 30, CacheWrite: 5, Reasoning: 50}},
		{"openai-chat", `{"total_tokens":1} {"total_tokens" : 170}`, provider.Usage{Input: 100, Output: 70, CacheRead: 30, CacheWrite: 5, Reasoning: 50}},
		{"openai-chat", `{"total_tokens":120}`, provider.Usage{Input: 100, Output: 20, CacheRead: 30, CacheWrite: 5, Reasoning: 50}},
		{"openai-responses", "", provider.Usage{Input: 100, Output: 20, CacheRead: 30, CacheWrite: 5, Reasoning: 50}},
		{"gemini-generate-content", `"toolUsePromptTokenCount": 7, "toolUsePromptTokenCount": 9`, provider.Usage{Input: 109, Output: 70, CacheRead: 30, CacheWrite: 5, Reasoning: 50}},
	} {
		require.Equal(t, tt.want, Usage(tt.wire, all, []byte(tt.body)), tt.wire)
	}
	require.Equal(t, provider.Usage{}, Usage("gemini-generate-content", ReportedUsage{}, []byte(`"toolUsePromptTokenCount":7`)))
}

func TestErrorsAreClassifiedByWordsAndStatus(t *testing.T) {
	s := func(v string) *string { return &v }
	for _, tt := range []struct {
		e    ExpectError
		want fault.Class
	}{
		{ExpectError{Status: 401, Type: s("authentication_error")}, fault.UserFixable},
		{ExpectError{Status: 400, Message: s("Incorrect API key provided.")}, fault.UserFixable},
		{ExpectError{Status: 429, Code: "insufficient_quota"}, fault.UserFixable},
		{ExpectError{Status: 429, Type: s("RESOURCE_EXHAUSTED"), Code: 429.0, Message: s("check your plan and billing")}, fault.RateLimited},
		{ExpectError{Status: 529, Type: s("overloaded_error")}, fault.Degraded},
		{ExpectError{Status: 404}, fault.Permanent},
		{ExpectError{Status: 200, Type: s("overloaded_error")}, fault.Degraded},
		{ExpectError{Status: 200, Code: "rate_limit_exceeded"}, fault.RateLimited},
		{ExpectError{Status: 200, Code: "content_filter"}, fault.Permanent},
		{ExpectError{Status: 200, Code: 502.0}, fault.Degraded},
		{ExpectError{Status: 200, Message: s("odd")}, fault.Permanent},
	} {
		require.Equal(t, tt.want, Class(&tt.e), "%+v", tt.e)
	}
}

// TestWireNotCovered prints the recordings without an adapter.
func TestWireNotCovered(t *testing.T) {
	cases := Cases(t, "bedrock")
	fmt.Printf("%s\n  %-18s %6d cases: no adapter is asked for\n", t.Name(), "bedrock", len(cases))
}
