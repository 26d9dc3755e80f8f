package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/file"
)

var overwrite = file.WriteOptions{Overwrite: true}

func write(t testing.TB, tree file.Tree, name, text string) {
	t.Helper()
	c, err := tree.Read(t.Context(), name)
	if err != nil {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	_, err = tree.Write(t.Context(), name, []byte(text), file.WriteOptions{Version: c.Version})
	require.NoError(t, err)
}

func person(t testing.TB, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func merge(t testing.TB, s *file.Staging) *file.MergeResult {
	t.Helper()
	res, err := s.Merge(t.Context())
	require.NoError(t, err)
	return res
}

func TestStagedChangesAreInvisibleBeforeTheMerge(t *testing.T) {
	c := content{"a.txt": "one\n", "b.txt": "two\n", "c.txt": "three\n"}
	ws, dir := workspace(t, file.Config{}, c)
	s := stage(t, ws)
	write(t, s, "a.txt", "ONE\n")
	write(t, s, "new/n.txt", "new\n")
	require.NoError(t, s.Remove(t.Context(), "b.txt", ""))
	_, err := s.Move(t.Context(), "c.txt", "d.txt", "")
	require.NoError(t, err)

	require.Equal(t, c, files(t, dir), "nothing has changed")
	require.Contains(t, good(t, s, "file.read", in{"path": "a.txt"}), "\nONE\n", "but its own tools see it")
	require.Equal(t, "a.txt  4\nd.txt  6\nnew/\nnew/n.txt  4", good(t, s, "file.list", in{"depth": 5}))
	require.Equal(t, "a.txt:1: ONE\n[1 match in 3 files searched]", good(t, s, "file.search", in{"pattern": "ONE"}))
	require.Equal(t, "no matches in 3 files", good(t, s, "file.search", in{"pattern": "two"}))
	require.Equal(t, []file.Change{{Name: "a.txt", Action: file.Replace}, {Name: "b.txt", Action: file.Delete},
		{Name: "c.txt", Action: file.Delete}, {Name: "d.txt", Action: file.Create},
		{Name: "new/n.txt", Action: file.Create}}, s.Changes())

	diff, err := s.Diff(t.Context())
	require.NoError(t, err)
	require.Equal(t, `--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-one
+ONE
--- a/b.txt
+++ /dev/null
@@ -1 +0,0 @@
-two
--- a/c.txt
+++ /dev/null
@@ -1 +0,0 @@
-three
--- /dev/null
+++ b/d.txt
@@ -0,0 +1 @@
+three
--- /dev/null
+++ b/new/n.txt
@@ -0,0 +1 @@
+new
`, diff)
	require.Len(t, merge(t, s).Applied, 5)
	require.Equal(t, content{"a.txt": "ONE\n", "d.txt": "three\n", "new/n.txt": "new\n"}, files(t, dir))
	require.Empty(t, s.Changes())
	require.Empty(t, merge(t, s).Applied, "merging again does nothing")
}

// The possible changes of a file in the staging and, in the meantime, in the workspace, and the
// result of the merge.
func TestThePersonsEditAlwaysWins(t *testing.T) {
	const (
		base   = "1\n2\n3\n4\n5\n"
		ours   = "ONE\n2\n3\n4\n5\n"
		theirs = "1\n2\n3\n4\nFIVE\n"
		clash  = "EINS\n2\n3\n4\n5\n"
		none   = ""
	)
	for _, tt := range []struct {
		name             string
		base, ours, live string // "": no file
		blind            bool   // written without being read
		want             string
		conflict         string
		applied          int
	}{
		{name: "only read", base: base, ours: base, live: theirs, want: theirs},
		{name: "only read, and deleted", base: base, ours: base, live: none, want: none},
		{name: "changed by us", base: base, ours: ours, live: base, want: ours, applied: 1},
		{name: "changed by both, apart", base: base, ours: ours, live: theirs, want: "ONE\n2\n3\n4\nFIVE\n",
			applied: 1},
		{name: "changed by both, at one place", base: base, ours: ours, live: clash, want: clash,
			conflict: "the same lines were changed in the meantime, in 1 place"},
		{name: "changed by both to the same", base: base, ours: ours, live: ours, want: ours},
		{name: "changed by us, deleted by them", base: base, ours: ours, live: none, want: none,
			conflict: "it was deleted in the meantime"},
		{name: "deleted by us", base: base, ours: none, live: base, want: none, applied: 1},
		{name: "deleted by us, changed by them", base: base, ours: none, live: theirs, want: theirs,
			conflict: "the staging deletes it, but it was changed in the meantime"},
		{name: "deleted by both", base: base, ours: none, live: none, want: none},
		{name: "created by us", base: none, ours: ours, live: none, want: ours, applied: 1},
		{name: "created by both", base: none, ours: ours, live: theirs, want: theirs,
			conflict: "it was written without being read, and it exists"},
		{name: "created by both, the same", base: none, ours: ours, live: ours, want: ours},
		{name: "blind", base: base, ours: ours, live: base, blind: true, want: base,
			conflict: "it was written without being read, and it exists"},
		{name: "blind, deleted in the meantime", base: base, ours: ours, live: none, blind: true, want: ours,
			applied: 1},
		{name: "blind, the same", base: base, ours: ours, live: ours, blind: true, want: ours},
		{name: "binary", base: "\x00", ours: "\x00a", live: "\x00b", want: "\x00b",
			conflict: "it is binary, and was changed in the meantime"},
		{name: "binary, by us", base: "\x00", ours: "\x00a", live: "\x00", want: "\x00a", applied: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := content{}
			if tt.base != none {
				c["f"] = tt.base
			}
			ws, dir := workspace(t, file.Config{}, c)
			s := stage(t, ws)
			if !tt.blind && tt.base != none {
				_, err := s.Read(t.Context(), "f")
				require.NoError(t, err)
			}
			switch {
			case tt.ours != none && tt.blind:
				_, err := s.Write(t.Context(), "f", []byte(tt.ours), overwrite)
				require.NoError(t, err)
			case tt.ours != none:
				write(t, s, "f", tt.ours)
			default:
				require.NoError(t, s.Remove(t.Context(), "f", ""))
			}
			if tt.live == none {
				_ = os.Remove(filepath.Join(dir, "f"))
			} else {
				person(t, dir, "f", tt.live)
			}
			before := files(t, dir)
			diff, err := s.Diff(t.Context())
			require.NoError(t, err)
			require.Equal(t, tt.conflict != "", strings.Contains(diff, "# conflict in f: "+tt.conflict), diff)
			require.Equal(t, tt.conflict != "" || tt.applied > 0, diff != "")
			require.Equal(t, before, files(t, dir))

			res := merge(t, s)
			require.Len(t, res.Applied, tt.applied)
			want := content{}
			if tt.want != none {
				want["f"] = tt.want
			}
			require.Equal(t, want, files(t, dir))
			if tt.conflict == "" {
				require.Empty(t, res.Conflicts)
				require.Empty(t, s.Changes())
				return
			}
			require.Len(t, res.Conflicts, 1)
			got := res.Conflicts[0]
			require.Equal(t, tt.conflict, got.Reason)
			require.Equal(t, tt.live, string(got.Theirs))
			require.Equal(t, tt.ours, string(got.Ours))
			require.Equal(t, tt.live == none, got.Theirs == nil)
			if !tt.blind {
				require.Equal(t, tt.base, string(got.Base))
			}
			require.Len(t, s.Changes(), 1, "it stays staged")
		})
	}
}

func TestAConflictBlocksTheMerge(t *testing.T) {
	ws, dir := workspace(t, file.Config{}, content{"a": "1\n", "b": "1\n"})
	s := stage(t, ws)
	write(t, s, "a", "2\n")
	write(t, s, "b", "2\n")
	person(t, dir, "a", "3\n")
	res := merge(t, s)
	require.Empty(t, res.Applied)
	require.Equal(t, content{"a": "3\n", "b": "1\n"}, files(t, dir))
	require.Len(t, res.Conflicts, 1)

	require.NoError(t, s.Drop("a"))
	res = merge(t, s)
	require.Equal(t, []file.Change{{Name: "b", Action: file.Replace}}, res.Applied)
	require.Equal(t, content{"a": "3\n", "b": "2\n"}, files(t, dir))
	require.Empty(t, s.Changes())
	require.Contains(t, good(t, s, "file.read", in{"path": "a"}), "\n3\n")
}

func TestADirectoryOrLinkInPlaceOfAFileIsAConflict(t *testing.T) {
	ws, dir := workspace(t, file.Config{}, content{"a": "1\n", "d/b": "1\n", "e/x": ""})
	s := stage(t, ws)
	write(t, s, "a", "2\n")
	write(t, s, "d/b", "2\n")
	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "a"), 0o755))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "d")))
	require.NoError(t, os.Symlink("e", filepath.Join(dir, "d")))
	before := files(t, dir)
	res := merge(t, s)
	require.Len(t, res.Conflicts, 2)
	require.Equal(t, "it is a directory; name a file", res.Conflicts[0].Reason)
	require.Equal(t, "one of its directories has become a symbolic link", res.Conflicts[1].Reason)
	require.Equal(t, before, files(t, dir))
}

