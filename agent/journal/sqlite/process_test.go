package sqlite_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
)

func TestTwoProcessesOnOneSessionLoseNothing(t *testing.T) {
	const each = 5000 / fewer
	path := filepath.Join(t.TempDir(), "runs.db")
	writers := []*process{begin(t, "append", path, "a", strconv.Itoa(each)), begin(t, "append", path, "b", strconv.Itoa(each))}
	for _, w := range writers {
		require.Equal(t, "ready", w.line())
	}
	for _, w := range writers {
		_, err := fmt.Fprintln(w.in)
		require.NoError(t, err)
	}
	conflicts := 0
	for _, w := range writers {
		n, err := strconv.Atoi(w.line())
		require.NoError(t, err)
		conflicts += n
		require.NoError(t, w.Wait())
	}
	require.Positive(t, conflicts, "the two never met")

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
	first := begin(t, "leased", path)
	require.Equal(t, "going", first.line())
	s := open(t, path, sqlite.Config{Durability: sqlite.Process})
	l, err := s.Lease(t.Context(), "s", "two", time.Hour)
	require.NoError(t, err)
	h, err := s.Head(t.Context(), "s")
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), journal.Append{Session: "s", After: h.Seq, Fence: l.Fence, Records: []journal.Record{{Kind: "second"}}}),
		"nothing can come between the lease and this")
	require.Equal(t, fmt.Sprint("stopped ", h.Seq), first.line())
	require.NoError(t, first.Wait())
}

func TestProcessesThatMakeOneFileTogetherAllOpenIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	var all []*process
	for i := range 4 {
		all = append(all, begin(t, "append", path, fmt.Sprint(i), "5"))
	}
	for _, p := range all {
		require.Equal(t, "ready", p.line())
		require.NoError(t, p.in.Close())
	}
	for _, p := range all {
		p.line()
		require.NoError(t, p.Wait())
	}
	h, err := open(t, path, sqlite.Config{}).Head(t.Context(), "s")
	require.NoError(t, err)
	require.EqualValues(t, 20, h.Seq)
}

// The writer is killed in the middle, again and again; what it said it kept is there, whole, and nothing is torn.
func TestAKilledWriterLeavesAPrefix(t *testing.T) {
	for _, d := range []sqlite.Durability{sqlite.Power, sqlite.Process} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			for round := range max(2, 8/fewer) {
				w := begin(t, "endless", path, strconv.Itoa(int(d)))
				for range 20 + 61*round/fewer {
					require.NotEmpty(t, w.line())
				}
				require.NoError(t, w.Process.Kill())
				said := w.out.Text()
				for w.out.Scan() { // what it said before it died
					if text := w.out.Text(); text >= said || len(text) > len(said) {
						said = text
					}
				}
				require.Error(t, w.Wait())
				kept, err := strconv.ParseUint(strings.TrimSpace(said), 10, 64)
				require.NoError(t, err)

				s, err := sqlite.OpenWith(path, sqlite.Config{Durability: d})
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
	const sessions, turns = 1000, 2
	path := filepath.Join(t.TempDir(), "runs.db")
	s, err := sqlite.OpenWith(path, sqlite.Config{Durability: sqlite.Process})
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
