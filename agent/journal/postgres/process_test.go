package postgres_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/roletest"
)

func TestTwoProcessesOnOneSessionLoseNothing(t *testing.T) {
	const each = 5000 / fewer
	cfg := empty(t)
	var writers []*roletest.Process
	for _, name := range []string{"a", "b"} {
		writers = append(writers, roletest.Start(t, "append", cfg.DSN, cfg.Schema, name, strconv.Itoa(each)))
	}
	roletest.Together(t, writers...) // both have made the schema, at once
	require.Positive(t, roletest.Sum(t, writers...), "the two never met: there were no conflicts")

	next, last := map[string]int{}, uint64(0)
	for r, err := range open(t, cfg).Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.Equal(t, last+1, r.Seq)
		require.Equal(t, next[r.Kind], r.V, "record %d of %s", r.Seq, r.Kind)
		last, next[r.Kind] = r.Seq, next[r.Kind]+1
	}
	require.Equal(t, map[string]int{"a": each, "b": each}, next)
}
