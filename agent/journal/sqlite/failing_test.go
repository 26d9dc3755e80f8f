package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/internal/roletest"
)

// raw opens a file past the store.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func one(session string, after uint64) journal.Append {
	return journal.Append{Session: session, After: after, Records: []journal.Record{numbered(after + 1)}}
}

// holds checks that session s has exactly the records 1 to n.
func holds(t *testing.T, s journal.Store, n uint64) {
	t.Helper()
	last := uint64(0)
	for r, err := range s.Read(context.Background(), "s", 0) {
		require.NoError(t, err)
		last++
		require.Equal(t, last, r.Seq)
		require.Equal(t, string(numbered(last).Data), string(r.Data))
	}
	require.Equal(t, n, last)
}

func TestAFileThatCannotGrowKeepsWhatItHas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path, sqlite.Config{})
	require.NoError(t, s.LimitPages(75))
	var n uint64
	var err error
	for err == nil {
		if err = s.Append(t.Context(), one("s", n)); err == nil {
			n++
		}
	}
	require.ErrorIs(t, err, sqlite.ErrFull)
	require.ErrorIs(t, err, journal.ErrUnusable)
	require.True(t, journal.Unclear(err))
	require.Greater(t, n, uint64(50))
	for _, err := range []error{s.Append(t.Context(), one("s", n)),
		s.Append(t.Context(), journal.Append{Session: "other",
			Records: []journal.Record{{Kind: "k", Data: make([]byte, 100<<10)}},
			Head:    &journal.HeadUpdate{Status: "new"}})} {
		require.ErrorIs(t, err, sqlite.ErrFull)
	}
	holds(t, s, n)
	_, err = s.Head(t.Context(), "other")
	require.ErrorIs(t, err, journal.ErrNoSession, "half of an append was kept")

	require.NoError(t, s.Delete(t.Context(), "s", n/2), "pruning makes room")
	require.NoError(t, s.Append(t.Context(), one("s", n)))
}

func TestAnotherProcessThatKeepsTheLockIsWaitedForAndNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path, sqlite.Config{Busy: 30 * time.Millisecond})
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	other := raw(t, path)
	_, err := other.Exec("BEGIN IMMEDIATE")
	require.NoError(t, err)

	err = s.Append(t.Context(), one("s", 1))
	require.ErrorIs(t, err, sqlite.ErrBusy)
	require.True(t, journal.Unclear(err))
	_, err = s.Lease(t.Context(), "s", "a", time.Minute)
	require.ErrorIs(t, err, sqlite.ErrBusy)
	holds(t, s, 1) // readers don't wait

	_, err = other.Exec("COMMIT")
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), one("s", 1)))
	holds(t, s, 2)
}

func TestWaitingForTheLockEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path, sqlite.Config{Busy: time.Hour})
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	other := raw(t, path)
	_, err := other.Exec("BEGIN IMMEDIATE")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	second := make(chan error, 1)
	go func() { second <- s.Append(ctx, one("t", 0)) }() // one waits for the file, one for its turn
	require.ErrorIs(t, s.Append(ctx, one("s", 1)), context.DeadlineExceeded)
	require.ErrorIs(t, <-second, context.DeadlineExceeded)
	_, err = other.Exec("ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), one("s", 1)))
}

func TestAFileThatIsNoDatabaseIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	letter := []byte("this is a letter, and not a database at all; it is long enough to be read as one")
	require.NoError(t, os.WriteFile(path, letter, 0o600))
	_, err := sqlite.Open(path, sqlite.Config{})
	require.ErrorIs(t, err, sqlite.ErrDamaged)
	require.ErrorContains(t, err, path)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, letter, kept)
}

func TestADamagedFileIsAnErrorAndNeverAShortLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s, err := sqlite.Open(path, sqlite.Config{})
	require.NoError(t, err)
	fill(t, s, "s", 3000)
	require.NoError(t, s.Close())
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	noise := make([]byte, 64<<10)
	for i := range noise {
		noise[i] = byte(i * 7)
	}
	_, err = f.WriteAt(noise, info.Size()/2/4096*4096)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	s = open(t, path, sqlite.Config{})
	n := 0
	var end error
	for _, err := range s.Read(t.Context(), "s", 0) {
		if end = err; err == nil {
			n++
		}
	}
	require.ErrorIs(t, end, sqlite.ErrDamaged)
	require.Less(t, n, 3000)
}

