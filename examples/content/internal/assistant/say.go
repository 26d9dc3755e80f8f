package assistant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
)

// say puts the result of a call into words, with what the user can do next.
func (r *router) say(ctx context.Context, t turn, c *called) (a contenttools.Answer, err error) {
	e, ok := envelopeOf(c.result)
	var in struct{ ArtifactID string }
	_ = json.Unmarshal(c.call.Input, &in) // other inputs name no artifact
	a.ArtifactID = in.ArtifactID
	switch {
	case rejected(c.result):
		a.Message = "All right, nothing was changed."
		return a, nil
	case !ok:
		return r.problem(contenttools.Explain(errors.New(c.result.Text())), t, ""), nil
	}
	a.Data = map[string]any{}
	if len(e.Data) > 0 {
		if err := json.Unmarshal(e.Data, &a.Data); err != nil {
			return a, err
		}
	}
	if e.StatusTransition != nil {
		a.Data["moved"] = e.StatusTransition
	}
	var w Work
	if err := json.Unmarshal(orEmpty(e.Data), &w); err != nil { // other data has no such members
		w = Work{}
	}
	at := w.Artifact
	a.Status = string(at.Status)
	count, _ := a.Data["count"].(float64)
	if e.Error != nil {
		said := r.problem(e.Error, t, c.call.Name)
		said.ArtifactID, said.Status = in.ArtifactID, a.Status
		for k, v := range a.Data {
			said.Data[k] = v
		}
		if len(w.Open) > 0 && e.Error.Category != portfolio.InvalidStatus && e.Error.Category != portfolio.Conflict {
			said.Options = append([]contenttools.Option{{Label: "Try again from the " + results[w.Open[0]],
				Message: "Continue with “" + at.Title + "” (artifact " + at.ID + ")"}}, said.Options...)
		}
		return said, nil
	}
	switch c.call.Name {
	case contenttools.TopicsResearch:
		all, _ := a.Data["topics"].([]any)
		if a.Message = fmt.Sprintf("Here are %d ideas that fit your goals.", len(all)); len(all) == 0 {
			a.Message = "I have found no idea that you don't have already. Name another subject."
		}
		var asked struct {
			ContentType string `json:"contentType"`
		}
		if json.Unmarshal(c.call.Input, &asked) == nil {
			a.Data["type"] = asked.ContentType
		}
	case contenttools.FetchArtifactTopics, contenttools.ListDraftArtifacts:
		if topics, ok := a.Data["topics"]; ok {
			a.Data["artifacts"] = topics
			delete(a.Data, "topics")
		}
		if a.Message = fmt.Sprintf("These are your articles (%.0f).",
			count); c.call.Name == contenttools.ListDraftArtifacts {
			a.Message = fmt.Sprintf("These are your drafts (%.0f).", count)
		}
		if count == 0 {
			a.Message = "There are none at the moment. Begin with a new draft, or ask for topic ideas."
			var asked struct{ Status portfolio.Status }
			if json.Unmarshal(c.call.Input, &asked) == nil && asked.Status != "" {
				a.Message = fmt.Sprintf("No article is %s at the moment.", words(asked.Status))
				a.Options = []contenttools.Option{{Label: "Show all of them", Message: "List my artifacts"}}
			}
		}
	case contenttools.FetchResearch:
		a.Message = fmt.Sprintf("These are the sources (%.0f).", count)
	case contenttools.FetchArtifact:
		var found struct{ Artifact portfolio.Artifact }
		if err := json.Unmarshal(e.Data, &found); err != nil {
			return a, err
		}
		at = contenttools.ListedOf(&found.Artifact)
		return r.status(ctx, t, at)
	case contenttools.CreateDraft:
		a.Message = fmt.Sprintf("The draft “%s” is there.", at.Title)
	case contenttools.RenameArtifact:
		a.Message = fmt.Sprintf("The title is “%s” now.", at.Title)
	case contenttools.SetTone, contenttools.SetTags:
		a.Message = fmt.Sprintf("Done: “%s” has it for what is written from now on.", at.Title)
	case contenttools.Publish:
		a.Message = fmt.Sprintf("“%s” is published.", at.Title)
	case contenttools.Archive:
		a.Message = fmt.Sprintf("“%s” is in the archive.", at.Title)
	case contenttools.Reopen:
		a.Message = fmt.Sprintf("“%s” is %s again.", at.Title, at.Status)
	case contenttools.ProposeEdit:
		target, _ := a.Data["target"].(string)
		old, _ := a.Data["old"].(string)
		text, _ := a.Data["new"].(string)
		a.Data = map[string]any{"proposal": map[string]any{"id": a.Data["id"], "artifactId": in.ArtifactID,
			"target": target}}
		where := " Nothing has changed yet: accept or reject it here, or above the text."
		if t.labels.Get(labelPage) == Terminal {
			where = " Nothing has changed yet."
			a.Data["proposal"].(map[string]any)["lines"] = difference(old, text)
		}
		a.Message = fmt.Sprintf("I have a proposal for %s.", target) + where
		a.Options = append(decisions(in.ArtifactID), contenttools.Option{Label: "Try again", Message: t.message})
		return a, nil
	case contenttools.DecideProposal:
		a.Message = fmt.Sprintf("The proposal is rejected. “%s” is as it was.", at.Title)
		if accepted, _ := a.Data["accepted"].(bool); accepted {
			a.Message = fmt.Sprintf("Accepted: the change is in “%s” now. The version before it is kept.", at.Title)
			a.Options = []contenttools.Option{undoing(at.ID)}
		}
	case contenttools.RestoreVersion:
		n, _ := a.Data["version"].(float64)
		v, err := r.Store.Version(ctx, t.user, at.ID, int(n))
		if err != nil {
			return a, err
		}
		a.Message = fmt.Sprintf("Version %d of “%s” is back: %d words, from %s. The others are kept.", v.Number, v.Title,
			len(strings.Fields(v.Content)), v.At.Format("2 January 2006, 15:04"))
		a.Options = []contenttools.Option{undoing(at.ID)}
	case RunSteps, ContinueWork:
		r.worked(&a, &w)
	}
	if a.Options == nil && at.ID != "" {
		a.ArtifactID, a.Options = at.ID, Next(at)
	}
	return a, nil
}

