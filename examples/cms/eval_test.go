package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/eval"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
)

// TestTheAssistantDoesWhatPeopleAskFor evaluates the agent. The stand-in does the same each time,
// so one trial of a case is enough; with a real model, take more, and no Floor.
func TestTheAssistantDoesWhatPeopleAskFor(t *testing.T) {
	var programs sync.Map // by agent
	newAgent := func() (*agent.Agent, error) {
		o, err := readOptions([]string{"-db", newBench(t).db}, noKeys, t.Output())
		if err != nil {
			return nil, err
		}
		p, err := o.open("", t.Output())
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { require.NoError(t, p.close()) })
		programs.Store(p.hub.Agent(), p)
		return p.hub.Agent(), nil
	}
	page := func(slug string, exists bool) eval.Scorer {
		name := fmt.Sprintf("page %s exists: %v", slug, exists)
		return eval.Effect(name, func(ctx context.Context, t *eval.Trial) error {
			p, _ := programs.Load(t.Agent)
			if _, err := p.(*program).site.GetPage(ctx, slug, ""); (err == nil) != exists {
				return errors.Join(errors.New("it is otherwise"), err)
			}
			return nil
		})
	}
	changes := []string{cmstools.CreatePage, cmstools.UpdatePage, cmstools.ClonePage, cmstools.DeletePage,
		cmstools.AddSection, cmstools.UpsertEntry}
	approve := func(p agent.Pause) agent.Decision { return agent.Approve(p.ID) }
	asked := func(mode, prompt string) agent.Input { return agent.Input{User: user, Mode: mode, Prompt: prompt} }
	eval.Test(t, newAgent, eval.Config{
		Cases: []eval.Case{
			{Name: "creates a page", Input: asked(cmstools.CRUD, about),
				Score: []eval.Scorer{eval.Called(cmstools.CreatePage), page("about", true), eval.Steps(4)}},
			{Name: "asks before it deletes", Input: asked(cmstools.CRUD, "Delete the home page"), Ends: agent.Paused,
				Score: []eval.Scorer{eval.Called(cmstools.DeletePage), page("home", true)}},
			{Name: "deletes once it may", Input: asked(cmstools.CRUD, "Delete the blog page"), Decide: approve,
				Score: []eval.Scorer{page("blog", false), page("home", true)}},
			{Name: "leaves what it shall not touch", Input: asked(cmstools.CRUD, "Don't delete the blog page"),
				Score: []eval.Scorer{eval.NeverCalled(changes...), eval.Text("Nothing was changed"),
					page("blog", true)}},
			{Name: "answers without a change", Input: asked(cmstools.Ask, "What pages exist?"),
				Score: []eval.Scorer{eval.NeverCalled(changes...), eval.Text("Home")}},
		},
		Trials: 1, Floor: 1, Against: "testdata/eval.json",
	})
}
