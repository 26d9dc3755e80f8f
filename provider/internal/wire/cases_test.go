package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/providertest"
)

// recordedCases writes cases as recordings have them.
func recordedCases(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"toy/b", "toy/a", "other/c"} {
		c := *providertest.NewCase(filepath.Base(name), 200, "text/event-stream", answered)
		c.Provider, c.Wire = filepath.Dir(name), "toy"
		require.NoError(t, c.WriteFile(filepath.Join(dir, name+".json")))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "expect"), 0o755))
	return dir
}

func TestCasesAreReadInOrder(t *testing.T) {
	t.Setenv(Variable, recordedCases(t))
	var names []string
	for _, c := range Cases(t) {
		names = append(names, c.Provider+"/"+c.Name)
	}
	require.Equal(t, []string{"other/c", "toy/a", "toy/b"}, names)
	require.Len(t, Cases(t, "toy"), 2)
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
	return s.what
}

func TestWithoutRecordingsATestIsSkipped(t *testing.T) {
	t.Setenv(Variable, "")
	require.Equal(t, "skipped: wire: no recordings: PAWL_WIRE isn't set", outcomeOf(t, func(t testing.TB) { Cases(t) }))
}

func TestRecordingsThatCannotBeReadFailTheTest(t *testing.T) {
	dir := recordedCases(t)
	t.Setenv(Variable, dir)
	require.Contains(t, outcomeOf(t, func(t testing.TB) { Cases(t, "nobody") }),
		"failed: wire: the folder nobody of PAWL_WIRE contains no cases")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "toy", "a.json"), []byte("{"), 0o600))
	require.Contains(t, outcomeOf(t, func(t testing.TB) { Cases(t, "toy") }), "failed: wire: providertest: the case in")
	t.Setenv(Variable, filepath.Join(dir, "nowhere"))
	require.Contains(t, outcomeOf(t, func(t testing.TB) { Cases(t) }), "failed: wire: the folder * of PAWL_WIRE contains no cases")
}
