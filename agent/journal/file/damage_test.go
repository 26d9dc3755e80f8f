package file

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

// repairs collects what a store has cut.
type repairs []Repair

func (r *repairs) config() Config {
	return Config{Durability: Process, OnRepair: func(c Repair) { *r = append(*r, c) }}
}

// logOf writes three changes, the last one with three records, and returns the log and where the
// last one begins.
func logOf(t *testing.T) (text []byte, last int64) {
	t.Helper()
	dir := t.TempDir()
	st := openAt(t, dir, Config{Durability: Process})
	require.NoError(t, st.Append(t.Context(), one("s", 0)))
	require.NoError(t, st.Append(t.Context(), one("s", 1)))
	last = int64(len(contentOf(t, dir)))
	require.NoError(t, st.Append(t.Context(), lastOf()))
	return contentOf(t, dir), last
}

func lastOf() journal.Append {
	return journal.Append{
		Session: "s", After: 2, Records: []journal.Record{rec(3), {Kind: "bytes", Data: []byte("\n\n")}, rec(5)},
		Head: &journal.HeadUpdate{Status: "last"}, Taken: []string{"i"},
	}
}

const logName = "s-s" + logExt

func contentOf(t *testing.T, dir string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, logName))
	require.NoError(t, err)
	return b
}

// dirWith returns a directory with a log.
func dirWith(t *testing.T, text []byte) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, logName), text, 0o600))
	return dir
}

func TestAnIncompleteChangeIsCutAndReported(t *testing.T) {
	text, last := logOf(t)
	for size := last + 1; size < int64(len(text)); size++ {
		dir := dirWith(t, text[:size])
		var reported repairs
		st := openAt(t, dir, reported.config())
		h, err := st.Head(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, uint64(2), h.Seq)
		require.Len(t, reported, 1)
		require.NotEmpty(t, reported[0].Problem)
		reported[0].Problem = ""
		require.Equal(t, repairs{{Session: "s", File: logName, Offset: last, Bytes: size - last}}, reported)
		require.Len(t, contentOf(t, dir), int(last))

		require.NoError(t, st.Append(t.Context(), one("s", 2)))
		require.Len(t, read(t, openAt(t, dir, Config{}), "s", 0), 3)
	}
}

// A disk writes the pages of a change in any order. Those that it hasn't written are zeros.
func TestALastChangeWithHolesIsCut(t *testing.T) {
	text, last := logOf(t)
	for from := int(last); from < len(text); from += 7 {
		holed := slices.Clone(text)
		clear(holed[from:min(from+40, len(text))])
		var reported repairs
		st := openAt(t, dirWith(t, holed), reported.config())
		require.Len(t, read(t, st, "s", 0), 2)
		require.Len(t, reported, 1)
	}
}

func TestALogWithAnIncompleteFirstChangeHasNoSession(t *testing.T) {
	text, _ := logOf(t)
	first := bytes.IndexByte(text, '\n')
	for size := 1; size <= first; size++ {
		var reported repairs
		st := openAt(t, dirWith(t, text[:size]), reported.config())
		_, err := st.Head(t.Context(), "s")
		require.ErrorIs(t, err, journal.ErrNoSession)
		require.Len(t, reported, 1)
		require.NoError(t, st.Append(t.Context(), one("s", 0)))
		require.Len(t, read(t, st, "s", 0), 1)
	}
}

