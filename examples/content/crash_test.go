package main

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/internal/roletest"
)

var kills = flag.Int("kills", 1, "how many processes each test of crashes kills")

// A killed is the program, started again and again over one file, and killed.
type killed struct {
	*caller
	db string
	p  *roletest.Process
}

func newKilled(t *testing.T) *killed {
	k := &killed{db: newFile(t), caller: &caller{t: t}}
	k.start()
	return k
}

// start starts the program, and logs in.
func (k *killed) start() {
	k.t.Helper()
	k.p = roletest.Start(k.t, "serve", "-db", k.db, "-addr", "127.0.0.1:0", "-model", "standin")
	k.caller = login(k.t, k.p.Line(), "eva")
}

// kill kills the program. Its leases end at once, as they would in four seconds.
func (k *killed) kill() {
	k.t.Helper()
	_ = k.p.Process.Kill() // it may be dead already
	for k.p.Line() != "" {
	}
	require.ErrorContains(k.t, k.p.Wait(), "killed")
	k.client.CloseIdleConnections()
	db, err := sql.Open("sqlite", k.db)
	require.NoError(k.t, err)
	for _, q := range []string{"UPDATE pawl_sessions SET until = 1 WHERE until IS NOT NULL",
		"UPDATE artifacts SET locked_until = 1 WHERE locked_until > 0"} {
		_, err := db.Exec(q)
		require.NoError(k.t, err)
	}
	require.NoError(k.t, db.Close())
}

// An article is what the program shows of an artifact.
type article struct {
	ID, Title, Content string
	Status             portfolio.Status
	Pipeline           *struct{ State string }
	Proposal           *portfolio.Proposal
}

// TestCrashesInPipelines kills the program in the middle of pipelines: each one completes, no
// source is stored twice, and no artifact has a status without its content.
func TestCrashesInPipelines(t *testing.T) {
	t.Parallel()
	for n := 0; n < *kills; {
		k := newKilled(t)
		drafts := make([]article, 2)
		for i := range drafts {
			require.NoError(t, k.do("POST", "/api/artifacts", map[string]any{"title": fmt.Sprint("Remote work ", i),
				"type": portfolio.Types[(n+i)%3]}, &drafts[i]))
		}
		for attempt := 0; ; attempt++ {
			for _, d := range drafts { // those that have begun go on by themselves
				go k.do("POST", "/api/content-agent/execute", map[string]any{"screenContext": map[string]any{},
					"sessionId": d.ID,
					"message":   fmt.Sprintf("Create content for artifact %s: %s", d.ID, d.Title)}, &struct{}{})
			}
			end := time.Now().Add(time.Duration(rand.IntN(200<<min(attempt, 4))) * time.Millisecond)
			giveUp := time.Now().Add(2 * time.Minute)
			for !k.ready(drafts) && (n >= *kills || time.Now().Before(end)) {
				require.True(t, time.Now().Before(giveUp), "an artifact doesn't get ready")
				time.Sleep(10 * time.Millisecond)
			}
			done := k.ready(drafts)
			k.kill()
			k.check()
			if done {
				break
			}
			n++
			k.start()
		}
	}
}

// ready reports whether all artifacts are ready.
func (k *killed) ready(drafts []article) bool {
	k.t.Helper()
	return !slices.ContainsFunc(drafts, func(d article) bool {
		var a article
		require.NoError(k.t, k.do("GET", "/api/artifacts/"+d.ID, nil, &a))
		return a.Status != portfolio.Ready
	})
}

// check checks what pipelines have left.
func (k *killed) check() {
	t := k.t
	t.Helper()
	s, err := portfolio.Open(k.db)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	all, err := s.Artifacts(t.Context(), "eva")
	require.NoError(t, err)
	for _, a := range all {
		found, err := s.Research(t.Context(), "eva", a.ID)
		require.NoError(t, err)
		known := map[string]bool{}
		for _, f := range found {
			require.False(t, known[f.Name], "a source is there twice")
			known[f.Name] = true
		}
		at := slices.Index([]portfolio.Status{portfolio.Draft, portfolio.Research, portfolio.Skeleton,
			portfolio.Writing, portfolio.CreatingVisuals, portfolio.Ready}, a.Status)
		require.Equal(t, at >= 1, len(found) > 0, "research of an artifact in %s", a.Status)
		require.Equal(t, at == 2 || at == 3, strings.Contains(a.Content, "[WRITE:"),
			"placeholders of an artifact in %s", a.Status)
		require.Equal(t, at >= 2, a.Content != "", "content of an artifact in %s", a.Status)
		require.Equal(t, at == 5, strings.Contains(a.Content, "!["), "images of an artifact in %s", a.Status)
		versions := k.versions(s, a.ID)
		if a.Content != "" {
			require.Equal(t, a.Content, versions[len(versions)-1].Content, "the newest version is the text")
		}
	}
}

