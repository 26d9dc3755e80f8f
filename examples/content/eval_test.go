package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/eval"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/provider/providertest"
)

// TestTheChatDoesWhatPeopleAskFor evaluates the agent beside a draft. The stand-in does the same
// each time, so one trial of a case is enough; with a real model, take more, and no Floor.
func TestTheChatDoesWhatPeopleAskFor(t *testing.T) {
	const draft = "remote-work"
	var services sync.Map // by agent
	open := func(file string) (*assistant.Services, error) {
		return assistant.New(assistant.Config{DB: file, Model: standin.Model(), Images: providertest.Draw(),
			Sources: standin.Sources()})
	}
	first := filepath.Join(t.TempDir(), "content.db") // it is copied for each trial, which is quicker
	s, err := open(first)
	require.NoError(t, err)
	_, err = s.Store.Create(t.Context(), portfolio.Artifact{ID: draft, User: "ann", Type: portfolio.Blog,
		Title: "Remote work"})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	world, err := os.ReadFile(first)
	require.NoError(t, err)
	newAgent := func() (*agent.Agent, error) {
		file := filepath.Join(t.TempDir(), "content.db")
		if err := os.WriteFile(file, world, 0o600); err != nil {
			return nil, err
		}
		s, err := open(file)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		services.Store(s.Agent, s)
		return s.Agent, nil
	}
	// is passes if the draft has become what a function says.
	is := func(name string, holds func(portfolio.Artifact) bool) eval.Scorer {
		return eval.Effect("the draft is "+name, func(ctx context.Context, t *eval.Trial) error {
			s, _ := services.Load(t.Agent)
			a, err := s.(*assistant.Services).Store.Artifact(ctx, "ann", draft)
			if err == nil && !holds(a) {
				err = fmt.Errorf("it is %q, %s", a.Title, a.Status)
			}
			return err
		})
	}
	same := is("as it was", func(a portfolio.Artifact) bool {
		return a.Title == "Remote work" && a.Status == portfolio.Draft
	})
	asked := func(prompt string) agent.Input {
		return agent.Input{User: "ann", Owner: "ann", Only: assistant.ChatTools, Prompt: prompt,
			Labels: new(assistant.Services).Labels(assistant.Screen{CurrentPage: "artifact", ArtifactID: draft},
				prompt)}
	}
	acts := append([]string{assistant.RunSteps, contenttools.ProposeEdit}, contenttools.Acts...)
	reject := func(p agent.Pause) agent.Decision { return agent.Reject(p.ID, "we need it") }
	eval.Test(t, newAgent, eval.Config{
		Cases: []eval.Case{
			{Name: "renames", Input: asked("Rename it to Work from anywhere"),
				Score: []eval.Scorer{eval.Called(contenttools.RenameArtifact),
					is("renamed", func(a portfolio.Artifact) bool { return a.Title == "Work from anywhere" })}},
			{Name: "asks before it archives", Input: asked("Archive it"), Ends: agent.Paused,
				Score: []eval.Scorer{eval.Called(contenttools.Archive), same}},
			{Name: "takes no for an answer", Input: asked("Archive it"), Decide: reject, Score: []eval.Scorer{same}},
			{Name: "leaves what it shall not touch", Input: asked("Don't archive it"),
				Score: []eval.Scorer{eval.NeverCalled(acts...), same}},
			{Name: "finds topics", Input: asked("Give me three ideas about pricing for LinkedIn"),
				Score: []eval.Scorer{eval.Called(contenttools.TopicsResearch), eval.NeverCalled(acts...), same}},
			{Name: "lists drafts", Input: asked("Show my drafts"),
				Score: []eval.Scorer{eval.Called(contenttools.ListDraftArtifacts), eval.NeverCalled(acts...),
					eval.Steps(3)}},
		},
		Trials: 1, Floor: 1, Against: "testdata/eval.json",
	})
}
