package file

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

// worked returns the files of a directory in which a session was worked on, and where its changes
// end.
func worked(t *testing.T, d Durability, session string) (files map[string][]byte, ends []int64) {
	t.Helper()
	dir, ctx := t.TempDir(), t.Context()
	st := openAt(t, dir, Config{Durability: d})
	st.every = 500 // so that there is a checkpoint
	log := filepath.Join(dir, baseName(session)+logExt)
	did := func(err error) {
		t.Helper()
		require.NoError(t, err)
		info, err := os.Stat(log)
		require.NoError(t, err)
		ends = append(ends, info.Size())
	}
	l, err := st.Lease(ctx, session, "a", time.Hour)
	did(err)
	for after := range uint64(3) {
		a := one(session, after)
		a.Fence = l.Fence
		did(st.Append(ctx, a))
	}
	did(st.Post(ctx, session, journal.Item{ID: "i", Kind: "k"}))
	did(st.Append(ctx, journal.Append{Session: session, After: 3, Fence: l.Fence,
		Head: &journal.HeadUpdate{Status: "done"}, Taken: []string{"i"}}))
	require.NoError(t, st.Close())
	return filesOf(t, dir), ends
}

func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
	}
	return files
}

// dirOf returns a directory with files.
func dirOf(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return dir
}

func TestNoTruncationOfWhatWasAcknowledgedIsAcceptedSilently(t *testing.T) {
	for name, d := range map[string]Durability{"Process": Process, "Power": Power} {
		t.Run(name, func(t *testing.T) {
			files, ends := worked(t, d, "s")
			log := files[logName]
			require.Contains(t, files, "s-s"+headExt)
			for size := range len(log) {
				files[logName] = log[:size]
				dir := dirOf(t, files)
				st := openAt(t, dir, Config{Durability: d}) // fails the test if anything is cut
				intact := int64(0)
				for _, end := range ends {
					if end <= int64(size) {
						intact = end
					}
				}
				_, head := st.Head(t.Context(), "s")
				_, lease := st.Lease(t.Context(), "s", "b", time.Hour)
				var list error
				for _, list = range st.Heads(t.Context(), journal.Filter{}) {
				}
				for _, err := range []error{head, lease, list, st.Append(t.Context(), one("s", 3))} {
					var corrupt *CorruptError
					require.ErrorAs(t, err, &corrupt, "truncated at %d of %d", size, len(log))
					require.Equal(t, intact, corrupt.Offset)
					require.Equal(t, int64(len(log))-intact, corrupt.Missing)
					require.True(t, journal.Unclear(err))
				}
				require.Equal(t, log[:size], contentOf(t, dir))
				if size%10 > 0 { // a Salvage takes many syncs
					continue
				}
				r, err := st.Salvage(t.Context(), "s")
				require.NoError(t, err)
				require.Equal(t, intact, r.Offset)
				if intact == 0 {
					_, err = st.Head(t.Context(), "s")
					require.ErrorIs(t, err, journal.ErrNoSession)
				}
				l, err := openAt(t, dir, Config{Durability: d}).Lease(t.Context(), "s", "b", time.Hour)
				require.NoError(t, err)
				require.Greater(t, l.Fence, uint64(1), "the lost lease may still be used")
			}
		})
	}
}

// A crash comes after a change was written, in part or whole, and before its measure.
func TestEveryTornWriteIsCutAndReported(t *testing.T) {
	for name, d := range map[string]Durability{"Process": Process, "Power": Power} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			st := openAt(t, dir, Config{Durability: d})
			require.NoError(t, st.Append(t.Context(), one("s", 0)))
			require.NoError(t, st.Append(t.Context(), one("s", 1)))
			before := filesOf(t, dir)
			require.NoError(t, st.Append(t.Context(), lastOf()))
			files := maps.Clone(before)
			last, log := len(before[logName]), contentOf(t, dir)
			for size := last; size <= len(log); size++ {
				files[logName] = log[:size]
				dir := dirOf(t, files)
				var reported repairs
				cfg := reported.config()
				cfg.Durability = d
				st := openAt(t, dir, cfg)
				switch size {
				case last:
					require.Len(t, read(t, st, "s", 0), 2)
					require.Empty(t, reported)
				case len(log):
					require.Len(t, read(t, st, "s", 0), 5)
					require.Empty(t, reported)
				default:
					require.Len(t, read(t, st, "s", 0), 2)
					require.Len(t, reported, 1)
					require.Equal(t, int64(last), reported[0].Offset)
				}
				require.NoError(t, st.Append(t.Context(), lastOf()), "the same append again")
				require.Len(t, read(t, openAt(t, dir, Config{}), "s", 0), 5)
			}
		})
	}
}

