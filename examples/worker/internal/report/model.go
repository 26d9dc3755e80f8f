package report

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// reply is the stand-in for a model.
func (k *kit) reply(ctx context.Context, req *provider.Request) (*provider.Response, error) {
	if err := k.wait(ctx, 200*time.Millisecond, 700*time.Millisecond, req.Labels.Run, req.Labels.Step); err != nil {
		return nil, err
	}
	seen := look(req.Messages)
	if slices.ContainsFunc(req.Tools, func(t provider.Tool) bool { return t.Name == toolSearch }) {
		return researcher(seen).Response(), nil
	}
	if err := k.refuses(ctx, req.Labels.Session, seen); err != nil {
		return nil, err
	}
	return writer(seen).Response(), nil
}

// refuses returns the error of a provider that refuses for a reason that a person has to remove.
// That is the case for one topic, until its run has failed and is tried again.
func (k *kit) refuses(ctx context.Context, session string, seen conversation) error {
	begun := len(seen.results[toolOutline]) > 0 && len(seen.results[toolDraft]) == 0
	if !begun || !strings.Contains(seen.task, "quota") {
		return nil
	}
	failed, err := k.Ledger.FailedBefore(ctx, session)
	if err != nil || failed {
		return err
	}
	return &provider.Error{Class: fault.UserFixable, Provider: "stand-in",
		Message: "the quota of this month is used up", Remedy: "raise the quota, and retry the run"}
}

// A conversation is what a model can see.
type conversation struct {
	task    string              // the newest message of the user
	results map[string][]string // of successful calls since, by the tool
	asked   map[string]bool     // the research that has an answer, by its question
	refused string              // why the publication failed or was rejected
}

func look(messages []provider.Message) conversation {
	c := conversation{results: make(map[string][]string), asked: make(map[string]bool)}
	calls := make(map[string]*provider.ToolCall)
	for i := range messages {
		m := &messages[i]
		if m.Role == provider.RoleUser && m.Text() != "" && c.task == "" {
			c.task = m.Text()
		}
		for _, call := range m.Calls() {
			calls[call.ID] = call
		}
		for _, p := range m.Parts {
			if p.Result == nil || calls[p.Result.CallID] == nil {
				continue
			}
			call := calls[p.Result.CallID]
			switch {
			case p.Result.Error && call.Name == toolPublish:
				c.refused = p.Result.Text()
			case !p.Result.Error:
				c.results[call.Name] = append(c.results[call.Name], p.Result.Text())
				var in struct{ Task string }
				_ = json.Unmarshal(call.Input, &in) // other tools have no task
				c.asked[in.Task] = true
			}
		}
	}
	return c
}

// researcher searches once, and answers with what was found.
func researcher(c conversation) providertest.Step {
	if found := c.results[toolSearch]; len(found) > 0 {
		return providertest.Say(found[0])
	}
	return providertest.Call(toolSearch, searchInput{c.task})
}

// writer does the next step of a report.
func writer(c conversation) providertest.Step {
	topic := strings.TrimSuffix(strings.TrimPrefix(c.task, "Write a report about "), ".")
	if len(c.results[toolOutline]) == 0 {
		return providertest.Call(toolOutline, topicInput{topic})
	}
	plan := outlineOf(topic)
	var ask []providertest.CallSpec
	for _, q := range plan.Questions {
		if !c.asked[q] {
			ask = append(ask, providertest.CallSpec{Tool: toolResearch, Input: map[string]string{"task": q}})
		}
	}
	done := func(tool string) bool { return len(c.results[tool]) > 0 }
	switch {
	case len(ask) > 0:
		return providertest.Calls(ask...)
	case !done(toolDraft):
		return providertest.Call(toolDraft,
			draftInput{Title: plan.Title, Sections: plan.Sections, Findings: c.results[toolResearch]})
	case !done(toolFigures):
		return providertest.Call(toolFigures, titleInput{plan.Title})
	case !done(toolAssemble):
		return providertest.Call(toolAssemble, titleInput{plan.Title})
	case c.refused != "":
		return providertest.Say("The report is written, and it isn't published: " + c.refused)
	case !done(toolPublish):
		return providertest.Call(toolPublish, titleInput{plan.Title})
	}
	return providertest.Say("The report “" + plan.Title + "” is published.")
}
