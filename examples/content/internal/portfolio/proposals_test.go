package portfolio

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const twoSections = "## One\n\nThe first.\n\n## Two\n\nThe second.\n"

func TestAProposalChangesNothingUntilItIsAccepted(t *testing.T) {
	s := newStore(t)
	a := write(t, s, newArtifact(t, s), twoSections)
	p, err := s.Propose(t.Context(), "ann", Proposal{Artifact: a.ID, Target: "the section One",
		Instruction: "shorter", Old: "The first.", New: "First."})
	require.NoError(t, err)
	now, err := s.Artifact(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Equal(t, a, now)
	open, err := s.Proposal(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Equal(t, &p, open)

	a, err = s.Decide(t.Context(), "ann", p.ID, true)
	require.NoError(t, err)
	require.Equal(t, strings.Replace(twoSections, "The first.", "First.", 1), a.Content)
	all, err := s.Versions(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Equal(t, "proposal", all[0].Author)
	open, err = s.Proposal(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Nil(t, open)
	_, err = s.Decide(t.Context(), "ann", p.ID, true)
	refused(t, err, Conflict)
}

func TestARejectedProposalChangesNothing(t *testing.T) {
	s := newStore(t)
	a := write(t, s, newArtifact(t, s), twoSections)
	p, err := s.Propose(t.Context(), "ann", Proposal{Artifact: a.ID, Old: "The first.", New: "First."})
	require.NoError(t, err)
	now, err := s.Decide(t.Context(), "ann", p.ID, false)
	require.NoError(t, err)
	require.Equal(t, a, now)
	_, err = s.Decide(t.Context(), "ann", p.ID, true)
	refused(t, err, Conflict)
}

func TestANewProposalTakesThePlaceOfTheOpenOne(t *testing.T) {
	s := newStore(t)
	a := write(t, s, newArtifact(t, s), twoSections)
	first, err := s.Propose(t.Context(), "ann", Proposal{Artifact: a.ID, Old: "The first.", New: "First."})
	require.NoError(t, err)
	second, err := s.Propose(t.Context(), "ann", Proposal{Artifact: a.ID, Old: "The first.", New: "One."})
	require.NoError(t, err)
	_, err = s.Decide(t.Context(), "ann", first.ID, true)
	refused(t, err, Conflict)
	a, err = s.Decide(t.Context(), "ann", second.ID, true)
	require.NoError(t, err)
	require.Contains(t, a.Content, "One.\n\n## Two")
}

func TestAProposalForATextThatHasChangedIsAConflict(t *testing.T) {
	s := newStore(t)
	a := write(t, s, newArtifact(t, s), twoSections)
	p, err := s.Propose(t.Context(), "ann", Proposal{Artifact: a.ID, Old: "The first.", New: "First."})
	require.NoError(t, err)
	a = write(t, s, a, strings.Replace(twoSections, "The second.", "Another.", 1))
	_, err = s.Decide(t.Context(), "ben", p.ID, true)
	refused(t, err, ArtifactNotFound)
	a = write(t, s, a, "something else")
	_, err = s.Decide(t.Context(), "ann", p.ID, true)
	refused(t, err, Conflict)
	write(t, s, a, twoSections)
	a, err = s.Decide(t.Context(), "ann", p.ID, true)
	require.NoError(t, err, "it stayed open")
	require.Contains(t, a.Content, "First.")
}

func TestWhatCantBeProposed(t *testing.T) {
	s := newStore(t)
	a := write(t, s, newArtifact(t, s), "same same")
	for _, v := range []struct {
		old, new string
		want     Category
	}{{"", "x", InvalidInput}, {"same same", "same same", InvalidInput}, {"gone", "x", Conflict},
		{"same", "x", Conflict}, {"same same", strings.Repeat("x", MaxContent+1), InvalidInput}} {
		_, err := s.Propose(t.Context(), "ann", Proposal{Artifact: a.ID, Old: v.old, New: v.new})
		refused(t, err, v.want)
	}
	_, err := s.Propose(t.Context(), "ben", Proposal{Artifact: a.ID, Old: "same same", New: "x"})
	refused(t, err, ArtifactNotFound)
}
