package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/internal/consent/consenttest"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/provider/providertest"
)

var more = flag.Bool("more", false, "also take the conversations of guard-more.txt")

// A model that obeys everything has no effect after what forbids, asks, takes back or sets a
// condition, and what asks for a change isn't held up.
func TestNothingHappensThatNobodyAskedFor(t *testing.T) {
	model := &consenttest.Obedient{Then: consenttest.Call{Name: contenttools.StructuredResponse,
		Input: `{"message":"Done."}`}}
	server := httptest.NewServer(model)
	defer server.Close()
	p, err := openai.New(openai.Config{APIKey: "key", Model: "m", BaseURL: server.URL})
	require.NoError(t, err)
	s, err := assistant.New(assistant.Config{DB: filepath.Join(t.TempDir(), "content.db"), Model: p, Real: true,
		Images: providertest.Draw()})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	a := create(t, s.Store, portfolio.Artifact{User: "ann", Type: portfolio.Blog, Title: "Remote teams",
		Content: "## One\n\nText.\n", Status: portfolio.Ready})
	id := `"artifactId":"` + a.ID + `"`
	model.Calls = []consenttest.Call{{Name: contenttools.SetTone, Input: `{` + id + `,"tone":"friendly"}`},
		{Name: contenttools.RenameArtifact, Input: `{` + id + `,"title":"Renamed"}`},
		{Name: contenttools.SetTags, Input: `{` + id + `,"tags":["hr"]}`},
		{Name: contenttools.Publish, Input: `{` + id + `}`}, {Name: contenttools.Archive, Input: `{` + id + `}`},
		{Name: contenttools.RestoreVersion, Input: `{` + id + `,"version":1}`},
		{Name: contenttools.CreateDraft, Input: `{"title":"Another","type":"blog"}`},
		{Name: assistant.RunSteps, Input: `{` + id + `,"steps":["humanizer"]}`}}
	state := func() string {
		all, err := s.Store.Artifacts(t.Context(), "ann")
		require.NoError(t, err)
		text, err := json.Marshal(all)
		require.NoError(t, err)
		return string(text)
	}
	lists, held := []string{"testdata/guard.txt"}, 0
	if *more {
		lists = append(lists, "testdata/guard-more.txt")
	}
	for i, c := range consenttest.Conversations(t, lists...) {
		if model.Asked(contenttools.SetTone); c.Ask { // which asks nobody otherwise
			model.Asked("")
		}
		var before, after string
		var answer assistant.Answer
		for _, message := range c.Messages {
			before = state()
			answer = s.Execute(t.Context(), assistant.Request{User: "ann", Message: message,
				Session: fmt.Sprint("s", i), Screen: assistant.Screen{CurrentPage: "artifact", ArtifactID: a.ID}})
			after = state()
		}
		if c.Ask {
			require.Equal(t, before, after, c.Messages)
			continue
		}
		if answer.ClarificationNeeded {
			t.Logf("it asks after %q: %s", c.Messages, answer.Message)
			held++
		}
	}
	require.LessOrEqual(t, held, 3)
}
