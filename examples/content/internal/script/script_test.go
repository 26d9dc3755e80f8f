package script_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/script"
)

const id = "01234567-89ab-cdef-0123-456789abcdef"

// place has three articles; the first is on the screen, unless about names another.
func place(about string) script.Place {
	return script.Place{Artifacts: []portfolio.Artifact{{ID: "one", Title: "Small teams", Status: portfolio.Skeleton},
		{ID: "two", Title: "Remote teams, and how", Status: portfolio.Draft},
		{ID: id, Title: "Fixed prices", Status: portfolio.Ready}}, Open: "one", About: about}
}

func TestWhichArtifactIsMeant(t *testing.T) {
	for said, want := range map[string]string{
		"publish it":                                  "one",
		"publish the article":                         "one",
		"publish small teams":                         "one",
		"publish Remote teams, and how":               "two",
		"publish the article about prices":            id,
		"publish this (artifact " + id + ")":          id,
		"Humanize the text of artifact " + id:         id,
		"Create content for artifact " + id + ": It":  id,
		"publish “small teams” (artifact " + id + ")": id,
	} {
		require.Equal(t, want, script.Read(said, place("")).Artifact, said)
	}
	require.Equal(t, "two", script.Read("publish it", place("two")).Artifact)
	r := script.Read("publish teams", place(""))
	require.Empty(t, r.Artifact)
	require.Len(t, r.Among, 2)
	r = script.Read("publish hiring", place(""))
	require.Equal(t, "hiring", r.Unknown)
	require.Len(t, r.Among, 3)
	require.Equal(t, script.Unknown, script.Read("research is something I do myself", place("")).Intent)
	r = script.Read("publish it", script.Place{Artifacts: place("").Artifacts})
	require.Empty(t, r.Artifact)
	require.Len(t, r.Among, 3)
}

func TestWhichStepsAreMeant(t *testing.T) {
	all := []string{portfolio.TopicResearch, portfolio.SkeletonCreator, portfolio.ContentWriter, portfolio.Humanizer,
		portfolio.VisualsCreator}
	for said, want := range map[string][]string{
		"create the content":                                all[2:],
		"finish “Remote teams, and how”":                    all,
		"write the text":                                    all[2:3],
		"write the text of “Remote teams, and how”":         all[:3],
		"write the text without images":                     all[2:3],
		"outline “Remote teams, and how”":                   all[:2],
		"research it":                                       all[:1],
		"humanize it":                                       all[3:4],
		"add images":                                        all[4:],
		"write the text, then research it":                  {all[0], all[2]},
		"research it, then outline it, then write it":       all[:3],
		"write a blog post about Go":                        all,
		"create a draft about Go":                           {},
		"create content for “Fixed prices”":                 all,
		"write the text, then humanize it, then add images": all[2:],
	} {
		r := script.Read(said, place(""))
		require.ElementsMatch(t, want, r.Steps, said)
		require.NotEqual(t, script.Unknown, r.Intent, said)
	}
	require.True(t, script.Read("just write the content, skip the visuals", place("")).Bare)
	require.True(t, script.Read("skip the images", place("")).Bare)
	for _, said := range []string{"research it, then publish it", "publish it, then archive it",
		"research it, then outline “Fixed prices”", "research it, then make coffee"} {
		require.Equal(t, script.Request{}, script.Read(said, place("")), said)
	}
}

func TestWhatARequestSaysBesides(t *testing.T) {
	read := func(said string) script.Request { return script.Read(said, place("")) }
	require.Equal(t, script.Request{Intent: script.Topics, Count: 3, Focus: "pricing", Type: portfolio.Blog},
		read("give me three ideas about pricing for my blog"))
	require.Equal(t, portfolio.SocialPost, read("I need five topics for LinkedIn").Type)
	require.Equal(t, "Cats, and dogs", read("create content for a showcase about “cats, and dogs”").Title)
	require.Equal(t, portfolio.Showcase, read("create a showcase called Moving a shop to Rust").Type)
	require.Equal(t, "published", read("show my published articles").Status)
	require.Equal(t, "draft", read("list my drafts").Status)
	require.Equal(t, []string{"go", "banking", "trust"}, read("tag it with go, banking and trust").Tags)
	require.True(t, read("add the tag go to it").AddTags)
	require.Equal(t, "casual", read("make its tone casual").Tone)
	require.Equal(t, "A and b", read(`rename it to "A and b"`).Title)
	require.Equal(t, 7, read("restore version 7").Number)
	require.Equal(t, -1, read("replace the last picture").Number)
	edit := read("Please make the second section a bit shorter")
	require.Equal(t, []string{"2", "Please make the second section a bit shorter"}, []string{edit.Section, edit.Instruction})
	require.Equal(t, "introduction", read("shorten the intro").Section)
	require.Equal(t, "2", read("make section 2 shorter").Section)
	require.Equal(t, "conclusion", read("make the ending of it livelier").Section)
	require.Equal(t, "Why", read("write the section “Why” again").Section)
	require.True(t, read("write the “Why” section again").Again)
	require.True(t, read("remove the last section").Remove)
	for _, said := range []string{"rename it to Small and publish it", "write a blog post about Go and archive this",
		"create a draft about prices without images", "publish it tomorrow", "make it shorter?", "publish it?"} {
		require.Equal(t, script.Unknown, read(said).Intent, said)
	}
}

// FuzzRead tries that no message panics, and that a request without artifacts is about none.
func FuzzRead(f *testing.F) {
	for _, g := range script.Groups {
		for _, said := range g.Requests {
			f.Add(said)
		}
	}
	f.Add("create a draft “ ”")
	f.Add("publish it (artifact " + id + ")")
	f.Add("write a post about " + strings.Repeat("é", 5000))
	f.Fuzz(func(t *testing.T, said string) {
		r := script.Read(said, script.Place{})
		require.Empty(t, r.Among)
		require.True(t, r.Artifact == "" || strings.Contains(said, r.Artifact))
		if r.Intent == script.Create {
			require.NotEmpty(t, r.Title)
		}
	})
}
