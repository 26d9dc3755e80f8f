package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/eval"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/internal/consent/consenttest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// The articles of an evaluation, by id: one that is ready, and a new one.
const (
	readyOne = "remote-work"
	newOne   = "fixed-prices"
)

const evaluatedText = "A team that never meets still talks.\n\n## Fewer meetings\n\nOne meeting a week is enough.\n\n" +
	"## The end\n\nWrite more, meet less.\n"

// An evaluation tries what people ask for, with new articles each time.
type evaluation struct {
	t      *testing.T
	model  provider.Provider
	first  []byte   // the file, which is copied for each trial
	trials sync.Map // *tried, by its agent
}

type tried struct {
	*assistant.Services
	before string
}

func (e *evaluation) open(file string) (*assistant.Services, error) {
	return assistant.New(assistant.Config{DB: file, Model: e.model, Real: true, Images: providertest.Draw()})
}

func (e *evaluation) newAgent() (*agent.Agent, error) {
	file := newFile(e.t)
	if err := os.WriteFile(file, e.first, 0o600); err != nil {
		return nil, err
	}
	s, err := e.open(file)
	if err != nil {
		return nil, err
	}
	e.t.Cleanup(func() { require.NoError(e.t, s.Close()) })
	before, err := allArticles(e.t.Context(), s)
	e.trials.Store(s.Agent, &tried{s, before})
	return s.Agent, err
}

// allArticles returns the articles and their proposals as text.
func allArticles(ctx context.Context, s *assistant.Services) (string, error) {
	all, err := s.Store.Artifacts(ctx, "ann")
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(all)
	for _, a := range all {
		p, failed := s.Store.Proposal(ctx, "ann", a.ID)
		text, err = fmt.Appendf(text, "%+v", p), errors.Join(err, failed)
	}
	return string(text), err
}

// effect passes if the articles of a trial are as they should be.
func (e *evaluation) effect(name string, holds func(ctx context.Context, s *tried) (bool, error)) eval.Scorer {
	return eval.Effect(name, func(ctx context.Context, t *eval.Trial) error {
		s, _ := e.trials.Load(t.Agent)
		ok, err := holds(ctx, s.(*tried))
		if err == nil && !ok {
			err = errors.New("it isn't")
		}
		return err
	})
}

// is passes if an article has become what a function says.
func (e *evaluation) is(id, name string, holds func(portfolio.Artifact) bool) eval.Scorer {
	return e.effect(id+" is "+name, func(ctx context.Context, s *tried) (bool, error) {
		a, err := s.Store.Artifact(ctx, "ann", id)
		return holds(a), err
	})
}

// cases are what an assistant of an author has to get right.
func (e *evaluation) cases() []eval.Case {
	on := func(id, prompt string) agent.Input {
		return agent.Input{User: "ann", Owner: "ann", Only: assistant.ChatTools, Prompt: prompt,
			Labels: new(assistant.Services).Labels(assistant.Screen{CurrentPage: "artifact", ArtifactID: id}, prompt)}
	}
	same := e.effect("the articles are as they were", func(ctx context.Context, s *tried) (bool, error) {
		now, err := allArticles(ctx, s.Services)
		return now == s.before, err
	})
	status := func(want portfolio.Status) func(portfolio.Artifact) bool {
		return func(a portfolio.Artifact) bool { return a.Status == want }
	}
	proposed := e.effect("the end has a proposal, and the text is as it was",
		func(ctx context.Context, s *tried) (bool, error) {
			p, err := s.Store.Proposal(ctx, "ann", readyOne)
			a, failed := s.Store.Artifact(ctx, "ann", readyOne)
			return p != nil && strings.Contains(p.Old, "Write more") && !strings.Contains(p.Old, "still talks") &&
				a.Content == evaluatedText, errors.Join(err, failed)
		})
	drafted := e.effect("there is a draft with the title", func(ctx context.Context, s *tried) (bool, error) {
		all, err := s.Store.Artifacts(ctx, "ann", portfolio.Draft)
		return len(all) == 2 && (all[0].Title == "Slow mail" || all[1].Title == "Slow mail"), err
	})
	acts := append([]string{assistant.RunSteps, contenttools.ProposeEdit}, contenttools.Acts...)
	approve := func(p agent.Pause) agent.Decision { return agent.Approve(p.ID) }
	reject := func(p agent.Pause) agent.Decision { return agent.Reject(p.ID, "we need it") }
	return []eval.Case{
		{Name: "renames", Input: on(readyOne, "Rename it to Work from anywhere"),
			Score: []eval.Scorer{eval.Called(contenttools.RenameArtifact),
				e.is(readyOne, "renamed", func(a portfolio.Artifact) bool { return a.Title == "Work from anywhere" })}},
		{Name: "renames in another language", Input: on(readyOne, "Benenne den Artikel bitte um in „Ferne Teams“"),
			Score: []eval.Scorer{e.is(readyOne, "renamed",
				func(a portfolio.Artifact) bool { return a.Title == "Ferne Teams" })}},
		{Name: "drafts with the title that was given", Input: on(newOne, "Start a blog draft called Slow mail"),
			Score: []eval.Scorer{eval.Called(contenttools.CreateDraft), eval.NeverCalled(assistant.RunSteps), drafted}},
		{Name: "asks before it publishes", Input: on(readyOne, "Publish this"), Ends: agent.Paused,
			Score: []eval.Scorer{eval.Called(contenttools.Publish), same}},
		{Name: "archives once it may", Input: on(newOne, "Archive the one about remote work"), Decide: approve,
			Score: []eval.Scorer{e.is(readyOne, "in the archive", status(portfolio.Archived)),
				e.is(newOne, "a draft", status(portfolio.Draft))}},
		{Name: "takes no for an answer", Input: on(readyOne, "Archive it"), Decide: reject, Score: []eval.Scorer{same}},
		{Name: "leaves what it shall not touch", Input: on(readyOne, "Whatever happens, don't archive it"),
			Score: []eval.Scorer{eval.NeverCalled(acts...), same}},
		{Name: "answers a question", Input: on(readyOne, "Would a friendlier tone suit this?"),
			Score: []eval.Scorer{eval.NeverCalled(acts...), same}},
		{Name: "waits for a condition", Input: on(readyOne, "Publish this as soon as Ben has read it"),
			Score: []eval.Scorer{eval.NeverCalled(acts...), same}},
		{Name: "takes a request back", Input: on(readyOne, "Tag this with hr. No, wait, forget it."),
			Score: []eval.Scorer{eval.NeverCalled(acts...), same}},
		{Name: "proposes a change of a text", Input: on(readyOne, "Make the last section friendlier"),
			Score: []eval.Scorer{eval.Called(contenttools.ProposeEdit), eval.NeverCalled(contenttools.DecideProposal),
				proposed}},
		{Name: "does the steps that are asked for", Input: on(newOne, "Research and outline this"),
			Score: []eval.Scorer{e.is(newOne, "outlined", status(portfolio.Skeleton))}},
		{Name: "finds topics", Input: on(readyOne, "Give me three ideas about pricing for LinkedIn"),
			Score: []eval.Scorer{eval.Called(contenttools.TopicsResearch), eval.NeverCalled(acts...), same}},
		{Name: "says that something isn't there", Input: on(readyOne, "Archive my article about taxes"),
			Score: []eval.Scorer{eval.NeverCalled(acts...), same}},
	}
}

