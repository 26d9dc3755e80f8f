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
	require.Equal(t, "user", s.call("ann", "GET", path+"/versions", nil).ok().str("versions", 0, "author"))

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
