package assistant

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

const written = "# Remote work\n\nA hook that is long. It has a middle. It ends.\n\n## Fewer hand-offs\n\nOne. Two. Three.\n\n" +
	"## Shorter feedback\n\nFour. Five. Six.\n\n## What is left\n\nSeven. Eight. Nine.\n"

// text gives an artifact a text.
func (b *bench) text(t *testing.T, a portfolio.Artifact, content string) {
	t.Helper()
	_, err := b.Store.Apply(t.Context(), portfolio.Change{User: a.User, Artifact: a.ID, By: portfolio.ByUser,
		From: a.Status, To: a.Status, Content: &content})
	require.NoError(t, err)
}

func TestARequestForAnotherTextIsAProposal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	b.text(t, a, written)
	for message, target := range map[string]string{
		"Make it shorter":                        "the whole text",
		"Shorten the introduction":               "the introduction",
		"tighten the conclusion, please":         "the section “What is left”",
		"Make the second section shorter":        "the section “Shorter feedback”",
		"Shorten the section fewer hand-offs":    "the section “Fewer hand-offs”",
		"Cut the first section":                  "the section “Fewer hand-offs”",
		"Remove the section on shorter feedback": "the section “Shorter feedback”",
	} {
		answer := b.say("ann", a.ID, message)
		require.True(t, answer.Success, "%s: %+v", message, answer)
		require.Equal(t, []string{contenttools.ProposeEdit}, answer.ToolsUsed, message)
		require.Contains(t, answer.Message, target+". Nothing has changed yet", message)
		require.Equal(t, written, b.artifact("ann", a.ID).Content, message)
	}
	p, err := b.Store.Proposal(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.NotNil(t, p)
}

func TestATitleIsChangedAndAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	b.text(t, a, written)
	for message, title := range map[string]string{
		`Change the title to "Small teams win"`: "Small teams win", "Rename this to Autumn": "Autumn",
		"change the headline to “Less is faster”.": "Less is faster",
	} {
		answer := b.say("ann", a.ID, message)
		require.True(t, answer.Success, "%s: %+v", message, answer)
		require.Equal(t, title, b.artifact("ann", a.ID).Title, message)
	}
	before := b.artifact("ann", a.ID)
	answer := b.say("ann", a.ID, "Change the title")
	require.True(t, answer.ClarificationNeeded, "%+v", answer)
	require.Equal(t, before, b.artifact("ann", a.ID))
}

func TestASentenceThatForbidsOrAsksProposesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	b.text(t, a, written)
	before := b.artifact("ann", a.ID)
	for _, message := range []string{"Don't make it shorter", "Please don't change the title to X",
		"Should I shorten the introduction?", "Never cut the first section"} {
		b.say("ann", a.ID, message)
		p, err := b.Store.Proposal(t.Context(), "ann", a.ID)
		require.NoError(t, err)
		require.Nil(t, p, message)
		require.Equal(t, before, b.artifact("ann", a.ID), message)
	}
}

func TestAnEditThatTheStandInCantMakeIsSaid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.draft("ann", "Remote work")
	answer := b.say("ann", a.ID, "Make it shorter")
	require.Contains(t, answer.Error.Message, "no text to change")
	b.text(t, a, written)
	answer = b.say("ann", a.ID, "Translate the introduction into French")
	require.False(t, answer.Success)
	require.Contains(t, answer.Error.Message, "would stay the same")
	answer = b.say("ann", a.ID, "Shorten the sixth section")
	require.Contains(t, answer.Error.Message, "there are: Fewer hand-offs, Shorter feedback, What is left")
}
