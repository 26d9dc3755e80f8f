package recall_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/tools"
)

// files is a disk.
type files map[string]string

func (f files) read(_ context.Context, path string) (string, error) {
	text, ok := f[path]
	if !ok {
		return "", fault.New(fault.NotFound, "no such file")
	}
	return text, nil
}

func snapshots(t *testing.T, cfg recall.SnapshotConfig) (*recall.Snapshots, *desk) {
	t.Helper()
	if cfg.Scope == nil {
		cfg.Scope = recall.OfCall("t")
	}
	s, err := recall.NewSnapshots(cfg)
	require.NoError(t, err)
	return s, newDesk(t, &recall.MapStore{}, "t", s.Tool())
}

func TestAFileIsShownOnceUntilItChangesOrAReset(t *testing.T) {
	disk := files{"a.go": "package a", "empty": ""}
	s, d := snapshots(t, recall.SnapshotConfig{Read: disk.read})
	read := func(session string) string { return d.ok(session, "snapshot.read", object{"path": "a.go"}) }
	require.Equal(t, "package a", read("s"))
	require.Contains(t, read("s"), "unchanged since you read it: 9 bytes")
	require.Equal(t, "package a", read("s2"), "another conversation")
	require.Equal(t, "package a", d.ok("s", "snapshot.read", object{"path": "a.go", "again": true}))
	disk["a.go"] = "package b"
	require.Equal(t, "package b", read("s"), "same length, other text")
	disk["a.go"] = "package a"
	require.Equal(t, "package a", read("s"), "what was shown before the last")
	s.Reset(recall.Scope{Tenant: "t", Session: "s"})
	require.Equal(t, "package a", read("s"))
	require.Contains(t, read("s2"), "unchanged", "only one conversation was compacted")

	delete(disk, "a.go")
	require.Equal(t, fault.NotFound, d.run("s", "", "snapshot.read", object{"path": "a.go"}).Class)
	disk["a.go"] = "package a"
	require.Equal(t, "package a", read("s"), "it was gone in between")
	require.Equal(t, "[the file is empty]", d.ok("s", "snapshot.read", object{"path": "empty"}))
}

func TestACutFileIsNeverReportedAsUnchanged(t *testing.T) {
	disk := files{"a": strings.Repeat("ä", 100)}
	_, d := snapshots(t, recall.SnapshotConfig{Read: disk.read, MostBytes: 51})
	for range 2 {
		require.Equal(t, strings.Repeat("ä", 25)+"\n[cut after 50 of 200 bytes]",
			d.ok("s", "snapshot.read", object{"path": "a"}))
	}
}

// A compaction between the reading of a file and the end of the call: the text isn't taken for one
// that the compacted conversation has.
func TestACompactionDuringAReadIsNotForgotten(t *testing.T) {
	var s *recall.Snapshots
	during := func() {}
	cfg := recall.SnapshotConfig{Read: func(context.Context, string) (string, error) { during(); return "text", nil }}
	s, d := snapshots(t, cfg)
	during = func() { s.Reset(recall.Scope{Tenant: "t", Session: "s"}) }
	require.Equal(t, "text", d.ok("s", "snapshot.read", object{"path": "a"}))
	during = func() { // and the conversation has read something else since
		during = func() {}
		s.Reset(recall.Scope{Tenant: "t", Session: "s"})
		require.Equal(t, "text", d.ok("s", "snapshot.read", object{"path": "b"}))
	}
	require.Equal(t, "text", d.ok("s", "snapshot.read", object{"path": "a"}))
	require.Equal(t, "text", d.ok("s", "snapshot.read", object{"path": "a"}))
	require.Contains(t, d.ok("s", "snapshot.read", object{"path": "a"}), "unchanged")
}

