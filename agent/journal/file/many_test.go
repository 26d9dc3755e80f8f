package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

func TestAThousandSessionsNeedFewOpenFiles(t *testing.T) {
	const sessions, files = 1000, 16
	ctx, disk := t.Context(), newMemDisk(1)
	st := open(disk, Config{Durability: Process, Files: files})
	name := func(i int) string { return fmt.Sprintf("s-%03d", i) }
	for round := range uint64(3) {
		for i := range sessions {
			a := one(name(i), round)
			a.Head = &journal.HeadUpdate{Status: fmt.Sprint(round)}
			require.NoError(t, st.Append(ctx, a))
			require.LessOrEqual(t, disk.open, 2*files) // each log, and its measure
		}
	}
	n := 0
	for h, err := range st.Heads(ctx, journal.Filter{}) {
		require.NoError(t, err)
		require.Equal(t, name(n), h.Session)
		require.Equal(t, uint64(3), h.Seq)
		require.Equal(t, "2", h.Status)
		require.LessOrEqual(t, disk.open, 2*files+1)
		n++
	}
	require.Equal(t, sessions, n)
	for i := range sessions {
		require.Len(t, read(t, st, name(i), 0), 3)
	}
	require.NoError(t, st.Close())
	require.Zero(t, disk.open)
}

// The cost of a head depends on the log behind the last checkpoint, not on the length of the log.
func TestAHeadIsReadWithoutTheWholeLog(t *testing.T) {
	ctx, disk := t.Context(), &countingDisk{memDisk: newMemDisk(1)}
	st := open(disk, Config{Durability: Process})
	require.NoError(t, st.Append(ctx, one("s", 0)))
	for after := uint64(1); after <= 40; after++ {
		a := one("s", after)
		a.Records[0].Data = make([]byte, 100_000)
		require.NoError(t, st.Append(ctx, a))
	}
	require.NoError(t, st.Close())
	size := len(disk.names[logName].data)
	require.Greater(t, size, 5_000_000)

	disk.read = 0
	st = open(disk, Config{})
	for h, err := range st.Heads(ctx, journal.Filter{}) {
		require.NoError(t, err)
		require.Equal(t, uint64(41), h.Seq)
	}
	require.Less(t, disk.read, 3*chunk)
	disk.read = 0
	require.Len(t, read(t, st, "s", 38), 3)
	require.Less(t, disk.read, 6*chunk)
}

type countingDisk struct {
	*memDisk
	read int
}

func (d *countingDisk) Open(name string, create bool) (handle, error) {
	h, err := d.memDisk.Open(name, create)
	if err != nil {
		return nil, err
	}
	return &countingHandle{h, d}, nil
}

type countingHandle struct {
	handle
	disk *countingDisk
}

func (h *countingHandle) ReadAt(b []byte, off int64) (int, error) {
	n, err := h.handle.ReadAt(b, off)
	h.disk.read += n
	return n, err
}

// The measure of the log is a second write, which is never synced.
func TestAnAppendIsTwoWritesAndOneSync(t *testing.T) {
	disk := newMemDisk(1)
	for d, want := range map[Durability]int{Power: 5, Process: 4} { // lock, stat, two writes; unlocking isn't counted
		st := open(disk, Config{Durability: d})
		name := fmt.Sprint(d)
		require.NoError(t, st.Append(t.Context(), one(name, 0)))
		before := disk.ops
		require.NoError(t, st.Append(t.Context(), one(name, 1)))
		require.Equal(t, want, disk.ops-before)
		require.NoError(t, st.Close())
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "new", "sessions")
	st := openAt(t, dir, Config{Durability: Process})
	st.every = 1
	l, err := st.Lease(t.Context(), "s", "a", time.Hour)
	require.NoError(t, err)
	for after := range uint64(50) {
		a := one("s", after)
		a.Fence = l.Fence
		require.NoError(t, st.Append(t.Context(), a))
	}
	require.NoError(t, st.Delete(t.Context(), "s", 3))
	_, err = st.Lease(t.Context(), "gone", "a", time.Hour)
	require.NoError(t, err)
	require.NoError(t, st.Delete(t.Context(), "gone", journal.All))
	seen := 0
	require.NoError(t, filepath.WalkDir(filepath.Join(top, "new"), func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		if seen++; e.IsDir() {
			require.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), path)
		} else {
			require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), path)
		}
		return nil
	}))
	require.Equal(t, 8, seen) // two directories, the log with its checkpoint and measure, the fences with theirs
}

func TestNoTwoNamesShareAFile(t *testing.T) {
	names := []string{"s", "S", "con", "CON", "a/b", "a%2fb", "a%2Fb", "..", ".", "é", "e\u0301", "É", "straße",
		"s.log", " ", "s "}
	for _, n := range []int{60, 61, 66, 67, 198, 199, 400, 512} {
		names = append(names, strings.Repeat("é", n/2), strings.Repeat("É", n/2), strings.Repeat("n", n),
			strings.Repeat("N", n), strings.Repeat("n", n-1)+"m")
	}
	stems := map[string]string{}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		file := baseName(name)
		require.Equal(t, strings.ToLower(file), file)
		require.LessOrEqual(t, len(file+headExt+tempExt), 255)
		require.Empty(t, stems[file], "%q and %q", name, stems[file])
		stems[file] = name
		back, ok := sessionOf(file + logExt)
		require.True(t, ok)
		if back != "" {
			require.Equal(t, name, back)
		} else {
			require.Greater(t, len(name), maxBase/3-2)
		}
	}
	for _, file := range []string{"s.log", "s-.log", "s-S.log", "s-%.log", "s-%2.log", "s-%zz.log", "s-%73.log",
		"s-s.head", "h-00.log", "fences", "s-%2F.log"} {
		_, ok := sessionOf(file)
		require.False(t, ok, file)
	}
}