func orEmpty(data json.RawMessage) json.RawMessage {
	if len(data) == 0 {
		return json.RawMessage("{}")
	}
	return data
}

// worked says what steps have done.
func (r *router) worked(a *contenttools.Answer, w *Work) {
	switch {
	case w.Stopped:
		a.Message = stopped(w.Done, w.Open)
		a.Data["stopped"] = map[string]any{"artifactId": w.Artifact.ID, "title": w.Artifact.Title, "done": w.Done,
			"next": w.Open}
		a.Options = []contenttools.Option{}
		if len(w.Open) > 0 {
			a.Options = append(a.Options, contenttools.Option{Label: "Continue with the " + results[w.Open[0]],
				Message: "Continue with “" + w.Artifact.Title + "” (artifact " + w.Artifact.ID + ")"})
		}
		return
	case len(w.Done) > 0:
		a.Message = fmt.Sprintf("Done: %s. “%s” is %s.", resultsOf(w.Done), w.Artifact.Title, words(w.Artifact.Status))
	default:
		a.Message = fmt.Sprintf("“%s” is %s.", w.Artifact.Title, words(w.Artifact.Status))
	}
	if w.Skipped {
		a.Message += " I have skipped the images; you can add them later."
	}
	if w.Note != "" {
		a.Message += " " + w.Note
	}
	if w.Score != "" && slices.Equal(w.Done, []string{portfolio.Humanizer}) { // else the article says it
		a.Message += " Patterns of machines: " + w.Score + "."
	}
}

// words returns a status in words.
func words(s portfolio.Status) string { return s.Words() }

// status says where an artifact is, and what it does at the moment.
func (r *router) status(ctx context.Context, t turn, at contenttools.Listed) (a contenttools.Answer, err error) {
	a = contenttools.Answer{ArtifactID: at.ID, Status: string(at.Status), Data: map[string]any{"artifact": at},
		Message: fmt.Sprintf("“%s” is %s.", at.Title, words(at.Status)), Options: Next(at)}
	p, err := r.Pipeline(ctx, t.user, at.ID)
	if err != nil || p == nil {
		return a, err
	}
	open := slices.DeleteFunc(slices.Clone(p.Tools), func(name string) bool { return slices.Contains(p.Done, name) })
	switch p.State {
	case PipelineRunning:
		a.Message = fmt.Sprintf("“%s” is being worked on.", at.Title)
		if now, ok := r.Progress(at.ID); ok {
			a.Message += " " + now.Text + "."
		}
		a.Options = nil
	case PipelineStopped:
		a.Message += " " + stopped(p.Done, open)
	case PipelineFailed:
		a.Message += fmt.Sprintf(" The %s failed: %s", results[p.Failed], p.Reason)
	}
	return a, nil
}