// The first change of a session was torn: there is no measure yet.
func TestATornFirstChangeIsCut(t *testing.T) {
	files, ends := worked(t, Power, "s")
	for size := range ends[0] {
		dir := dirWith(t, files[logName][:size])
		var reported repairs
		st := openAt(t, dir, reported.config())
		_, err := st.Head(t.Context(), "s")
		require.ErrorIs(t, err, journal.ErrNoSession)
		require.NoError(t, st.Append(t.Context(), one("s", 0)))
	}
}

func TestTheMeasureOfAnotherLogDoesNotCount(t *testing.T) {
	ctx := t.Context()
	files, _ := worked(t, Process, "s")
	end := "s-s" + endExt
	dir := dirOf(t, files)
	st := openAt(t, dir, Config{Durability: Process})
	require.NoError(t, st.Delete(ctx, "s", 2)) // the log is shorter now, and another one
	size := len(contentOf(t, dir))
	pruned := filesOf(t, dir)
	require.NotEqual(t, files[end], pruned[end])
	require.NoError(t, st.Close())
	// as after a crash before the measure was written
	require.NoError(t, os.WriteFile(filepath.Join(dir, end), files[end], 0o600))
	require.Len(t, read(t, openAt(t, dir, Config{}), "s", 2), 1)

	pruned[logName] = pruned[logName][:size-1]
	var corrupt *CorruptError
	_, err := openAt(t, dirOf(t, pruned), Config{}).Head(ctx, "s")
	require.ErrorAs(t, err, &corrupt, "a pruned log is measured, too")
	require.Positive(t, corrupt.Missing)

	st = openAt(t, dir, Config{Durability: Process})
	require.NoError(t, st.Delete(ctx, "s", journal.All))
	require.NotContains(t, filesOf(t, dir), end)
	require.NoError(t, os.WriteFile(filepath.Join(dir, end), files[end], 0o600)) // as if it were left over
	require.NoError(t, st.Append(ctx, one("s", 0)))
	require.Len(t, read(t, openAt(t, dir, Config{}), "s", 0), 1)
}

// Without its measure a log is read as before there were any.
func TestAMeasureIsOnlyAHint(t *testing.T) {
	files, ends := worked(t, Process, "s")
	end := "s-s" + endExt
	good := files[end]
	flipped := []byte(strings.Replace(string(good), "0000", "0001", 1))
	for name, text := range map[string][]byte{"missing": nil, "empty": {}, "cut": good[:len(good)/2],
		"flipped": flipped, "garbage": []byte("hello\n{}\n")} {
		other := maps.Clone(files)
		if other[end] = text; text == nil {
			delete(other, end)
		}
		require.Len(t, read(t, openAt(t, dirOf(t, other), Config{}), "s", 0), 3, name)
		other[logName] = files[logName][:ends[2]]
		require.Len(t, read(t, openAt(t, dirOf(t, other), Config{}), "s", 0), 2, name)
	}
	other := maps.Clone(files)
	other[end] = append(append([]byte{}, good...), "rest of an older one\n"...)
	require.Len(t, read(t, openAt(t, dirOf(t, other), Config{}), "s", 0), 3)
}

func TestALongNamedSessionWithoutItsFirstLineIsNotLeftOutOfTheList(t *testing.T) {
	session := strings.Repeat("n", 400)
	files, ends := worked(t, Process, session)
	log := baseName(session) + logExt
	for _, size := range []int64{0, 1, ends[0] - 1} {
		other := maps.Clone(files)
		other[log] = files[log][:size]
		var end error
		for _, end = range openAt(t, dirOf(t, other), Config{}).Heads(t.Context(), journal.Filter{}) {
		}
		var corrupt *CorruptError
		require.ErrorAs(t, end, &corrupt, fmt.Sprint(size))
		require.Equal(t, log, corrupt.File)
	}
}

// What a dead process has written and not acknowledged counts once another one acknowledges it.
func TestARepeatedAppendIsMeasured(t *testing.T) {
	dir := t.TempDir()
	st := openAt(t, dir, Config{Durability: Process})
	require.NoError(t, st.Append(t.Context(), one("s", 0)))
	before := filesOf(t, dir)
	require.NoError(t, st.Append(t.Context(), one("s", 1)))
	require.NoError(t, st.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s-s"+endExt), before["s-s"+endExt], 0o600)) // it died before

	require.NoError(t, openAt(t, dir, Config{}).Append(t.Context(), one("s", 1)))
	require.NoError(t, os.WriteFile(filepath.Join(dir, logName), before[logName], 0o600))
	_, err := openAt(t, dir, Config{}).Head(t.Context(), "s")
	require.True(t, errors.As(err, new(*CorruptError)), "%v", err)
}
