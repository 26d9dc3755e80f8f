package server_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

func TestVersionsAreListedShownAndRestored(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	id := s.ready("ann")
	path := "/api/artifacts/" + id
	all := s.call("ann", "GET", path+"/versions", nil).ok()
	steps := map[any]bool{}
	for i := range all.at("versions").([]any) {
		steps[all.at("versions", i, "author")] = true
	}
	for _, step := range []string{portfolio.SkeletonCreator, portfolio.ContentWriter, portfolio.VisualsCreator} {
		require.True(t, steps[step], "%v", steps)
	}
	outline := s.call("ann", "GET", path+"/versions/1", nil).ok().str("content")
	require.Equal(t, outline, s.call("ann", "POST", path+"/versions/1/restore", map[string]any{}).ok().str("content"))
	require.Equal(t, "version", s.call("ann", "GET", path+"/versions", nil).ok().str("versions", 0, "author"))

	s.call("ann", "GET", path+"/versions/99", nil).refuses(http.StatusNotFound, portfolio.ArtifactNotFound)
	s.call("ann", "GET", path+"/versions/last", nil).refuses(http.StatusBadRequest, portfolio.InvalidInput)
}

func TestAProposalIsShownAcceptedAndRejected(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	id := s.draft("ann", "Remote work")
	path := "/api/artifacts/" + id
	s.call("ann", "PATCH", path, map[string]any{"content": "A text that is long."}).ok()
	propose := func(to string) string {
		p, err := s.services.Store.Propose(t.Context(), "ann", portfolio.Proposal{Artifact: id,
			Target: "the whole text", Instruction: "shorter", Old: s.artifact("ann", id).str("content"), New: to})
		require.NoError(t, err)
		return "/api/proposals/" + p.ID
	}
	rejected := propose("Short.")
	require.Equal(t, "Short.", s.artifact("ann", id).str("proposal", "new"))
	s.call("ben", "POST", rejected+"/accept", map[string]any{}).refuses(http.StatusNotFound, portfolio.ArtifactNotFound)
	a := s.call("ann", "POST", rejected+"/reject", map[string]any{}).ok()
	require.Equal(t, "A text that is long.", a.str("content"))
	require.NotContains(t, a.raw, `"proposal"`)

	accepted := propose("A short text.")
	require.Equal(t, "A short text.", s.call("ann", "POST", accepted+"/accept", map[string]any{}).ok().str("content"))
	s.call("ann", "POST", accepted+"/accept", map[string]any{}).refuses(http.StatusConflict, portfolio.Conflict)
}

func TestAPassageIsChangedByTheToolOfTheChat(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	id := s.draft("ann", "Remote work")
	path := "/api/artifacts/" + id
	s.call("ann", "PATCH", path, map[string]any{"content": "One. It is two. It is three.\n\nIt is the end."}).ok()
	a := s.call("ann", "POST", path+"/proposals",
		map[string]any{"selection": "It is the end.", "instruction": "friendlier"}).ok()
	require.Equal(t, "It's the end.", a.str("proposal", "new"))
	s.call("ann", "POST", path+"/proposals", map[string]any{"selection": "nowhere. At all.", "instruction": "shorter"}).
		refuses(http.StatusConflict, portfolio.Conflict)
	s.call("ben", "POST", path+"/proposals", map[string]any{"instruction": "shorter"}).
		refuses(http.StatusNotFound, portfolio.ArtifactNotFound)
	s.call("ann", "POST", "/api/proposals/"+a.str("proposal", "id")+"/accept", map[string]any{}).ok()
	all := s.call("ann", "GET", path+"/versions", nil).ok()
	require.Equal(t, "proposal", all.str("versions", 0, "author"))
	require.Equal(t, "user", all.str("versions", 1, "author"))
}

func TestSavesOfASittingAreOneVersionAndNothingIsLostAtAConflict(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	id := s.draft("ann", "Remote work")
	path := "/api/artifacts/" + id
	save := func(at, text string, own bool) answer {
		return s.call("ann", "PATCH", path, map[string]any{"content": text, "updatedAt": at, "newVersion": own})
	}
	first := save(s.artifact("ann", id).str("updatedAt"), "a", true).ok().str("updatedAt")
	second := save(first, "ab", false).ok().str("updatedAt")
	save(first, "ax", false).refuses(http.StatusConflict, portfolio.Conflict)
	save(second, "ax", true).ok() // keep mine
	all := s.call("ann", "GET", path+"/versions", nil).ok()
	require.Len(t, all.at("versions"), 2)
	require.Equal(t, "ab", s.call("ann", "GET", path+"/versions/1", nil).ok().str("content"))
	s.call("ann", "POST", path+"/versions/1/restore", map[string]any{}).ok() // take theirs
	require.Equal(t, "ax", s.call("ann", "GET", path+"/versions/2", nil).ok().str("content"))
}

func TestAnArticleIsExportedWithFootnotes(t *testing.T) {
	t.Parallel()
	s := newSite(t, options{})
	id := s.ready("ann")
	a := s.artifact("ann", id)
	require.Regexp(t, `<a href="#source-\d"[^>]*>\[\d\]</a>`, a.str("html"))
	require.NotContains(t, a.str("html"), "<h1>", "the page shows the title")
	got := s.call("ann", "GET", "/api/artifacts/"+id+"/markdown", nil)
	require.Equal(t, http.StatusOK, got.status)
	require.Regexp(t, `(?s)^---\ntitle: "Remote work"\ntype: blog\n.*---\n\n`, got.raw)
	require.Regexp(t, `\[\^(\d)\]\n(?s).*\n\[\^\d\]: Made up \d: `, got.raw)
	html := s.call("ann", "POST", "/api/artifacts/"+id+"/preview",
		map[string]any{"content": "# Remote work\n\nSo [1] but not [99] or `[1]`."}).ok().str("html")
	require.Equal(t, `<p>So <a href="#source-1" rel="nofollow noreferrer">[1]</a> but not [99] or <code>[1]</code>.</p>`+
		"\n", html)
}
