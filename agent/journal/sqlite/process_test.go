package sqlite_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/roletest"
)

func TestTwoProcessesOnOneSessionLoseNothing(t *testing.T) {
	const each = 5000 / fewer
	path := filepath.Join(t.TempDir(), "runs.db")
	a, b := roletest.Start(t, "append", path, "a", strconv.Itoa(each)),
		roletest.Start(t, "append", path, "b", strconv.Itoa(each))
	roletest.Together(t, a, b)
	require.Positive(t, roletest.Sum(t, a, b), "the two never met: there were no conflicts")

	next, last := map[string]int{}, uint64(0)
	for r, err := range open(t, path, sqlite.Config{}).Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.Equal(t, last+1, r.Seq)
		require.Equal(t, next[r.Kind], r.V, "record %d of %s", r.Seq, r.Kind)
		last, next[r.Kind] = r.Seq, next[r.Kind]+1
	}
	require.Equal(t, map[string]int{"a": each, "b": each}, next)
}

func TestAWriterThatLostItsLeaseStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	first := roletest.Start(t, "leased", path)
	require.Equal(t, "going", first.Line())
	s := open(t, path, sqlite.Config{Durability: sqlite.Process})
	l, err := s.Lease(t.Context(), "s", "two", time.Hour)
	require.NoError(t, err)
	h, err := s.Head(t.Context(), "s")
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(),
		journal.Append{Session: "s", After: h.Seq, Fence: l.Fence, Records: []journal.Record{{Kind: "second"}}}),
		"nothing can come between the lease and this")
	require.Equal(t, fmt.Sprint("stopped ", h.Seq), first.End(t))
}

func TestProcessesThatMakeOneFileTogetherAllOpenIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	var all []*roletest.Process
	for i := range 4 {
		all = append(all, roletest.Start(t, "append", path, fmt.Sprint(i), "5"))
	}
	roletest.Together(t, all...)
	roletest.Sum(t, all...)
	h, err := open(t, path, sqlite.Config{}).Head(t.Context(), "s")
	require.NoError(t, err)
	require.EqualValues(t, 20, h.Seq)
}

// The writer is killed in the middle, again and again; what it said it kept is there, whole, and
// nothing is torn.
func TestAKilledWriterLeavesAPrefix(t *testing.T) {
	for _, d := range []sqlite.Durability{sqlite.Power, sqlite.Process} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			for round := range max(2, 8/fewer) {
				w := roletest.Start(t, "endless", path, strconv.Itoa(int(d)))
				for range 20 + 61*round/fewer {
					require.NotEmpty(t, w.Line())
				}
				kept, err := strconv.ParseUint(w.Kill(t), 10, 64)
				require.NoError(t, err)

				s, err := sqlite.Open(path, sqlite.Config{Durability: d})
				require.NoError(t, err)
				last := uint64(0)
				for r, err := range s.Read(t.Context(), "s", 0) {
					require.NoError(t, err)
					last++
					want := numbered(last)
					require.Equal(t, last, r.Seq)
					require.True(t, bytes.Equal(want.Data, r.Data) && want.Time.Equal(r.Time))
				}
				h, err := s.Head(t.Context(), "s")
				require.NoError(t, err)
				require.NoError(t, s.Close())
				require.Equal(t, last, h.Seq)
				require.GreaterOrEqual(t, last, kept)
				require.LessOrEqual(t, last, kept+3, "at most one append is kept and wasn't said")
			}
		})
	}
}

func TestAThousandSessionsInTurnLoseNothing(t *testing.T) {
	const sessions, turns = 1000 / fewer, 2
	path := filepath.Join(t.TempDir(), "runs.db")
	s, err := sqlite.Open(path, sqlite.Config{Durability: sqlite.Process})
	require.NoError(t, err)
	name := func(i int) string { return fmt.Sprintf("s-%04d", i) }
	for turn := range uint64(turns) {
		for i := range sessions {
			require.NoError(t, s.Append(t.Context(), journal.Append{Session: name(i), After: turn,
				Records: []journal.Record{{Kind: "k", V: i, Data: fmt.Appendf(nil, "%d in %d", turn, i)}}}))
		}
	}
	require.NoError(t, s.Close())
	s = open(t, path, sqlite.Config{})
	n := 0
	for h, err := range s.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		require.Equal(t, name(n), h.Session)
		require.EqualValues(t, turns, h.Seq)
		for r, err := range s.Read(t.Context(), h.Session, 0) {
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("%d in %d", r.Seq-1, n), string(r.Data))
		}
		n++
	}
	require.Equal(t, sessions, n)
}
