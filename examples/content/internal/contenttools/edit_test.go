package contenttools

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
)

const article = "# Small teams\n\nA hook. It is short. It ends here.\n\n## Fewer meetings\n\nThe first point. " +
	"It has a second sentence. And a third.\n\n![a table](/images/1)\n\n## What is left\n\nThe end.\n"

// propose calls the tool on an artifact with a text, and returns the envelope and the proposal.
func propose(t *testing.T, b *bench, key, text string, in map[string]any) (Envelope, portfolio.Proposal) {
	t.Helper()
	a := b.artifact(t)
	if a.Content != text {
		_, err := b.Apply(t.Context(), portfolio.Change{User: "ann", Artifact: b.id, By: portfolio.ByUser,
			From: a.Status, To: a.Status, Content: &text})
		require.NoError(t, err)
	}
	in["artifactId"] = b.id
	e := b.call(t, "ann", key, ProposeEdit, in)
	var p portfolio.Proposal
	if e.Success {
		require.NoError(t, json.Unmarshal(e.Data, &p))
	}
	require.Equal(t, text, b.artifact(t).Content, "the text stays as it is")
	return e, p
}

func TestAnEditIsProposedForAPart(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	for _, v := range []struct {
		in          map[string]any
		target, old string
		new         string
	}{
		{map[string]any{"instruction": "shorter", "section": "fewer meetings"}, "the section “Fewer meetings”",
			"The first point. It has a second sentence. And a third.\n\n![a table](/images/1)\n\n",
			"The first point. And a third.\n\n![a table](/images/1)\n\n"},
		{map[string]any{"instruction": "shorter", "section": "introduction"}, "the introduction",
			"A hook. It is short. It ends here.\n\n", "A hook. It ends here.\n\n"},
		{map[string]any{"instruction": "friendlier tone"}, "the whole text", article,
			strings.Replace(article, "It is short", "It's short", 1)},
		{map[string]any{"section": "Conclusion", "remove": true}, "the section “What is left”",
			"## What is left\n\nThe end.\n", ""},
		{map[string]any{"instruction": "shorter",
			"selection": "The first point. It has a second sentence. And a third."},
			"the selection", "The first point. It has a second sentence. And a third.",
			"The first point. And a third."},
	} {
		e, p := propose(t, b, "k "+v.target, article, v.in)
		require.True(t, e.Success, "%v: %v", v.target, e.Error)
		require.Equal(t, v.target, p.Target)
		require.Equal(t, v.old, p.Old)
		require.Equal(t, v.new, p.New)
	}
}

func TestAnEditThatIsCalledAgainIsTheSameProposal(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	_, first := propose(t, b, "k", article, map[string]any{"instruction": "shorter"})
	_, second := propose(t, b, "k", article, map[string]any{"instruction": "shorter"})
	require.Equal(t, first, second)
	open, err := b.Proposal(t.Context(), "ann", b.id)
	require.NoError(t, err)
	require.Equal(t, first.ID, open.ID)
}

func TestEditsThatAreRefused(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	for _, v := range []struct {
		text string
		in   map[string]any
		want string
	}{
		{article, map[string]any{"instruction": " "}, "what is to change"},
		{article, map[string]any{"instruction": "shorter", "section": "Costs"},
			`no section "Costs"; there are: Fewer meetings, What is left`},
		{article, map[string]any{"instruction": "x", "remove": true}, "which section"},
		{article, map[string]any{"instruction": "shorter", "selection": "not in the text at all. No. Never."},
			"this passage 0 times"},
		{article, map[string]any{"instruction": "translate it into Latin"}, "can't translate"},
		{"It is short.", map[string]any{"section": "costs", "remove": true}, "one section"},
		{"", map[string]any{"instruction": "shorter"}, "no text to change"},
		{article, map[string]any{"instruction": strings.Repeat("x", MaxTopic+1)}, "at most"},
	} {
		e, _ := propose(t, b, v.want, v.text, v.in)
		require.False(t, e.Success, v.want)
		require.Contains(t, e.Error.Message, v.want)
	}
	require.False(t, b.call(t, "ben", "other", ProposeEdit,
		map[string]any{"artifactId": b.id, "instruction": "shorter"}).Success, "it is ann's")
}