func TestDamageBeforeTheLastChangeIsAnErrorAndIsLeftAlone(t *testing.T) {
	text, last := logOf(t)
	check := func(damaged []byte) {
		t.Helper()
		dir := dirWith(t, damaged)
		st := openAt(t, dir, Config{Durability: Process})
		var got []error
		for _, err := range st.Read(t.Context(), "s", 0) {
			got = append(got, err)
		}
		_, headErr := st.Head(t.Context(), "s")
		got = append(got, headErr, st.Append(t.Context(), one("s", 5)))
		for _, err := range got {
			var corrupt *CorruptError
			require.ErrorAs(t, err, &corrupt)
			require.True(t, journal.Unclear(err))
			require.Equal(t, "s", corrupt.Session)
			require.LessOrEqual(t, corrupt.Offset, last)
		}
		require.Equal(t, damaged, contentOf(t, dir))
	}
	for at := range last {
		damaged := slices.Clone(text)
		damaged[at] ^= 1
		check(damaged)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i := range 2 { // the last one is that which may be incomplete
		// one is gone
		check(slices.Concat(slices.Concat(lines[:i]...), slices.Concat(lines[i+1:]...)))
		// one is there twice
		check(slices.Concat(slices.Concat(lines[:i+1]...), slices.Concat(lines[i:]...)))
		// two have changed places
		check(slices.Concat(slices.Concat(lines[:i]...), lines[i+1], lines[i], slices.Concat(lines[i+2:]...)))
	}
}

func TestDamageBeforeACheckpointIsFoundByRead(t *testing.T) {
	dir := t.TempDir()
	st := openAt(t, dir, Config{Durability: Process})
	st.every = 100
	for after := range uint64(200) {
		require.NoError(t, st.Append(t.Context(), one("s", after)))
	}
	require.NoError(t, st.Close())
	text := contentOf(t, dir)
	text[bytes.Index(text, []byte(`"after":4,`))] ^= 1
	require.NoError(t, os.WriteFile(filepath.Join(dir, logName), text, 0o600))

	st = openAt(t, dir, Config{Durability: Process})
	n := 0
	var end error
	for _, end = range st.Read(t.Context(), "s", 0) {
		if end == nil {
			n++
		}
	}
	require.Equal(t, 4, n)
	var corrupt *CorruptError
	require.ErrorAs(t, end, &corrupt)
}

func TestACheckpointThatDoesNotMatchIsIgnored(t *testing.T) {
	dir := t.TempDir()
	head := filepath.Join(dir, "s-s"+headExt)
	st := openAt(t, dir, Config{Durability: Process})
	st.every = 100
	for after := range uint64(200) {
		require.NoError(t, st.Append(t.Context(), one("s", after)))
	}
	require.NoError(t, st.Close())
	good, err := os.ReadFile(head)
	require.NoError(t, err)
	wrong := map[string][]byte{"empty": nil, "cut": good[:len(good)/2], "flipped": slices.Clone(good),
		"garbage": []byte("{}\n")}
	wrong["flipped"][len(good)/2] ^= 1
	for name, text := range wrong {
		require.NoError(t, os.WriteFile(head, text, 0o600))
		require.Len(t, read(t, openAt(t, dir, Config{}), "s", 0), 200, name)
	}

	// The log was pruned after the checkpoint, so its lines are elsewhere.
	st = openAt(t, dir, Config{Durability: Process})
	require.NoError(t, st.Delete(t.Context(), "s", 3))
	require.NoError(t, os.WriteFile(head, good, 0o600))
	require.Len(t, read(t, openAt(t, dir, Config{}), "s", 3), 197)
}

func TestAFileThatIsNoLogIsLeftAlone(t *testing.T) {
	for _, text := range []string{"hello\n", "hello", "\n", `{"a":1}` + "\n",
		string(encoded(t, &change{Format: format, Session: "other", N: 1, Release: true}))} {
		dir := dirWith(t, []byte(text))
		var corrupt *CorruptError
		require.ErrorAs(t, openAt(t, dir, Config{}).Append(t.Context(), one("s", 0)), &corrupt, text)
		require.Equal(t, text, string(contentOf(t, dir)))
	}
}

func TestALogThatHasBecomeShorterIsAnError(t *testing.T) {
	dir := t.TempDir()
	st := openAt(t, dir, Config{Durability: Process})
	require.NoError(t, st.Append(t.Context(), one("s", 0)))
	size := len(contentOf(t, dir))
	require.NoError(t, st.Append(t.Context(), one("s", 1)))
	require.NoError(t, os.Truncate(filepath.Join(dir, logName), int64(size)))
	var corrupt *CorruptError
	require.ErrorAs(t, st.Append(t.Context(), one("s", 2)), &corrupt)
}

func TestSalvageKeepsWhatIsBeforeTheDamage(t *testing.T) {
	text, last := logOf(t)
	damage := bytes.Index(text, []byte(`"after":1`))
	damaged := slices.Clone(text)
	damaged[damage] ^= 1
	dir := dirWith(t, damaged)
	st := openAt(t, dir, Config{})
	_, err := st.Head(t.Context(), "s")
	var corrupt *CorruptError
	require.ErrorAs(t, err, &corrupt)

	r, err := st.Salvage(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, Repair{
		Session: "s", File: logName, Offset: corrupt.Offset, Bytes: int64(len(text)) - corrupt.Offset,
		Problem: r.Problem,
	}, r)
	require.Less(t, r.Offset, last)
	require.NotEmpty(t, r.Problem)
	aside, err := os.ReadFile(filepath.Join(dir, "s-s"+damagedExt))
	require.NoError(t, err)
	require.Equal(t, damaged, aside)
	require.Len(t, read(t, st, "s", 0), 1)
	require.NoError(t, st.Append(t.Context(), one("s", 1)))

	r, err = st.Salvage(t.Context(), "s")
	require.NoError(t, err)
	require.Zero(t, r)
	r, err = st.Salvage(t.Context(), "unknown")
	require.NoError(t, err)
	require.Zero(t, r)
	require.Len(t, read(t, openAt(t, dir, Config{}), "s", 0), 2)

	require.NoError(t, st.Delete(t.Context(), "s", journal.All))
	_, err = os.Stat(filepath.Join(dir, "s-s"+damagedExt))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestSalvageOfALogWithoutAnIntactLineLeavesNoSession(t *testing.T) {
	st := openAt(t, dirWith(t, []byte("hello\n")), Config{})
	r, err := st.Salvage(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, int64(6), r.Bytes)
	_, err = st.Head(t.Context(), "s")
	require.ErrorIs(t, err, journal.ErrNoSession)
	require.NoError(t, st.Append(t.Context(), one("s", 0)))
}

// The owner of a lease that the log has lost to damage may still be there.
func TestAfterSalvageNoFenceIsGivenTwice(t *testing.T) {
	ctx := t.Context()
	for name, leases := range map[string]int{"none before the damage": 0, "one before the damage": 1} {
		dir := t.TempDir()
		st := openAt(t, dir, Config{Durability: Process})
		for range leases {
			_, err := st.Lease(ctx, "s", "a", time.Hour)
			require.NoError(t, err)
		}
		require.NoError(t,
			st.Append(ctx, journal.Append{Session: "s", Fence: uint64(leases), Head: &journal.HeadUpdate{Status: "x"}}))
		before := len(contentOf(t, dir))
		old, err := st.Lease(ctx, "s", "a", time.Hour) // will be damaged
		require.NoError(t, err)
		require.NoError(t, st.Post(ctx, "s", journal.Item{ID: "i", Kind: "k"}))
		require.NoError(t, st.Close())
		text := contentOf(t, dir)
		text[before+30] ^= 1
		require.NoError(t, os.WriteFile(filepath.Join(dir, logName), text, 0o600))

		st = openAt(t, dir, Config{Durability: Process})
		r, err := st.Salvage(ctx, "s")
		require.NoError(t, err)
		require.Equal(t, int64(before), r.Offset)
		late := journal.Append{Session: "s", Fence: old.Fence, Head: &journal.HeadUpdate{Status: "late"}}
		var conflict *journal.ConflictError
		require.ErrorAs(t, st.Append(ctx, late), &conflict, name)
		l, err := st.Lease(ctx, "s", "b", time.Hour)
		require.NoError(t, err)
		require.Greater(t, l.Fence, old.Fence, name)
		require.ErrorAs(t, st.Append(ctx, late), &conflict, name)
	}
}

// The first fence of a session is above those of all deleted sessions, and so may be far above what
// the log names.
func TestAfterSalvageNoFenceIsGivenTwiceThoughTheFirstLeaseIsDamaged(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	st := openAt(t, dir, Config{Durability: Process})
	for range 5 {
		_, err := st.Lease(ctx, "deleted", "a", time.Hour)
		require.NoError(t, err)
	}
	require.NoError(t, st.Delete(ctx, "deleted", journal.All))
	old, err := st.Lease(ctx, "s", "a", time.Hour) // will be damaged
	require.NoError(t, err)
	require.Equal(t, uint64(6), old.Fence)
	require.NoError(t, st.Post(ctx, "s", journal.Item{ID: "i", Kind: "k"}))
	require.NoError(t, st.Close())
	text := contentOf(t, dir)
	text[30] ^= 1
	require.NoError(t, os.WriteFile(filepath.Join(dir, logName), text, 0o600))

	st = openAt(t, dir, Config{Durability: Process})
	_, err = st.Salvage(ctx, "s")
	require.NoError(t, err)
	again, err := st.Lease(ctx, "s", "b", time.Hour)
	require.NoError(t, err)
	require.Greater(t, again.Fence, old.Fence)
}

// A stretch of damage may hide any number of line breaks, and so of leases.
func TestAfterSalvageNoFenceIsGivenTwiceThoughManyLeasesAreOneDamagedLine(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	st := openAt(t, dir, Config{Durability: Process})
	require.NoError(t, st.Append(ctx, one("s", 0)))
	start := len(contentOf(t, dir))
	var old journal.Lease
	for range 20 {
		var err error
		old, err = st.Lease(ctx, "s", "a", time.Hour)
		require.NoError(t, err)
	}
	end := len(contentOf(t, dir))
	require.NoError(t, st.Post(ctx, "s", journal.Item{ID: "i", Kind: "k"}))
	require.NoError(t, st.Close())
	text := contentOf(t, dir)
	clear(text[start : end-1])
	require.NoError(t, os.WriteFile(filepath.Join(dir, logName), text, 0o600))

	st = openAt(t, dir, Config{Durability: Process})
	_, err := st.Salvage(ctx, "s")
	require.NoError(t, err)
	again, err := st.Lease(ctx, "s", "b", time.Hour)
	require.NoError(t, err)
	require.Greater(t, again.Fence, old.Fence)
}

func TestAMissingLineIsDamageWhateverItWas(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	st := openAt(t, dir, Config{Durability: Process})
	for range 2 {
		l, err := st.Lease(ctx, "s", "a", time.Hour)
		require.NoError(t, err)
		require.NoError(t, st.Post(ctx, "s", journal.Item{ID: fmt.Sprint(l.Fence), Kind: "k"}))
		require.NoError(t, st.Release(ctx, l))
	}
	lines := bytes.SplitAfter(contentOf(t, dir), []byte("\n"))
	for i := range 5 { // without the last one it is a good log
		var corrupt *CorruptError
		text := slices.Concat(slices.Concat(lines[:i]...), slices.Concat(lines[i+1:]...))
		_, err := openAt(t, dirWith(t, text), Config{}).Head(ctx, "s")
		require.ErrorAs(t, err, &corrupt, "line %d", i)
	}
}
