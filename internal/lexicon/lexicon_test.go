package lexicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/internal/lexicon"
)

func vocabulary() *lexicon.Lexicon {
	return lexicon.New(lexicon.Vocabulary{
		Words: map[string]string{"write": "write|draft|schreib", "outline": "outline", "plan": "skeleton",
			"post": "post|blog post", "post again": "post", "picture": "picture|illustration", "add": "add"},
		Verbs: "write|outline|add", Nouns: map[string]string{"outline": "plan"}, Determiners: "the|a|an",
		Leads: "please", Fillers: "it|now", Topics: "about", Ends: "until", Mistakes: map[string]string{"teh": "the"},
		Correct: "wrote|winter",
	})
}

func TestWordsAreCorrectedWhereTheyAreWishes(t *testing.T) {
	l := vocabulary()
	for text, want := range map[string]string{
		"wriet teh blgo post":     "write the blog post",
		"add an ilustratoin":      "add an illustration",
		"Pictrue":                 "picture",
		"I wrote it in winter":    "I wrote it in winter",
		"posts, drafts, pictured": "posts, drafts, pictured",
		`write "teh picutre"`:     `write "teh picutre"`,
		"write about picutres":    "write about picutres",
		"":                        "",
	} {
		require.Equal(t, want, l.Correct(text), text)
	}
	require.Equal(t, "write picutre", l.Correct("wriet picutre", "My Picutre"))
}

func TestAWordIsAVerbOnlyWhereOneCanBe(t *testing.T) {
	l := vocabulary()
	meanings := func(text string) (all [][]string) {
		for _, c := range intent.Read(text) {
			for _, token := range l.Tokens(c.Words) {
				all = append(all, token.Meanings)
			}
		}
		return all
	}
	require.Equal(t, [][]string{{"outline"}, nil}, meanings("outline it"))
	require.Equal(t, [][]string{nil, {"outline"}, nil}, meanings("please outline it"))
	require.Equal(t, [][]string{{"write"}, nil, {"plan"}}, meanings("write an outline"))
	require.Equal(t, [][]string{nil, {"plan"}}, meanings("winter outline"))
	require.Equal(t, [][]string{{"write"}, nil, {"post"}, {"topic"}}, meanings("write a blog post about a picture"))
	require.Equal(t, [][]string{{"write"}, {"quoted"}}, meanings(`write "outline"`))
	require.Equal(t, [][]string{{"write"}, nil}, meanings("write it until winter"))
}

func TestAVerbAfterAndBeginsAClause(t *testing.T) {
	l := vocabulary()
	require.Equal(t, "outline it, and write it", l.Split("outline it and write it"))
	require.Equal(t, "outline it, and now write it", l.Split("outline it and now write it"))
	require.Equal(t, "add a picture and a post", l.Split("add a picture and a post"))
	require.Equal(t, `write "a and write"`, l.Split(`write "a and write"`))
}

func TestAlikeWords(t *testing.T) {
	for _, pair := range [][2]string{{"post", "post"}, {"interview", "interviews"}, {"interveiw", "interview"},
		{"showcse", "showcase"}} {
		require.True(t, lexicon.Alike(pair[0], pair[1]), pair)
		require.True(t, lexicon.Alike(pair[1], pair[0]), pair)
	}
	for _, pair := range [][2]string{{"post", "most"}, {"price", "pricing"}, {"", "a"}, {"go", "going"}} {
		require.False(t, lexicon.Alike(pair[0], pair[1]), pair)
	}
}