func TestARecordThatIsMissingIsAnErrorAndNeverSkipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path, sqlite.Config{})
	fill(t, s, "s", 10)
	_, err := raw(t, path).Exec("DELETE FROM pawl_records WHERE seq = 7")
	require.NoError(t, err)
	var got []uint64
	var end error
	for r, err := range s.Read(t.Context(), "s", 0) {
		if end = err; err == nil {
			got = append(got, r.Seq)
		}
	}
	require.Equal(t, []uint64{1, 2, 3, 4, 5, 6}, got)
	require.ErrorContains(t, end, "record 7 of 10 is missing")
}

func TestAReaderOfASessionThatIsReplacedIsTold(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{})
	fill(t, s, "s", 2000)
	last := uint64(0)
	var end error
	for r, err := range s.Read(t.Context(), "s", 0) {
		if end = err; err != nil {
			continue
		}
		if last = r.Seq; last == 1 {
			require.NoError(t, s.Delete(t.Context(), "s", journal.All))
			fill(t, s, "s", 3000)
		}
	}
	require.Less(t, last, uint64(2000))
	var pruned *journal.PrunedError
	require.ErrorAs(t, end, &pruned)
	require.Equal(t, journal.PrunedError{Session: "s", After: last, UpTo: journal.All}, *pruned)
}

func TestAClosedStoreSaysSo(t *testing.T) {
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.ErrorContains(t, s.Append(t.Context(), one("s", 1)), "closed")
	_, err = s.Head(t.Context(), "s")
	require.ErrorContains(t, err, "closed")
}

// appendUnwritable opens a file that it may only read.
func appendUnwritable(args []string) error {
	if f, err := os.OpenFile(args[0], os.O_RDWR, 0); err == nil {
		return errors.Join(errors.New("the file can be written to"), f.Close())
	}
	s, err := sqlite.Open(args[0], sqlite.Config{})
	if err != nil {
		fmt.Println("open", errors.Is(err, sqlite.ErrReadOnly), err)
		return nil
	}
	defer s.Close()
	err = s.Append(context.Background(), one("s", 1))
	fmt.Println("append", errors.Is(err, sqlite.ErrReadOnly), err)
	return nil
}

func TestAFileThatCanOnlyBeReadSaysSo(t *testing.T) {
	dir, err := os.MkdirTemp("", "pawl")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "runs.db")
	s, err := sqlite.Open(path, sqlite.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Append(t.Context(), one("s", 0)))
	require.NoError(t, s.Close())
	require.NoError(t, os.Chmod(path, 0o444))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })

	for _, mode := range []os.FileMode{0o555, 0o777} { // of the folder
		require.NoError(t, os.Chmod(dir, mode))
		cmd := roletest.Command(t.Context(), "unwritable", path)
		cmd.Dir = dir
		roletest.AsNobody(t, cmd)
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", said)
		require.Contains(t, string(said), "open true ", "it is an error of Open")
	}
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(path, 0o600))
	holds(t, open(t, path, sqlite.Config{}), 1)
}

// A file that is deleted or replaced while it is open is noticed when a lease is renewed. Nobody
// else would see what is appended to it.
func TestAFileThatIsReplacedIsNoticedAtTheNextRenewal(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"replaced": func(path string) error { return os.Rename(path+".new", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runs.db")
			require.NoError(t, os.WriteFile(path+".new", nil, 0o600))
			s := open(t, path, sqlite.Config{})
			l, err := s.Lease(t.Context(), "s", "a", time.Minute)
			require.NoError(t, err)
			l, err = s.Renew(t.Context(), l, time.Minute)
			require.NoError(t, err)
			if err := change(path); err != nil {
				t.Skip("the system doesn't allow it:", err)
			}
			_, err = s.Renew(t.Context(), l, time.Minute)
			require.ErrorIs(t, err, sqlite.ErrReplaced)
			require.ErrorIs(t, err, journal.ErrUnusable)
			_, err = s.Lease(t.Context(), "t", "a", time.Minute)
			require.ErrorIs(t, err, sqlite.ErrReplaced)
		})
	}
}
