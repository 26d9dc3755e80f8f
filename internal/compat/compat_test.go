package compat

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/sqlmemory"
	"github.com/pawlkit/pawl/provider/providertest"
)

var heading = regexp.MustCompile(`(?m)^## (v\d+\.\d+\.\d+)\b`)

// TestEachReleaseHasItsFiles: a release adds a folder, and keeps those before it.
func TestEachReleaseHasItsFiles(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	releases := heading.FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, releases)
	for _, r := range releases {
		require.Contains(t, versions(t), r[1], "write them: go test ./internal/compat -run Write -write %s", r[1])
	}
}

// TestARunAndAPlanOfEachVersionGoOnToTheirEnds: what an earlier version left open is finished, and
// what it did isn't done again.
func TestARunAndAPlanOfEachVersionGoOnToTheirEnds(t *testing.T) {
	for _, v := range versions(t) {
		t.Run(v, func(t *testing.T) {
			store, err := sqlite.Open(copyOf(t, v, "journal.db"), sqlite.Config{})
			require.NoError(t, err)
			defer store.Close()
			now := &effects{}
			a := newAgent(t, store, now, providertest.Say("About is recorded and removed."))

			open, err := a.Session(session).Pending(t.Context())
			require.NoError(t, err)
			require.Len(t, open, 1)
			require.Equal(t, "Remove “about”", open[0].Title)
			res, err := a.Run(t.Context(), agent.Resume(session, agent.Approve(open[0].ID).By("ann")))
			require.NoError(t, err)
			require.Equal(t, "About is recorded and removed.", res.Text())
			msgs, err := a.Session(session).Messages(t.Context())
			require.NoError(t, err)
			require.Equal(t, "Record the home page.", msgs[0].Text(), "the run before it is still there")

			plans, err := plan.New(plan.Config{Agent: a})
			require.NoError(t, err)
			state, err := plans.Finish(t.Context(), release)
			require.NoError(t, err)
			require.Equal(t, plan.Completed, state.Status)

			before := load(t, filepath.Join("testdata", v, "effects.txt"))
			done := make(map[string]int)
			for _, line := range append(before, now.lines...) {
				if what, call, _ := strings.Cut(line, " "); what == "done" {
					done[call]++
				}
			}
			require.Len(t, done, 6)
			for call, n := range done {
				require.Equal(t, 1, n, call)
			}
			interrupted := before[len(before)-1]
			require.True(t, strings.HasPrefix(interrupted, "begun publish "))
			require.Contains(t, now.lines, interrupted, "the same call, with the same idempotency key")
		})
	}
}

// TestTheSessionsOfEachVersionAreFollowed: a file that knows no order of changes tells of each
// session, with its whole log.
func TestTheSessionsOfEachVersionAreFollowed(t *testing.T) {
	for _, v := range versions(t) {
		store, err := sqlite.Open(copyOf(t, v, "journal.db"), sqlite.Config{})
		require.NoError(t, err, v)
		older := slices.Contains([]string{"v0.1.0", "before-v0.2", "before-roles"}, v) // than the order of changes
		followed := make(map[string]uint64)
		changes, next, err := journal.Changes(t.Context(), store, "")
		require.NoError(t, err, v)
		for _, c := range changes {
			require.Equal(t, followed[c.Session], c.After, v)
			followed[c.Session] = c.Seq
		}
		for h, err := range store.Heads(t.Context(), journal.Filter{}) {
			require.NoError(t, err, v)
			if older { // one change for all of it
				require.Equal(t, h.Seq, followed[h.Session], "%s: %s", v, h.Session)
			}
			require.LessOrEqual(t, followed[h.Session], h.Seq, "%s: %s", v, h.Session)
			require.NotZero(t, followed[h.Session], "%s: %s", v, h.Session)
		}
		require.Contains(t, followed, session)
		changes, _, err = journal.Changes(t.Context(), store, next)
		require.NoError(t, err, v)
		require.Empty(t, changes, v)
		require.NoError(t, store.Close())
	}
}

// TestTheMemoryOfEachVersionIsRead reads an entry, and replaces it.
func TestTheMemoryOfEachVersionIsRead(t *testing.T) {
	for _, v := range versions(t) {
		store, err := sqlmemory.Open(copyOf(t, v, "memory.db"), sqlmemory.Config{})
		require.NoError(t, err, v)
		e, err := store.Get(t.Context(), note.ID)
		require.NoError(t, err, v)
		require.Equal(t, "make deploy", string(e.Value), v)
		e.Value = []byte("make ship")
		_, err = store.Put(t.Context(), e)
		require.NoError(t, err, v)
		require.NoError(t, store.Close())
	}
}

// TestTheIndexOfEachVersionIsRead: an index can be made again, so a later version may refuse an
// older file. It says so then, with index.ErrDamaged.
func TestTheIndexOfEachVersionIsRead(t *testing.T) {
	for _, v := range versions(t) {
		entries, err := index.Load(copyOf(t, v, "index.jsonl"))
		require.NoError(t, err, v)
		finder, err := index.New(index.Config{Index: entries})
		require.NoError(t, err)
		res, err := finder.Find(t.Context(), "the team page", index.Filter{}, 1)
		require.NoError(t, err)
		hit, ok := res.One()
		require.True(t, ok, v)
		require.Equal(t, members.ID, hit.Item.ID)
	}
}

// versions returns the folders of testdata.
func versions(t *testing.T) (names []string) {
	t.Helper()
	dirs, err := os.ReadDir("testdata")
	require.NoError(t, err)
	for _, d := range dirs {
		names = append(names, d.Name())
	}
	return names
}

// copyOf returns the path of a copy, so that the file of the repository stays as it was written.
func copyOf(t *testing.T, version, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", version, name))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}