// A merge that fails halfway reverts its changes.
func TestAFailedMergeRevertsItsChanges(t *testing.T) {
	c := content{"a": "1\n", "b": "1\n", "gone": "1\n"}
	ws, dir := workspace(t, file.Config{}, c)
	s := stage(t, ws)
	write(t, s, "a", "2\n")
	write(t, s, "b", "2\n")
	write(t, s, "created", "2\n")
	require.NoError(t, s.Remove(t.Context(), "gone", ""))
	failed := 0
	for after := 0; ; after++ { // at every possible moment
		res, err := s.Merge(&fuse{Context: t.Context(), left: after})
		if err == nil {
			require.Len(t, res.Applied, 4)
			require.Equal(t, content{"a": "2\n", "b": "2\n", "created": "2\n"}, files(t, dir))
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, res == nil || len(res.Applied) == 0)
		require.Equal(t, c, files(t, dir))
		require.Len(t, s.Changes(), 4, "all of it stays staged")
		failed++
	}
	require.Greater(t, failed, 8)
}

// A fuse is a context that ends after a number of calls of Err.
type fuse struct {
	context.Context
	left int
}

func (f *fuse) Err() error {
	if f.left--; f.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestConcurrentMergesKeepBothChanges(t *testing.T) {
	const n = 8
	var base strings.Builder
	for i := range 2 * n {
		fmt.Fprintf(&base, "line %d\n", i)
	}
	ws, dir := workspace(t, file.Config{}, content{"shared": base.String()})
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		s := stage(t, ws)
		write(t, s, "shared",
			strings.Replace(base.String(), fmt.Sprintf("line %d\n", 2*i), fmt.Sprintf("line %d by %d\n", 2*i, i), 1))
		write(t, s, fmt.Sprintf("own%d", i), "x")
		all.Go(func() {
			<-start
			res, err := s.Merge(t.Context())
			if err != nil || len(res.Conflicts) > 0 {
				t.Error(err, res)
			}
		})
	}
	close(start)
	all.Wait()
	got := files(t, dir)
	require.Len(t, got, n+1)
	want := base.String()
	for i := range n {
		want = strings.Replace(want, fmt.Sprintf("line %d\n", 2*i), fmt.Sprintf("line %d by %d\n", 2*i, i), 1)
	}
	require.Equal(t, want, got["shared"])
}