// versions returns the versions of an artifact, the oldest first. Their numbers have no holes.
func (k *killed) versions(s *portfolio.Store, id string) (all []portfolio.Version) {
	k.t.Helper()
	list, err := s.Versions(k.t.Context(), "eva", id)
	require.NoError(k.t, err)
	slices.Reverse(list)
	for i, v := range list {
		require.Equal(k.t, list[0].Number+i, v.Number)
		v, err := s.Version(k.t.Context(), "eva", id, v.Number)
		require.NoError(k.t, err)
		all = append(all, v)
	}
	return all
}

// TestCrashesInEdits kills the program in the middle of autosaves, proposals that are accepted,
// sections that are written again, and restored versions: each text is whole, the current one is
// the newest version, and what was answered is there.
func TestCrashesInEdits(t *testing.T) {
	t.Parallel()
	k := newKilled(t)
	var a article
	require.NoError(t, k.do("POST", "/api/artifacts", map[string]any{"title": "Small teams", "type": "blog"}, &a))
	known := map[string]bool{} // all texts that there have been, or that were under way
	for n := range *kills {
		stop := time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, func() { _ = k.p.Process.Kill() })
		want, err := a.Content, error(nil)
		for i := 0; err == nil; i++ {
			want, err = k.edit(&a, n*10_000+i, known)
		}
		require.False(t, stop.Stop(), "%v", err)
		k.kill()
		now := k.intact(a.ID, known)
		require.Contains(t, []string{a.Content, want}, now, "the last text that was answered, or the one after it")
		k.start()
		require.NoError(t, k.change(&a, "GET", "/api/artifacts/"+a.ID, nil))
		require.Equal(t, now, a.Content)
	}
	k.kill()
	t.Logf("%d kills, %d texts", *kills, len(known))
}

// change makes a request whose answer is the artifact, which a becomes.
func (k *killed) change(a *article, method, path string, in any) error {
	var next article
	err := k.do(method, path, in, &next)
	if err == nil {
		*a = next
	}
	return err
}

// edit makes one change of a, which becomes the answer. want is the text that it asks for.
func (k *killed) edit(a *article, n int, known map[string]bool) (want string, err error) {
	path, want := "/api/artifacts/"+a.ID, a.Content
	if a.Proposal != nil {
		if rand.IntN(4) == 0 {
			return want, k.change(a, "POST", "/api/proposals/"+a.Proposal.ID+"/reject", nil)
		}
		want = strings.Replace(a.Content, a.Proposal.Old, a.Proposal.New, 1)
		known[want] = true
		return want, k.change(a, "POST", "/api/proposals/"+a.Proposal.ID+"/accept", nil)
	}
	switch rand.IntN(5) {
	case 0, 1: // the person writes
		want = fmt.Sprintf("Begin %d. It is short. It ends here.\n\n## Fewer meetings\n\n%s\n\n## The end\n\nEnd %[1]d.\n", n,
			strings.Repeat("One point. It has a second sentence. And a third.\n\n", 1+rand.IntN(200)))
		known[want] = true
		return want, k.change(a, "PATCH", path, map[string]any{"content": want, "newVersion": rand.IntN(2) == 0})
	case 2:
		var all struct{ Versions []portfolio.Version }
		if err := k.do("GET", path+"/versions", nil, &all); err != nil || len(all.Versions) == 0 {
			return want, err
		}
		v := all.Versions[rand.IntN(len(all.Versions))]
		path += fmt.Sprint("/versions/", v.Number)
		if err := k.do("GET", path, nil, &v); err != nil {
			return want, err
		}
		return v.Content, k.change(a, "POST", path+"/restore", nil)
	}
	edit := map[string]any{"instruction": "shorter"}
	if rand.IntN(2) == 0 {
		edit = map[string]any{"again": true, "section": "Fewer meetings"}
	}
	err = k.change(a, "POST", path+"/proposals", edit)
	if _, refused := errors.AsType[*refusal](err); refused { // the limit, or a text without this
		err = nil
	}
	return want, err
}

// intact requires that all versions are whole, and returns the current text.
func (k *killed) intact(id string, known map[string]bool) string {
	k.t.Helper()
	s, err := portfolio.Open(k.db)
	require.NoError(k.t, err)
	defer func() { require.NoError(k.t, s.Close()) }()
	a, err := s.Artifact(k.t.Context(), "eva", id)
	require.NoError(k.t, err)
	versions := k.versions(s, id)
	for _, v := range versions {
		require.True(k.t, known[v.Content], "version %d of %s is no text that there was: %s", v.Number, v.Author,
			v.Content)
	}
	if len(versions) > 0 {
		require.Equal(k.t, a.Content, versions[len(versions)-1].Content)
	}
	return a.Content
}
