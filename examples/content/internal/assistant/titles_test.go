package assistant

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/tools"
)

// Whoever is asked about a call reads which article it is about and what it does with it. Of an
// article of somebody else they learn nothing.
func TestTitlesOfCallsNameTheArticle(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	titles := map[string]struct{ more, title string }{
		RunSteps: {`"steps":["topicResearch","skeletonCreator"],"again":true`,
			"Research and outline of “Remote work” again"},
		ContinueWork:                {``, "Continue the work on “Remote work”"},
		contenttools.ProposeEdit:    {`"section":"The end"`, "Propose a change of “Remote work”, section “The end”"},
		contenttools.RenameArtifact: {`"title":"Far away"`, "Rename “Remote work” to “Far away”"},
		contenttools.SetTone:        {`"tone":"formal"`, "Set the tone of “Remote work” to formal"},
		contenttools.SetTags:        {`"tags":["hr","work"]`, "Set the tags of “Remote work” to hr, work"},
		contenttools.Publish:        {``, "Publish “Remote work”"},
		contenttools.Archive:        {`"about":"Another"`, "Archive “Remote work”"},
		contenttools.Reopen:         {``, "Reopen “Remote work”"},
		contenttools.DecideProposal: {`"accept":true`, "Accept the proposal for “Remote work”"},
		contenttools.RestoreVersion: {`"version":3`, "Restore version 3 of “Remote work”"},
		portfolio.TopicResearch:     {`"topic":"x"`, "Research “Remote work”"},
		portfolio.SkeletonCreator:   {`"topic":"x","artifactType":"blog"`, "Outline “Remote work”"},
		portfolio.ContentWriter:     {``, "Write the text of “Remote work”"},
		portfolio.Humanizer:         {``, "Revise “Remote work”"},
		portfolio.VisualsCreator:    {`"style":"minimal"`, "Make the images of “Remote work”"},
	}
	for _, d := range b.Agent.Tools().All() {
		if d.Spec().ReadOnly || d.Name() == contenttools.CreateDraft { // whose article isn't there yet
			continue
		}
		c, ok := titles[d.Name()]
		require.True(t, ok, "the title of %s isn't tested", d.Name())
		input := `{"artifactId":"` + a.ID + `"`
		if c.more != "" {
			input += "," + c.more
		}
		call := &tools.Call{Name: d.Name(), User: "ann", Input: json.RawMessage(input + "}")}
		require.Equal(t, c.title, d.Title(tools.WithCall(t.Context(), call), call.Input))
		call.User = "ben"
		require.NotContains(t, d.Title(tools.WithCall(t.Context(), call), call.Input), "Remote work", d.Name())
	}
}
