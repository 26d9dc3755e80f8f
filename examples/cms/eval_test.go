package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/eval"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// An evaluation tries what people ask for, on a new site each time.
type evaluation struct {
	t      *testing.T
	getenv func(string) string // names the model
	trials sync.Map            // the program of each, and its site as it was, by its agent
}

type tried struct {
	*program
	before string
}

func (e *evaluation) newAgent() (*agent.Agent, error) {
	o, err := readOptions([]string{"-db", newBench(e.t).db}, e.getenv, e.t.Output())
	if err != nil {
		return nil, err
	}
	p, err := o.open("", e.t.Output())
	if err != nil {
		return nil, err
	}
	e.t.Cleanup(func() { require.NoError(e.t, p.close()) })
	before, err := wholeSite(e.t.Context(), p.site)
	e.trials.Store(p.hub.Agent(), &tried{p, before})
	return p.hub.Agent(), err
}

func wholeSite(ctx context.Context, s *site.Site) (string, error) {
	all, err := s.Export(ctx)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// effect passes if the site of a trial is as it should be.
func (e *evaluation) effect(name string, holds func(ctx context.Context, p *tried) (bool, error)) eval.Scorer {
	return eval.Effect(name, func(ctx context.Context, t *eval.Trial) error {
		p, _ := e.trials.Load(t.Agent)
		ok, err := holds(ctx, p.(*tried))
		if err == nil && !ok {
			err = errors.New("it isn't")
		}
		return err
	})
}

// page passes if there is a page with a slug, or none, and what is said of it holds.
func (e *evaluation) page(slug, name string, holds func(*site.Page) bool) eval.Scorer {
	return e.effect("page "+slug+": "+name, func(ctx context.Context, p *tried) (bool, error) {
		found, err := p.site.GetPage(ctx, slug, "")
		if found == nil {
			return holds(nil), nil
		}
		return holds(found), err
	})
}

// plans passes if a person is asked about a plan.
func plans(_ context.Context, t *eval.Trial) (eval.Score, error) {
	s := eval.Score{Name: "asks about a plan"}
	for _, p := range t.Pending {
		s.Pass = s.Pass || slices.Contains([]string{plan.ToolSubmit, plan.ToolChoose}, p.Call.Name)
	}
	return s, nil
}

var figures = regexp.MustCompile(`\d`)

// knows passes if the person isn't asked which page they mean.
func knows(_ context.Context, t *eval.Trial) (eval.Score, error) {
	return eval.Score{Name: "doesn't ask which page", Pass: !whichPage.MatchString(t.Answer)}, nil
}

var whichPage = regexp.MustCompile(`(?i)(which|what) (page|headline)`)

// cases are what an assistant of a site has to get right.
func (e *evaluation) cases() []eval.Case {
	there, gone := func(p *site.Page) bool { return p != nil }, func(p *site.Page) bool { return p == nil }
	same := e.effect("the site is as it was", func(ctx context.Context, p *tried) (bool, error) {
		now, err := wholeSite(ctx, p.site)
		return now == p.before, err
	})
	title := func(want string) func(*site.Page) bool {
		return func(p *site.Page) bool { return p != nil && p.Sections[0].Content["title"] == want }
	}
	approve := func(p agent.Pause) agent.Decision { return agent.Approve(p.ID) }
	on := func(screen, mode, prompt string) agent.Input {
		return agent.Input{User: user, Mode: mode, Prompt: prompt, Labels: assistant.Screen(screen)}
	}
	edit := func(prompt string) agent.Input { return on("/pages/services", cmstools.CRUD, prompt) }
	return []eval.Case{
		{Name: "reads", Input: on("", cmstools.Ask, "What pages exist?"),
			Score: []eval.Scorer{same, eval.Text("Services"), eval.Text("Blog")}},
		{Name: "creates a page", Input: edit(about),
			Score: []eval.Scorer{eval.Called(cmstools.CreatePage),
				e.page("about", "has a hero titled Hello", title("Hello")), eval.Steps(4)}},
		{Name: "changes what is on the screen", Input: edit("Change the headline to: Baked every morning"),
			Score: []eval.Scorer{e.page("services", "has the headline", title("Baked every morning")), eval.Steps(4)}},
		{Name: "rewrites what is on the screen", Input: edit("Make the headline bigger"),
			Score: []eval.Scorer{e.page("home", "has its headline", title("Welcome to Fern and Flour")), knows}},
		{Name: "asks before it deletes", Input: edit("Delete this page"), Ends: agent.Paused,
			Score: []eval.Scorer{eval.Called(cmstools.DeletePage), same}},
		{Name: "deletes once it may", Input: edit("Delete the blog page"), Decide: approve,
			Score: []eval.Scorer{e.page("blog", "is gone", gone), e.page("home", "is there", there)}},
		{Name: "obeys a prohibition", Input: edit("Whatever happens, never take Services offline"),
			Score: []eval.Scorer{same}},
		{Name: "answers a question", Input: edit("Could we delete the blog page?"), Score: []eval.Scorer{same}},
		{Name: "looks a condition up", Input: edit("If there is no page Services, create one"), Score: []eval.Scorer{same}},
		{Name: "takes a request back", Input: edit("Create a page Jobs. No, wait, forget it."), Score: []eval.Scorer{same}},
		{Name: "invents no facts", Input: edit("Create an About page with a text section about our opening hours"),
			Score: []eval.Scorer{e.page("about", "has no figures", func(p *site.Page) bool {
				return p == nil || !slices.ContainsFunc(p.Sections, func(s site.Section) bool {
					return figures.MatchString(fmt.Sprint(s.Content))
				})
			})}},
		{Name: "plans", Input: on("", cmstools.Architect, "Plan a page Contact with a hero and a form"), Ends: agent.Paused,
			Score: []eval.Scorer{plans, same}},
	}
}

// evaluate tries all cases, with a model that getenv names.
func evaluate(t *testing.T, getenv func(string) string, cfg eval.Config) {
	e := &evaluation{t: t, getenv: getenv}
	cfg.Cases = e.cases()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	eval.Test(t, e.newAgent, cfg)
}

// A script does what a good model would do, each time the same, so that one trial is enough. With a
// real model, TestLive takes more.
func TestTheAssistantDoesWhatPeopleAskFor(t *testing.T) {
	one := func(tool string, input object, answer string) []reply {
		return []reply{{tool: tool, input: input}, {text: answer}}
	}
	node := object{"id": "page", "tool": "cms_createPage", "input": `{"name":"Contact","sections":[{"section":"hero"},{"section":"form"}]}`}
	model := newScripted(t, map[string][]reply{
		"What pages exist?": one("cms.listPages", object{}, "There are Home, Services and Blog."),
		about: one(cmstools.CreatePage, object{"name": "About",
			"sections": []object{{"section": "hero", "content": object{"title": "Hello"}}}}, "The draft is at /about."),
		"Baked every morning\n\n<screen>\nThe person sees the page Services (/services), published.": one(
			"cms.syncPageContents",
			object{"page": "services", "contents": object{"hero": object{"title": "Baked every morning"}}},
			"The headline of Services is new."),
		"Make the headline bigger": {{text: "The size of a headline is up to the design. Shall I make its words stronger?"}},
		"Delete this page\n\n<screen>\nThe person sees the page Services (/services)": one(cmstools.DeletePage,
			object{"page": "services"}, "It is gone."),
		"Delete the blog page":         one(cmstools.DeletePage, object{"page": "blog"}, "It is gone."),
		"never take Services offline":  {{text: "Services stays online."}},
		"Could we delete the blog":     {{text: "Yes, but links to it would lead nowhere."}},
		"If there is no page Services": {{text: "Services is there, so nothing is changed."}},
		"forget it":                    {{text: "Nothing is changed."}},
		"our opening hours": one(cmstools.CreatePage, object{"name": "About", "sections": []object{
			{"section": "text", "content": object{"body": "We are open [opening hours]."}}}}, "When are you open?"),
		"Plan a page Contact": one("plan.submit", object{"title": "A contact page", "nodes": []object{node}},
			"It is there."),
	})
	evaluate(t, model.env, eval.Config{Trials: 1, Floor: 1, Against: "testdata/eval.json"})
}