func TestAnEditThatLosesAPictureIsRefused(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	prompt := ""
	b.says = func(req *provider.Request) string {
		prompt = req.LastUserText()
		return "A short text."
	}
	e, _ := propose(t, b, "k", article, map[string]any{"instruction": "shorter", "section": "Fewer meetings"})
	require.False(t, e.Success)
	require.Contains(t, e.Error.Message, "lost a picture")
	require.Contains(t, prompt, "Request: shorter")
	require.NotContains(t, prompt, "The end.", "the model sees the part alone")
}

func TestASectionIsWrittenAgainFromTheSources(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	for i, step := range b.inputs(portfolio.Blog) {
		require.True(t, b.call(t, "ann", fmt.Sprint(i), step.tool, step.in).Success)
	}
	text := b.artifact(t).Content
	require.Regexp(t, `[.?!] \[\d\]\n`, text, "sections cite what they used")
	name := sectionsOf(new(b.artifact(t)))[1].Heading
	prompt := ""
	b.says = func(req *provider.Request) string {
		prompt = req.LastUserText()
		return "Another text [2]."
	}
	e, p := propose(t, b, "again", text, map[string]any{"section": name, "again": true})
	require.True(t, e.Success, "%v", e.Error)
	require.Equal(t, "the section “"+name+"”", p.Target)
	require.True(t, strings.HasPrefix(p.New, "Another text [2].\n\n!["), "the picture stays: %s", p.New)
	require.Contains(t, prompt, `from="source 2: `)
	require.Contains(t, prompt, strings.TrimSpace(p.Old))

	e, _ = propose(t, b, "no section", text, map[string]any{"again": true})
	require.Contains(t, e.Error.Message, "which section")
}

func TestAnotherPictureIsProposedAndARejectedOneIsDeleted(t *testing.T) {
	b := newBench(t, portfolio.Blog, nil)
	for i, step := range b.inputs(portfolio.Blog) {
		require.True(t, b.call(t, "ann", fmt.Sprint(i), step.tool, step.in).Success)
	}
	text := b.artifact(t).Content
	old := picture.FindString(text)
	_, address, _ := strings.Cut(strings.TrimSuffix(old, ")"), "](")
	e, p := propose(t, b, "another", text, map[string]any{"picture": address})
	require.True(t, e.Success, "%v", e.Error)
	require.Equal(t, old, p.Old)
	_, id, _ := strings.Cut(strings.TrimSuffix(p.New, ")"), ImagePath)
	_, err := b.Image(t.Context(), "ann", id)
	require.NoError(t, err)
	_, err = b.Decide(t.Context(), "ann", p.ID, false)
	require.NoError(t, err)
	_, err = b.Image(t.Context(), "ann", id)
	require.Error(t, err, "it is gone")
	_, err = b.Image(t.Context(), "ann", strings.TrimPrefix(address, ImagePath))
	require.NoError(t, err, "the old one stays")

	e, p = propose(t, b, "described", text, map[string]any{"picture": address, "instruction": "an empty room"})
	require.True(t, e.Success, "%v", e.Error)
	require.Contains(t, p.New, "![an empty room](")
	a, err := b.Decide(t.Context(), "ann", p.ID, true)
	require.NoError(t, err)
	require.Contains(t, a.Content, p.New)
	_, err = b.Image(t.Context(), "ann", strings.TrimPrefix(address, ImagePath))
	require.NoError(t, err, "the version before shows the old one")
	e, _ = propose(t, b, "gone", a.Content, map[string]any{"picture": "/images/none"})
	require.Contains(t, e.Error.Message, "this picture")
}
