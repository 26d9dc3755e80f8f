package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
	"github.com/pawlkit/pawl/examples/cms/internal/sessions"
)

// roleVar makes the test binary play another process: one that appends as many records as it can.
const roleVar = "PAWL_SESSIONS_WRITER"

func TestMain(m *testing.M) {
	if name := os.Getenv(roleVar); name != "" {
		if err := appendMany(os.Args[1], name, os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, path string) *sessions.Store {
	t.Helper()
	s, err := sessions.Open(context.Background(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestStoreKeepsTheContract(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store { return open(t, filepath.Join(t.TempDir(), "runs.db")) })
}

func TestWhatWasAppendedIsThereAfterOpeningAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs of a site?#%.db")
	first, err := sessions.Open(t.Context(), path)
	require.NoError(t, err)
	lease, err := first.Lease(t.Context(), "s", "one", time.Hour)
	require.NoError(t, err)
	at := time.Now()
	require.NoError(t, first.Append(t.Context(), journal.Append{Session: "s", Fence: lease.Fence,
		Records: []journal.Record{{Time: at, Kind: "k", V: 1, Data: []byte("one")}},
		Head:    &journal.HeadUpdate{Status: "paused", Open: []journal.Open{{ID: "p", Kind: "approval", Title: "t", Expires: at}}}}))
	require.NoError(t, first.Post(t.Context(), "s", journal.Item{ID: "i", Kind: "steer", Data: []byte("x")}))
	require.NoError(t, first.Close())

	second := open(t, path)
	head, err := second.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, "paused", head.Status)
	require.Equal(t, []journal.Open{{ID: "p", Kind: "approval", Title: "t", Expires: at.Round(0).UTC()}}, head.Open)
	require.Equal(t, "one", head.Owner)
	require.Equal(t, 1, head.Inbox)
	for r, err := range second.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.Equal(t, journal.Record{Seq: 1, Time: at.Round(0).UTC(), Kind: "k", V: 1, Data: []byte("one")}, r)
	}
	other, err := second.Lease(t.Context(), "t", "two", time.Hour)
	require.NoError(t, err)
	require.Greater(t, other.Fence, lease.Fence)
}

func TestProcessesThatCreateOneFileTogetherLoseNothing(t *testing.T) {
	const writers, each = 3, 20
	path := filepath.Join(t.TempDir(), "runs.db")
	var all sync.WaitGroup
	for w := range writers {
		cmd := exec.Command(os.Args[0], path, strconv.Itoa(each))
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=w%d", roleVar, w))
		all.Go(func() {
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
	all.Wait()
	s := open(t, path)
	got := map[string]int{}
	last := uint64(0)
	for r, err := range s.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		require.Equal(t, last+1, r.Seq)
		last = r.Seq
		got[string(r.Data)]++
	}
	require.EqualValues(t, writers*each, last)
	for w := range writers {
		require.Equal(t, each, got[fmt.Sprintf("w%d", w)])
	}
}

// appendMany appends records to one session that others write to, each after whatever is the last one.
func appendMany(path, name, count string) error {
	ctx := context.Background()
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	s, err := sessions.Open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	for i, after := 0, uint64(0); i < n; {
		err := s.Append(ctx, journal.Append{Session: "s", After: after,
			Records: []journal.Record{{Time: time.Unix(int64(i), 0), Kind: "k", V: 1, Data: []byte(name)}}})
		var conflict *journal.ConflictError
		if errors.As(err, &conflict) {
			after = conflict.HaveSeq
			continue
		}
		if err != nil {
			return err
		}
		after++
		i++
	}
	return nil
}

func TestAFileThatIsNoDatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	require.NoError(t, os.WriteFile(path, []byte("this is a letter, and not a database at all; it is long enough to be read"), 0o600))
	_, err := sessions.Open(t.Context(), path)
	require.ErrorContains(t, err, path)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(kept), "this is a letter")
}

func BenchmarkAppend(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "runs.db"))
	lease, err := s.Lease(b.Context(), "s", "one", time.Hour)
	require.NoError(b, err)
	data := make([]byte, 500)
	b.ReportAllocs()
	for after := uint64(0); b.Loop(); after++ {
		err := s.Append(b.Context(), journal.Append{Session: "s", After: after, Fence: lease.Fence,
			Records: []journal.Record{{Kind: "k", V: 1, Data: data}}})
		if err != nil {
			b.Fatal(err)
		}
	}
}
