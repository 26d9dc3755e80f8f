package index_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawlkit/pawl/memory/index"
	"github.com/stretchr/testify/require"
)

func written(t testing.TB, m *index.Exact) []byte {
	var b bytes.Buffer
	require.NoError(t, m.Write(&b))
	return b.Bytes()
}

func reload(t testing.TB, m *index.Exact) *index.Exact {
	again, err := index.Read(written(t, m))
	require.NoError(t, err)
	return again
}

func small(t testing.TB) *index.Exact {
	m := &index.Exact{}
	entries := random(5, 3, 4)
	entries[0].Item.Updated = time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)
	entries[1].Item.Aliases = []string{"Über uns"}
	entries[2].Text, entries[2].Whole = index.Sum{1, 2}, index.Sum{3}
	require.NoError(t, m.Upsert(t.Context(), entries))
	return m
}

func TestAFileContainsTheWholeIndex(t *testing.T) {
	m := small(t)
	path := filepath.Join(t.TempDir(), "resources.idx")
	_, err := index.Load(path)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, (&index.Exact{}).Save(path))
	require.NoError(t, m.Save(path), "over an older one")
	again, err := index.Load(path)
	require.NoError(t, err)
	for _, id := range []string{"0", "1", "2"} {
		want, err := m.Get(t.Context(), id)
		require.NoError(t, err)
		got, err := again.Get(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.Equal(t, written(t, m), written(t, again), "to the byte")
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file is left")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)

	empty := reload(t, &index.Exact{})
	require.Zero(t, empty.Len())
}

func TestADamagedFileIsRejected(t *testing.T) {
	data := written(t, small(t))
	for n := range data {
		_, err := index.Read(data[:n])
		require.ErrorIs(t, err, index.ErrDamaged, n)
	}
	_, err := index.Read(append(bytes.Clone(data), 0))
	require.ErrorIs(t, err, index.ErrDamaged)
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= 0x10
		_, err := index.Read(changed)
		require.Error(t, err, i)
	}
}

func TestANewerFileIsRejected(t *testing.T) {
	_, err := index.Read(seal([]byte(`{"pawl_index":2,"metric":"a word"}`)))
	require.ErrorIs(t, err, index.ErrVersion)
	require.NotErrorIs(t, err, index.ErrDamaged)
}

func TestAFailedSaveLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	require.Error(t, small(t).Save(filepath.Join(dir, "none", "x.idx")))
	target := filepath.Join(dir, "x.idx")
	require.NoError(t, os.MkdirAll(filepath.Join(target, "full"), 0o700)) // a directory can't be replaced by a file
	require.Error(t, small(t).Save(target))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file is left")
}

// seal adds the checksum that a fuzzer can't guess.
func seal(body []byte) []byte {
	return fmt.Appendf(bytes.Clone(body), "%08x\n", crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}

func FuzzRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = index.Read(body)
		m, err := index.Read(seal(body))
		if err != nil {
			return
		}
		ids, err := m.IDs(t.Context())
		require.NoError(t, err)
		require.Len(t, ids, m.Len())
		again := reload(t, m)
		require.Equal(t, m.Len(), again.Len())
		require.Equal(t, written(t, again), written(t, reload(t, again)))
	})
}