func TestFilesOfOthersAreNotListed(t *testing.T) {
	dir := t.TempDir()
	st := openAt(t, dir, Config{Durability: Process})
	long := strings.Repeat("Long", 100)
	require.NoError(t, st.Append(t.Context(), one(long, 0)))
	require.NoError(t, st.Append(t.Context(), one("s", 0)))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README.log"), []byte("hello\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "h-"+strings.Repeat("0", 64)+logExt), []byte("hello\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s-empty"+logExt), nil, 0o600))
	var names []string
	for h, err := range st.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		names = append(names, h.Session)
	}
	require.Equal(t, []string{long, "s"}, names)
}

func TestADamagedSessionIsAnErrorInItsPlaceAndDoesNotEndTheList(t *testing.T) {
	dir := t.TempDir()
	st := openAt(t, dir, Config{Durability: Process})
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, st.Append(t.Context(), one(name, 0)))
		require.NoError(t, st.Append(t.Context(), one(name, 1)))
	}
	require.NoError(t, st.Close())
	path := filepath.Join(dir, "s-b"+logExt)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text[50] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o600))
	st = openAt(t, dir, Config{})
	var seen []string
	var corrupt *CorruptError
	for h, err := range st.Heads(t.Context(), journal.Filter{}) {
		if err != nil {
			require.ErrorAs(t, err, &corrupt)
		}
		seen = append(seen, h.Session)
	}
	require.Equal(t, []string{"a", "b", "c"}, seen)
	require.Equal(t, "b", corrupt.Session)
	for h, err := range st.Heads(t.Context(), journal.Filter{After: corrupt.Session}) {
		require.NoError(t, err)
		require.Equal(t, "c", h.Session)
	}
}

func TestACallThatWaitsForAProcessGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemDisk(1)
		st := open(disk, Config{})
		require.NoError(t, st.Append(t.Context(), one("s", 0)))
		stopped, err := disk.Open(logName, false) // like a process that is stopped during a call
		require.NoError(t, err)
		ok, err := stopped.TryLock()
		require.True(t, ok)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		waiting := make(chan error)
		for range 2 { // one for the lock, one for its turn
			go func() { waiting <- st.Append(ctx, one("s", 1)) }()
		}
		for range 2 {
			err := <-waiting
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.True(t, journal.Unclear(err))
		}
		require.NoError(t, stopped.Unlock())
		require.NoError(t, st.Append(t.Context(), one("s", 1)))
		require.Len(t, read(t, st, "s", 0), 2)
	})
}

func TestAClosedStoreSaysSo(t *testing.T) {
	dir := t.TempDir()
	st := openAt(t, dir, Config{Durability: Process})
	require.NoError(t, st.Append(t.Context(), one("s", 0)))
	require.NoError(t, st.Append(t.Context(), one("s", 1)))
	n := 0
	for _, err := range st.Read(t.Context(), "s", 0) { // goes on
		require.NoError(t, err)
		require.NoError(t, st.Close())
		n++
	}
	require.Equal(t, 2, n)
	require.NoError(t, st.Close())
	_, headErr := st.Head(t.Context(), "s")
	var readErr, headsErr error
	for _, readErr = range st.Read(t.Context(), "s", 0) {
	}
	for _, headsErr = range st.Heads(t.Context(), journal.Filter{}) {
	}
	for _, err := range []error{headErr, readErr, headsErr, st.Append(t.Context(), one("s", 2))} {
		require.ErrorIs(t, err, os.ErrClosed)
		require.True(t, journal.Unclear(err))
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for want, open := range map[string]func() (*Store, error){
		"dir is empty":           func() (*Store, error) { return OpenWith("", Config{}) },
		"Config.Durability is 7": func() (*Store, error) { return OpenWith(t.TempDir(), Config{Durability: 7}) },
		"Config.Files is -1":     func() (*Store, error) { return OpenWith(t.TempDir(), Config{Files: -1}) },
		"is a file":              func() (*Store, error) { return OpenWith(file, Config{}) },
	} {
		_, err := open()
		require.ErrorContains(t, err, want)
	}
	_, err := OpenWith(filepath.Join(file, "under"), Config{})
	require.Error(t, err)
}

func TestALogThatCannotBeWrittenIsAnUnclearError(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is read-only for root")
	}
	dir := t.TempDir()
	require.NoError(t, openAt(t, dir, Config{}).Append(t.Context(), one("s", 0)))
	require.NoError(t, os.Chmod(filepath.Join(dir, logName), 0o400))
	err := openAt(t, dir, Config{}).Append(t.Context(), one("s", 1))
	require.ErrorIs(t, err, fs.ErrPermission)
	require.True(t, journal.Unclear(err))
	require.False(t, errors.As(err, new(*CorruptError)))
}
