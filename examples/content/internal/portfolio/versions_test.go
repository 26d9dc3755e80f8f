package portfolio

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// write changes the text of an artifact as its owner.
func write(t testing.TB, s *Store, a Artifact, text string) Artifact {
	t.Helper()
	a, err := s.Apply(t.Context(), Change{User: "ann", Artifact: a.ID, By: ByUser, From: a.Status, To: a.Status,
		Content: &text})
	require.NoError(t, err)
	return a
}

func TestEachStepMakesAVersionAndAPersonOneInTenMinutes(t *testing.T) {
	s := newStore(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	a := newArtifact(t, s)
	all, err := s.Versions(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Empty(t, all, "there is no text yet")

	for i := range 3 {
		now = now.Add(time.Minute)
		a = write(t, s, a, fmt.Sprint("text ", i))
	}
	text := "by a tool"
	c := research(a)
	c.Content = &text
	_, err = s.Apply(t.Context(), c)
	require.NoError(t, err)
	a, err = s.Artifact(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	a = write(t, s, a, "by a person again")
	now = now.Add(11 * time.Minute)
	write(t, s, a, "later")

	all, err = s.Versions(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Len(t, all, 4)
	require.Equal(t, []string{"user", "user", TopicResearch, "user"},
		[]string{all[0].Author, all[1].Author, all[2].Author, all[3].Author})
	require.Equal(t, len("later"), all[0].Length)
	require.Empty(t, all[0].Content)
	v, err := s.Version(t.Context(), "ann", a.ID, 1)
	require.NoError(t, err)
	require.Equal(t, "text 2", v.Content, "the last one of the person's changes")
}

func TestAChangeThatLeavesTheTextMakesNoVersion(t *testing.T) {
	s := newStore(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	a := write(t, s, newArtifact(t, s), "text")
	now = now.Add(time.Hour)
	_, err := s.Apply(t.Context(), Change{User: "ann", Artifact: a.ID, By: ByUser, From: a.Status, To: a.Status,
		Tags: []string{"teams"}})
	require.NoError(t, err)
	all, err := s.Versions(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestAVersionIsRestored(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	a = write(t, s, a, "first")
	force(t, s, a.ID, Published)
	title, text := "Another title", "second"
	_, err := s.Apply(t.Context(), Change{User: "ann", Artifact: a.ID, By: ByUser, From: Published, To: Ready,
		Title: &title, Content: &text, Author: "proposal"})
	require.NoError(t, err)
	force(t, s, a.ID, Published)
	a, err = s.Restore(t.Context(), "ann", a.ID, 1)
	require.NoError(t, err)
	require.Equal(t, "first", a.Content)
	require.Equal(t, "Remote work", a.Title)
	require.Equal(t, Ready, a.Status, "it has to be published again")
	all, err := s.Versions(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Len(t, all, 3, "restoring loses nothing")

	_, err = s.Restore(t.Context(), "ann", a.ID, 9)
	refused(t, err, ArtifactNotFound)
	_, err = s.Version(t.Context(), "ben", a.ID, 1)
	refused(t, err, ArtifactNotFound)
	_, err = s.Versions(t.Context(), "ben", a.ID)
	refused(t, err, ArtifactNotFound)
	require.NoError(t, s.Lock(t.Context(), "ann", a.ID, "a pipeline", time.Minute))
	_, err = s.Restore(t.Context(), "ann", a.ID, 1)
	refused(t, err, Conflict)
}

func TestAChangeThatIsUndoneLeavesItsVersion(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	write(t, s, a, "mine")
	text := "the tool's"
	c := research(a)
	c.Content = &text
	_, err := s.Apply(t.Context(), c)
	require.NoError(t, err)
	_, err = s.Undo(t.Context(), "ann", "k1", "")
	require.NoError(t, err)
	all, err := s.Versions(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.Equal(t, "restore", all[0].Author)
}

func TestOldVersionsGo(t *testing.T) {
	s := newStore(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	a := newArtifact(t, s)
	for i := range MaxVersions + 5 {
		now = now.Add(time.Hour)
		a = write(t, s, a, fmt.Sprint(i))
	}
	all, err := s.Versions(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Len(t, all, MaxVersions)
	require.Equal(t, MaxVersions+5, all[0].Number)
}

func TestAFileOfTheFirstVersionGetsTheNewTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "content.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	first, err := schemas.ReadFile("schema/1.sql")
	require.NoError(t, err)
	_, err = db.Exec(string(first) + `; PRAGMA user_version = 1; INSERT INTO users VALUES ('ann', 'a', 'Ann', 'pro');
		INSERT INTO artifacts (id, user_id, type, title, content, status, tone, tags, metadata, created_at, updated_at)
		VALUES ('a', 'ann', 'blog', 'T', 'before', 'draft', 'formal', '[]', '{}', 1, 1),
		('b', 'ann', 'blog', 'T', '![x](/images/i)', 'ready', 'formal', '[]', '{}', 1, 1);
		INSERT INTO images VALUES ('i', 'b', 'image/png', 'x');
		INSERT INTO pipelines (name, artifact_id, user_id, state, tools, trace, started_at)
		VALUES ('p', 'a', 'ann', 'canceled', 'x', 't', 1)`)
	require.NoError(t, errors.Join(err, db.Close()))
	again, err := Open(path)
	require.NoError(t, err)
	defer again.Close()
	a, err := again.Artifact(t.Context(), "ann", "a")
	require.NoError(t, err)
	write(t, again, a, "text")
	all, err := again.Versions(t.Context(), "ann", "a")
	require.NoError(t, err)
	require.Len(t, all, 2)
	before, err := again.Version(t.Context(), "ann", "a", 1)
	require.NoError(t, err)
	require.Equal(t, "before", before.Content, "the first change isn't the end of the text")
	_, err = again.Propose(t.Context(), "ann", Proposal{Artifact: "b", Old: "x", New: "y"})
	require.NoError(t, err)
	_, err = again.Image(t.Context(), "ann", "i")
	require.NoError(t, err, "the text shows it")
	p, ok, err := again.PipelineNamed(t.Context(), "p")
	require.NoError(t, err)
	require.True(t, ok && p.Stopped)
}
