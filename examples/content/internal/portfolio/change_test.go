package portfolio

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func research(a Artifact) Change {
	return Change{User: "ann", Artifact: a.ID, By: ByTool, Tool: TopicResearch, From: Draft, To: Research, Key: "k1",
		Output: map[string]int{"n": 1},
		Sources: []Source{{Type: "reddit", Name: "A thread", URL: "https://example.com/1", Excerpt: "one",
			Relevance: .9}, {Type: "quora", Name: "A question", Excerpt: "two", Relevance: .95}}}
}

func TestAChangeWithAKeyTakesEffectOnce(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	for range 3 {
		_, err := s.Apply(t.Context(), research(a))
		require.NoError(t, err)
	}
	h, err := s.History(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Len(t, h, 1)
	found, err := s.Research(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, "A question", found[0].Name, "the most relevant first")
	out, ok, err := s.Done(t.Context(), "k1")
	require.NoError(t, err)
	require.True(t, ok)
	require.JSONEq(t, `{"n":1}`, string(out))
}

func TestUndoPutsBackWhatWasBefore(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	c := research(a)
	text := "new"
	c.Content, c.Metadata = &text, map[string]any{"sections": 3}
	_, err := s.Apply(t.Context(), c)
	require.NoError(t, err)
	was, err := s.Undo(t.Context(), "ann", "k1", "")
	require.NoError(t, err)
	require.True(t, was)
	now, err := s.Artifact(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Equal(t, Draft, now.Status)
	require.Empty(t, now.Content)
	require.Empty(t, now.Metadata)
	found, err := s.Research(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Empty(t, found)
	was, err = s.Undo(t.Context(), "ann", "k1", "")
	require.NoError(t, err)
	require.False(t, was, "once")
	_, err = s.Apply(t.Context(), c)
	require.NoError(t, err, "it can be done again")
}

func TestUndoGoesBackwards(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	_, err := s.Apply(t.Context(), research(a))
	require.NoError(t, err)
	_, err = s.Apply(t.Context(),
		Change{User: "ann", Artifact: a.ID, By: ByTool, Tool: SkeletonCreator, From: Research, To: Skeleton, Key: "k2"})
	require.NoError(t, err)
	_, err = s.Undo(t.Context(), "ann", "k1", "")
	refused(t, err, Conflict)
	for _, key := range []string{"k2", "k1"} {
		_, err = s.Undo(t.Context(), "ann", key, "")
		require.NoError(t, err)
	}
}

func TestABegunChangeIsRolledBackWhenNobodyCompletesIt(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	force(t, s, a.ID, Skeleton)
	begin := Change{User: "ann", Artifact: a.ID, Holder: "p", By: ByTool, Tool: ContentWriter, From: Skeleton,
		To: Writing, Key: "k", Begins: true}
	require.NoError(t, s.Lock(t.Context(), "ann", a.ID, "p", time.Minute))
	for range 2 {
		_, err := s.Apply(t.Context(), begin)
		require.NoError(t, err)
	}
	n, err := s.RollBackAbandoned(t.Context())
	require.NoError(t, err)
	require.Zero(t, n, "it is locked, so somebody is at work")
	s.now = func() time.Time { return time.Now().Add(2 * time.Minute) }
	n, err = s.RollBackAbandoned(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	now, err := s.Artifact(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Equal(t, Skeleton, now.Status)
}

func TestOneWriterPerArtifact(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	require.NoError(t, s.Lock(t.Context(), "ann", a.ID, "p1", time.Minute))
	require.NoError(t, s.Lock(t.Context(), "ann", a.ID, "p1", time.Minute), "the holder renews")
	refused(t, s.Lock(t.Context(), "ann", a.ID, "p2", time.Minute), Conflict)
	_, err := s.Apply(t.Context(), research(a))
	refused(t, err, Conflict)
	refused(t, s.Delete(t.Context(), "ann", a.ID), Conflict)
	_, err = s.Move(t.Context(), "ann", a.ID, Archived, ByUser)
	refused(t, err, Conflict)
	require.NoError(t, s.Unlock(t.Context(), a.ID, "p2"), "of another holder: nothing happens")
	refused(t, s.Lock(t.Context(), "ann", a.ID, "p2", time.Minute), Conflict)
	require.NoError(t, s.Unlock(t.Context(), a.ID, "p1"))
	require.NoError(t, s.Delete(t.Context(), "ann", a.ID))
	_, err = s.Artifact(t.Context(), "ann", a.ID)
	refused(t, err, ArtifactNotFound)
}

func TestOfManyChangesAtOnceOneWins(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for range 8 {
		wg.Go(func() {
			c := research(a)
			c.Key = newID()
			_, err := s.Apply(context.Background(), c)
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	won := 0
	for err := range errs {
		if err == nil {
			won++
			continue
		}
		refused(t, err, InvalidStatus)
	}
	require.Equal(t, 1, won)
}

func TestArtifactsOfOthersDontExist(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	ctx := t.Context()
	c := research(a)
	c.User = "ben"
	_, applied := s.Apply(ctx, c)
	_, read := s.Artifact(ctx, "ben", a.ID)
	_, found := s.Research(ctx, "ben", a.ID)
	_, history := s.History(ctx, "ben", a.ID)
	_, moved := s.Move(ctx, "ben", a.ID, Archived, ByUser)
	_, image := s.Image(ctx, "ben", "x")
	for _, err := range []error{applied, read, found, history, moved, image, s.Delete(ctx, "ben", a.ID),
		s.Lock(ctx, "ben", a.ID, "p", time.Minute),
		s.StartPipeline(ctx, Pipeline{Name: "p", Artifact: a.ID, User: "ben"})} {
		refused(t, err, ArtifactNotFound)
	}
	all, err := s.Artifacts(ctx, "ben")
	require.NoError(t, err)
	require.Empty(t, all)
}

func TestWhatIsWrongIsRefused(t *testing.T) {
	s := newStore(t)
	for _, tc := range []struct {
		a Artifact
		c Category
	}{
		{Artifact{User: "ann", Type: "poem", Title: "T"}, InvalidContentType},
		{Artifact{User: "ann", Type: Blog, Title: "T", Tone: "sad"}, InvalidTone},
		{Artifact{User: "ann", Type: Blog, Title: " "}, InvalidInput},
		{Artifact{User: "ann", Type: Blog, Title: strings.Repeat("ä", 501)}, InvalidInput},
		{Artifact{User: "ann", Type: Blog, Title: "T", Content: strings.Repeat("x", MaxContent+1)}, InvalidInput},
		{Artifact{User: "zoe", Type: Blog, Title: "T"}, Unauthorized},
	} {
		_, err := s.Create(t.Context(), tc.a)
		refused(t, err, tc.c)
	}
	a := newArtifact(t, s)
	long := strings.Repeat("x", MaxContent+1)
	c := research(a)
	c.Content = &long
	_, err := s.Apply(t.Context(), c)
	refused(t, err, InvalidInput)
	_, ok, err := s.Done(t.Context(), c.Key)
	require.NoError(t, err)
	require.False(t, ok, "nothing of a change that fails is kept")
}

func TestAnArchivedArtifactComesBackAsWhatItIs(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	_, err := s.Move(t.Context(), "ann", a.ID, Archived, ByUser)
	require.NoError(t, err)
	_, err = s.Move(t.Context(), "ann", a.ID, Ready, ByUser)
	refused(t, err, InvalidStatus)
	a, err = s.Move(t.Context(), "ann", a.ID, Draft, ByUser)
	require.NoError(t, err)
	require.Equal(t, Draft, a.Status)
}

func TestSectionsPipelinesAndContextAreKept(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	ctx := t.Context()
	require.NoError(t,
		s.KeepSection(ctx, a.ID, "v1", Section{Position: 1, Body: "text", Sources: 2, Took: time.Second}))
	got, err := s.Sections(ctx, a.ID, "v1")
	require.NoError(t, err)
	require.Equal(t, map[int]Section{1: {1, "text", 2, time.Second}}, got)
	got, err = s.Sections(ctx, a.ID, "v2")
	require.NoError(t, err)
	require.Empty(t, got)
	require.NoError(t, s.DropSections(ctx, a.ID))

	require.NoError(t,
		s.StartPipeline(ctx, Pipeline{Name: "p", Artifact: a.ID, User: "ann", Tools: []string{"a", "b"}, Trace: "t"}))
	refused(t, s.StartPipeline(ctx, Pipeline{Name: "p", Artifact: a.ID, User: "ann"}), Conflict)
	require.NoError(t, s.StopPipeline(ctx, "p", true))
	require.NoError(t, s.StartPipeline(ctx, Pipeline{Name: "q", Artifact: a.ID, User: "ann"}))
	all, err := s.Pipelines(ctx, "ann", a.ID)
	require.NoError(t, err)
	require.Equal(t, []any{"q", false, "p", true}, []any{all[0].Name, all[0].Stopped, all[1].Name, all[1].Stopped})
	p, ok, err := s.PipelineNamed(ctx, "p")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []string{"a", "b"}, p.Tools)
	_, ok, err = s.PipelineNamed(ctx, "r")
	require.NoError(t, err)
	require.False(t, ok)

	require.NoError(t, s.SetContext(ctx, "ben", UserContext{Bio: "B"}))
	c, err := s.Context(ctx, "ben")
	require.NoError(t, err)
	require.Equal(t, "Bio: B", c.Lines())
	require.Equal(t, "(No user context available)", UserContext{}.Lines())
	refused(t, s.SetContext(ctx, "zoe", c), Unauthorized)
	users, err := s.Users(ctx)
	require.NoError(t, err)
	require.Len(t, users, 3)
	_, err = s.Apply(ctx, Change{User: "ann", Artifact: a.ID, From: Draft, To: Draft,
		Images: []Image{{"i1", "image/svg+xml", []byte("<svg/>")}}})
	require.NoError(t, err)
	i, err := s.Image(ctx, "ann", "i1")
	require.NoError(t, err)
	require.Equal(t, "<svg/>", string(i.Data))
}

func TestAFileOfAnotherVersionIsRefused(t *testing.T) {
	s := newStore(t)
	_, err := s.db.Exec("PRAGMA user_version = 7")
	require.NoError(t, err)
	_, err = Open(s.Path())
	require.ErrorContains(t, err,
		"the file has version 7 of the tables, and this program knows version 5; use a newer program")
}

func TestAFileOfAnotherProgramIsRefused(t *testing.T) {
	s := newStore(t)
	_, err := s.db.Exec("ALTER TABLE artifacts RENAME TO pages")
	require.NoError(t, err)
	_, err = Open(s.Path())
	require.ErrorContains(t, err, "the file is that of another program")
}

func TestReferencesAreChecked(t *testing.T) {
	s := newStore(t)
	_, err := s.Create(t.Context(), Artifact{User: "nobody", Type: Blog, Title: "Remote work"})
	require.Error(t, err)
	a := newArtifact(t, s)
	require.NoError(t,
		s.StartPipeline(t.Context(), Pipeline{Name: "p", Artifact: a.ID, User: "ann", Tools: []string{TopicResearch}}))
	require.NoError(t, s.Delete(t.Context(), "ann", a.ID))
	var left int
	require.NoError(t, s.db.QueryRow("SELECT count(*) FROM pipelines").Scan(&left))
	require.Zero(t, left, "they go with their artifact")
}

func TestAFileKeepsEverything(t *testing.T) {
	s := newStore(t)
	a := newArtifact(t, s)
	again, err := Open(s.Path())
	require.NoError(t, err)
	defer again.Close()
	b, err := again.Artifact(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Equal(t, a.Title, b.Title)
	users, err := again.Users(t.Context())
	require.NoError(t, err)
	require.Len(t, users, 3, "seeded once")
}
