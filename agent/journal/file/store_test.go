package file

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
)

func openAt(t testing.TB, dir string, cfg Config) *Store {
	t.Helper()
	if cfg.OnRepair == nil {
		cfg.OnRepair = func(r Repair) { t.Errorf("repaired: %+v", r) }
	}
	st, err := Open(dir, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

func one(session string, after uint64) journal.Append {
	return journal.Append{Session: session, After: after, Records: []journal.Record{record(int(after + 1))}}
}

func record(n int) journal.Record {
	return journal.Record{Time: time.Unix(int64(n), 5), Kind: "kind", V: 1, Data: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// read returns the records of a session, as they were appended.
func read(t testing.TB, st *Store, session string, after uint64) []journal.Record {
	t.Helper()
	var out []journal.Record
	for r, err := range st.Read(t.Context(), session, after) {
		require.NoError(t, err)
		require.Equal(t, after+uint64(len(out))+1, r.Seq)
		out = append(out, r)
	}
	return out
}

func TestFilesAreAStore(t *testing.T) {
	for name, cfg := range map[string]Config{
		"Power":    {},
		"Process":  {Durability: Process},
		"one file": {Durability: Process, Files: 1},
	} {
		t.Run(name, func(t *testing.T) {
			journaltest.Run(t, func(t *testing.T) journal.Store { return openAt(t, t.TempDir(), cfg) })
		})
	}
}