// evaluate tries all cases, with a model that getenv names.
func evaluate(t *testing.T, getenv func(string) string, cfg eval.Config) {
	p, real, about, err := model(getenv, slog.New(slog.NewTextHandler(t.Output(), nil)), nil)
	require.NoError(t, err)
	require.True(t, real, about)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	e := &evaluation{t: t, model: p}
	file := newFile(t)
	s, err := e.open(file)
	require.NoError(t, err)
	create(t, s.Store, portfolio.Artifact{ID: readyOne, User: "ann", Type: portfolio.Blog, Title: "Remote work",
		Status: portfolio.Ready, Content: evaluatedText})
	create(t, s.Store, portfolio.Artifact{ID: newOne, User: "ann", Type: portfolio.Blog, Title: "Fixed prices",
		Status: portfolio.Draft})
	require.NoError(t, s.Close())
	e.first, err = os.ReadFile(file)
	require.NoError(t, err)
	cfg.Cases = e.cases()
	eval.Test(t, e.newAgent, cfg)
}

// A script does what a good model would do, each time the same, so that one trial is enough. With a
// real model, TestLive takes more.
func TestTheChatDoesWhatPeopleAskFor(t *testing.T) {
	on := func(id, input string) string { return `{"artifactId":"` + id + `"` + input + `}` }
	tool := &scripted{prompts: map[string]string{}}
	server := httptest.NewServer(&consenttest.Prompted{End: contenttools.StructuredResponse,
		Calls: map[string]consenttest.Call{
			"Rename it": {Name: contenttools.RenameArtifact,
				Input: on(readyOne, `,"title":"Work from anywhere"`)},
			"Benenne":          {Name: contenttools.RenameArtifact, Input: on(readyOne, `,"title":"Ferne Teams"`)},
			"called Slow mail": {Name: contenttools.CreateDraft, Input: `{"title":"Slow mail","type":"blog"}`},
			"Publish this\n":   {Name: contenttools.Publish, Input: on(readyOne, "")},
			"Archive the one":  {Name: contenttools.Archive, Input: on(readyOne, "")},
			"Archive it":       {Name: contenttools.Archive, Input: on(readyOne, "")},
			"the last section": {Name: contenttools.ProposeEdit,
				Input: on(readyOne, `,"instruction":"Make it friendlier","section":"The end"`)},
			"Research and outline": {Name: assistant.RunSteps,
				Input: on(newOne, `,"steps":["topicResearch","skeletonCreator"]`)},
			"three ideas": {Name: contenttools.TopicsResearch,
				Input: `{"contentType":"social_post","focusArea":"pricing","count":3}`},
		},
		Write: func(system, prompt string) string {
			switch name := step.FindStringSubmatch(system)[1]; name {
			case "ideas":
				return `{"value":[]}`
			case "an edit that the author asks for":
				return "Write more, dear all."
			default:
				return tool.answer(name, system, prompt)
			}
		}})
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.URL, "OPENAI_MODEL": "m"}
	evaluate(t, func(name string) string { return env[name] },
		eval.Config{Trials: 1, Floor: 1, Against: "testdata/eval.json"})
}