// "Unchanged" is never said of a text that the conversation doesn't have, over random edits,
// compactions and evictions.
func TestUnchangedIsAlwaysTrue(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	disk := files{}
	s, d := snapshots(t, recall.SnapshotConfig{Read: disk.read, Files: 3, Sessions: 2})
	seen := map[string]map[string]string{} // what each conversation holds, newest text by path
	saved, shown := 0, 0
	for i := range 2000 {
		session, path := fmt.Sprint("s", r.IntN(3)), fmt.Sprint("f", r.IntN(4))
		switch r.IntN(12) {
		case 0:
			disk[path] = fmt.Sprint(i)
		case 1:
			disk[path] = "same"
		case 2:
			s.Reset(recall.Scope{Tenant: "t", Session: session})
			delete(seen, session)
		default:
			out := d.run(session, "", "snapshot.read", object{"path": path})
			if _, ok := disk[path]; !ok {
				require.Equal(t, tools.Failed, out.Status)
				continue
			}
			if text := out.Parts[0].Text; strings.Contains(text, "unchanged") {
				saved++
				require.Equal(t, disk[path], seen[session][path])
			} else {
				shown++
				require.Equal(t, disk[path], text)
				if seen[session] == nil {
					seen[session] = map[string]string{}
				}
				seen[session][path] = text
			}
		}
	}
	require.Greater(t, saved, 100)
	require.Greater(t, shown, 100)
}

func TestSnapshotsNeedAReaderAndAScope(t *testing.T) {
	_, err := recall.NewSnapshots(recall.SnapshotConfig{Scope: recall.OfCall("t")})
	require.ErrorContains(t, err, "Read")
	_, err = recall.NewSnapshots(recall.SnapshotConfig{Read: files{}.read})
	require.ErrorContains(t, err, "Scope")
	_, d := snapshots(t,
		recall.SnapshotConfig{Read: files{"a": "b"}.read, Scope: func(context.Context) (recall.Scope, error) {
			return recall.Scope{}, errors.New("unknown")
		}})
	require.Equal(t, tools.Failed, d.run("s", "", "snapshot.read", object{"path": "a"}).Status)
}

func TestAFileOfAnySizeMayBeShown(t *testing.T) {
	_, d := snapshots(t,
		recall.SnapshotConfig{Read: files{"a": strings.Repeat("x", 100_000)}.read, MostBytes: math.MaxInt})
	require.Len(t, d.ok("s", "snapshot.read", object{"path": "a"}), 100_000)
}

func TestRememberedFilesAreLimited(t *testing.T) {
	disk := files{"a": "text a", "b": "text b", "c": "text c"}
	_, d := snapshots(t, recall.SnapshotConfig{Read: disk.read, Files: 2, Sessions: 2})
	shown := func(session, path string) bool {
		return !strings.Contains(d.ok(session, "snapshot.read", object{"path": path}), "unchanged")
	}
	require.True(t, shown("s1", "a"))
	require.True(t, shown("s1", "b"))
	require.False(t, shown("s1", "a"), "two are remembered")
	require.True(t, shown("s1", "c"), "for which the others are forgotten")
	require.True(t, shown("s1", "a"))
	require.False(t, shown("s1", "c"))

	require.True(t, shown("s2", "a"))
	require.False(t, shown("s1", "a"))
	require.True(t, shown("s3", "a"), "for which the one whose turn was longest ago is forgotten")
	require.False(t, shown("s1", "a"))
	require.True(t, shown("s2", "a"))
}

func TestAFileThatWasTooLongIsShownAgainWhenItFits(t *testing.T) {
	disk := files{"a": "short"}
	_, d := snapshots(t, recall.SnapshotConfig{Read: disk.read, MostBytes: 10})
	read := func() string { return d.ok("s", "snapshot.read", object{"path": "a"}) }
	require.Equal(t, "short", read())
	disk["a"] = "much longer than that"
	require.Contains(t, read(), "cut after 10")
	disk["a"] = "short"
	require.Equal(t, "short", read(), "what stands above is another text")
}