func TestAStagingSurvivesItsProcess(t *testing.T) {
	ws, dir := workspace(t, file.Config{Sync: true}, content{"a": "1\n", "b": "1\n", "r": "1\n"})
	at := filepath.Join(t.TempDir(), "staging")
	s, err := ws.Stage(at)
	require.NoError(t, err)
	write(t, s, "a", "2\n")
	write(t, s, "n", "2\n")
	_, err = s.Read(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, s.Remove(t.Context(), "b", ""))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	_, err = s.Read(t.Context(), "a")
	require.ErrorIs(t, err, os.ErrClosed)

	// A crash cut the last line of the log.
	log, err := os.OpenFile(filepath.Join(at, "changes.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = log.WriteString(`{"name":"half`)
	require.NoError(t, errors.Join(err, log.Close()))
	person(t, dir, "r", "person\n")

	s, err = ws.Stage(at)
	require.NoError(t, err)
	require.Len(t, s.Changes(), 3)
	require.Contains(t, good(t, s, "file.read", in{"path": "r"}), "\n1\n", "what was read stays as it was read")
	require.Len(t, merge(t, s).Applied, 3)
	require.Equal(t, content{"a": "2\n", "n": "2\n", "r": "person\n"}, files(t, dir))
	require.NoError(t, s.Cleanup())
	require.NoError(t, s.Cleanup())
	require.NoDirExists(t, at)
}

func TestAStagingRejectsAForeignDirectory(t *testing.T) {
	ws, dir := workspace(t, file.Config{}, content{"a": "1\n"})
	for _, at := range []string{dir, filepath.Join(dir, "sub"), filepath.Join(dir, "sub", "deep")} {
		_, err := ws.Stage(at)
		require.ErrorContains(t, err, "inside the workspace")
	}
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	_, err := ws.Stage(filepath.Join(link, "sub"))
	require.ErrorContains(t, err, "inside the workspace")
	require.Equal(t, content{"a": "1\n"}, files(t, dir))

	other := t.TempDir()
	person(t, other, "mine.txt", "mine")
	_, err = ws.Stage(other)
	require.ErrorContains(t, err, "has other files")
	require.Equal(t, content{"mine.txt": "mine"}, files(t, other))

	s, err := ws.Stage("")
	require.NoError(t, err)
	require.NoError(t, s.Cleanup())
}

func TestAStagingStoresNoMoreThanItsLimit(t *testing.T) {
	ws, _ := workspace(t, file.Config{MaxStaged: 10}, content{"a": "12345", "b": "123456"})
	s := stage(t, ws)
	_, err := s.Read(t.Context(), "a")
	require.NoError(t, err)
	_, err = s.Read(t.Context(), "b")
	require.ErrorIs(t, err, file.ErrTooLarge)
	require.Equal(t, fault.Invalid, fault.Of(err))
	for range 5 { // replaced contents are deleted
		write(t, s, "a", "54321")
		write(t, s, "a", "abcde")
	}
	_, err = s.Write(t.Context(), "n", []byte("x"), overwrite)
	require.ErrorIs(t, err, file.ErrTooLarge)
	require.NoError(t, s.Drop("a"))
	_, err = s.Write(t.Context(), "n", []byte("x"), overwrite)
	require.NoError(t, err)
}

// An agent and a person make random changes, merged at random moments. The person's last change is
// in the workspace, or in a conflict that nobody merged; the agent's change is in the workspace
// unless it conflicts.
func TestRandomChangesLoseNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 15 {
		ws, dir := workspace(t, file.Config{}, nil)
		s := stage(t, ws)
		agent := map[string]string{} // changes not merged yet; "": deleted
		persons := content{}         // the workspace
		for n := range 60 {
			name := fmt.Sprintf("f%d", r.IntN(5))
			text := fmt.Sprintf("%d\n", n)
			switch r.IntN(7) {
			case 0, 1:
				_, err := s.Write(t.Context(), name, []byte(text), overwrite)
				require.NoError(t, err)
				agent[name] = text
			case 2:
				if _, err := s.Stat(t.Context(), name); err == nil {
					require.NoError(t, s.Remove(t.Context(), name, ""))
					agent[name] = ""
					if !slices.ContainsFunc(s.Changes(), func(c file.Change) bool { return c.Name == name }) {
						delete(agent, name) // the agent had created the file
					}
				}
			case 3:
				_, _ = s.Read(t.Context(), name)
			case 4:
				person(t, dir, name, text)
				persons[name] = text
			case 5:
				_ = os.Remove(filepath.Join(dir, name))
				delete(persons, name)
			case 6:
				res := merge(t, s)
				for _, c := range res.Conflicts {
					require.Equal(t, persons[c.Name], string(c.Theirs))
					require.Equal(t, agent[c.Name], string(c.Ours))
					require.NoError(t, s.Drop(c.Name))
				}
				if len(res.Conflicts) > 0 {
					require.Empty(t, res.Applied)
					res = merge(t, s)
				}
				for _, c := range res.Applied {
					require.False(t, c.Merged, "texts of one line don't merge")
					if agent[c.Name] == "" {
						require.Equal(t, file.Delete, c.Action)
						delete(persons, c.Name)
					} else {
						persons[c.Name] = agent[c.Name]
					}
				}
				agent = map[string]string{}
			}
			require.Equal(t, persons, files(t, dir))
			for name, text := range agent {
				c, err := s.Read(t.Context(), name)
				if text == "" {
					require.ErrorIs(t, err, fs.ErrNotExist)
				} else {
					require.NoError(t, err)
					require.Equal(t, text, string(c.Data))
				}
			}
		}
	}
}

func TestAMergeResultIsJSON(t *testing.T) {
	ws, _ := workspace(t, file.Config{}, nil)
	text, err := json.Marshal(merge(t, stage(t, ws)))
	require.NoError(t, err)
	require.JSONEq(t, `{"applied":[],"conflicts":[],"unchanged":[]}`, string(text))
}