// Next returns what can be done next with an artifact.
func Next(at contenttools.Listed) []contenttools.Option {
	named := " “" + at.Title + "” (artifact " + at.ID + ")"
	rest := Rest(at.Status)
	switch {
	case at.Status == portfolio.Draft:
		return []contenttools.Option{{Label: "Create all of it",
			Message: "Create content for artifact " + at.ID + ": " + at.Title}}
	case len(rest) > 0: // all of them, so the button says so
		return []contenttools.Option{{Label: "Go on: " + resultsOf(rest), Message: "Continue with" + named}}
	case at.Status == portfolio.Ready:
		return []contenttools.Option{{Label: "Publish it", Message: "Publish" + named}}
	case at.Status == portfolio.Published:
		return []contenttools.Option{{Label: "Take “" + at.Title + "” back", Message: "Unpublish" + named}}
	}
	return nil
}

// problem says what went wrong, and what the user can do about it.
func (r *router) problem(p *contenttools.Problem, t turn, tool string) contenttools.Answer {
	a := contenttools.Answer{Message: p.Message, Options: Recoveries(p)}
	if tool == RunSteps || tool == ContinueWork {
		a.Message += " What was done before stays."
	}
	a.Data = map[string]any{"error": ErrorBody{Category: p.Category, Message: p.Message,
		TraceID:         t.labels.Get(labelTrace),
		RecoveryOptions: a.Options, RetryAfter: p.RetryAfter}}
	return a
}

// isTooLong reports whether an error says that a request is too long: the agent compacts the
// conversation then.
func isTooLong(err error) bool {
	e, ok := errors.AsType[*provider.Error](err)
	return ok && e.ContextLength != nil
}

// recoveries are what a user can do about problems.
var recoveries = map[portfolio.Category]contenttools.Option{
	portfolio.ArtifactNotFound: {Label: "Show my drafts", Message: "Show my drafts"},
	portfolio.MissingContext:   {Label: "Show my drafts", Message: "Show my drafts"},
	portfolio.ResearchNotFound: {Label: "Research it", Message: "Research this topic"},
	portfolio.InvalidInput:     {Label: "See what I can do", Message: "What can you do?"},
	portfolio.UnclearIntent:    {Label: "See what I can do", Message: "What can you do?"},
	portfolio.AIContentFilter:  {Label: "Change the title", Message: "What can you change?"},
	portfolio.Conflict:         {Label: "See its status", Message: "What's the status of this?"},
}

// Recoveries returns what the user can do about a problem.
func Recoveries(p *contenttools.Problem) []contenttools.Option {
	switch {
	case p.Category == portfolio.InvalidStatus && p.Status == portfolio.Published:
		return []contenttools.Option{{Label: "Take it back to ready", Message: "Unpublish this"},
			{Label: "Create a new one based on it", Message: "Suggest topics"},
			{Label: "View it", Message: "What's the status of this?"}}
	case p.Category == portfolio.InvalidStatus:
		return []contenttools.Option{{Label: "See its status", Message: "What's the status of this?"},
			{Label: "Do the steps that are missing", Message: "Continue"}}
	}
	if o, ok := recoveries[p.Category]; ok {
		return []contenttools.Option{o}
	}
	return nil
}

// undoing is the option that takes the last change of an artifact back.
func undoing(id string) contenttools.Option {
	return contenttools.Option{Label: "Undo it", Message: "Undo the last change (artifact " + id + ")"}
}

// difference returns what a proposal takes and gives, at most a screen of it.
func difference(old, text string) string {
	var b strings.Builder
	for _, side := range [][3]string{{"- ", old, text}, {"+ ", text, old}} {
		for line := range strings.Lines(cut(strings.TrimSpace(side[1]), 4_000)) {
			if line = strings.TrimSpace(line); line != "" && !strings.Contains(side[2], line) {
				b.WriteString(side[0] + line + "\n")
			}
		}
	}
	return b.String()
}

// Lines returns what an answer has besides its message, for a terminal. An option is chosen by its
// number.
func Lines(data map[string]any, options []Option) string {
	var b strings.Builder
	if text, ok := data["markdown"].(string); ok {
		b.WriteString(text)
	}
	if p, ok := data["proposal"].(map[string]any); ok {
		lines, _ := p["lines"].(string)
		b.WriteString(lines)
	}
	for _, name := range []string{"topics", "artifacts", "research"} {
		list, _ := data[name].([]any)
		for _, item := range list {
			of, _ := item.(map[string]any)
			word := func(names ...string) string {
				for _, name := range names {
					if v, ok := of[name].(string); ok && v != "" {
						return v
					}
				}
				return ""
			}
			about := word("suggestedAngle", "sourceUrl")
			if status := word("status"); status != "" {
				about = words(portfolio.Status(status))
			}
			if about != "" {
				about = " (" + about + ")"
			}
			fmt.Fprintf(&b, "  - %s%s\n", word("title", "sourceName"), about)
		}
	}
	for i, o := range options {
		fmt.Fprintf(&b, "  %d: %s\n", i+1, o.Label)
	}
	return b.String()
}
