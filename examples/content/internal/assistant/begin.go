package assistant

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/wish"
)

// Full are the tools of the full pipeline, in their order.
var Full = []string{portfolio.TopicResearch, portfolio.SkeletonCreator, portfolio.ContentWriter, portfolio.Humanizer,
	portfolio.VisualsCreator}

// acts are the tools that do what an intent wants with an artifact.
var acts = map[string]string{"QUERY_STATUS": contenttools.FetchArtifact, "OPEN": contenttools.FetchArtifact,
	"SOURCES": contenttools.FetchResearch,
	"PUBLISH": contenttools.Publish, "ARCHIVE": contenttools.Archive, "UNPUBLISH": contenttools.Reopen,
	"UNARCHIVE": contenttools.Reopen, "CONTINUE": ContinueWork, "RENAME": contenttools.RenameArtifact,
	"SET_TONE": contenttools.SetTone, "SET_TAGS": contenttools.SetTags, "MODIFY_CONTENT": contenttools.ProposeEdit,
	"REPLACE_PICTURE": contenttools.ProposeEdit, "ACCEPT": contenttools.DecideProposal,
	"REJECT": contenttools.DecideProposal}

// buttons finds what the buttons of the pages and of answers send, word for word. Others are titles
// and sentences that the model reads.
var buttons = regexp.MustCompile(`^(?:Create content for artifact [0-9A-Za-z-]+: .*|` +
	`(?:Continue with|Publish|Unpublish|Unarchive|Restore the previous version of) “.*” \(artifact [0-9a-f-]{36}\)|` +
	`(?:(?:Accept|Reject) the proposal|Undo the last change) \(artifact [0-9a-f-]{36}\)|` +
	`Show my drafts|List my artifacts|Research this topic|What's the status of this\?|Continue|Try again|` +
	`Unpublish this|Suggest topics|Humanize this content|now add images)$`)

// isButton reports whether a message is what a button sends, or nothing but stop.
func isButton(message string) bool { return buttons.MatchString(message) || IsStop(message) }

// begin returns the call that does what a wish wants, or the answer in words.
func (r *router) begin(ctx context.Context, t turn, w wish.Wish) *reply {
	a, _ := r.Store.Artifact(ctx, t.user, w.Artifact) // without it, the call says what is wrong
	in := map[string]any{"artifactId": w.Artifact}
	set := func(name string, v string) {
		if v != "" {
			in[name] = v
		}
	}
	switch name := acts[w.Intent]; {
	case w.Why != "":
		return inWords(w)
	case w.New:
		in = map[string]any{"title": w.Title, "type": cmp.Or(w.Type, portfolio.Blog), "then": w.Steps,
			"tone": cmp.Or(w.Tone, "professional")}
		for _, idea := range t.ideas {
			if strings.EqualFold(idea.Title, w.Title) {
				in["idea"] = contenttools.Idea{Angle: idea.SuggestedAngle, Audience: idea.Audience,
					Rationale: idea.Rationale}
			}
		}
		return &reply{name: contenttools.CreateDraft, input: in}
	case w.Intent == wish.GenerateTopics:
		return &reply{name: contenttools.TopicsResearch, input: map[string]any{"contentType": cmp.Or(w.Type,
			portfolio.Blog),
			"focusArea": w.Focus, "count": cmp.Or(w.Count, 5)}}
	case w.Intent == wish.ListArtifacts && w.Focus == string(portfolio.Draft):
		return &reply{name: contenttools.ListDraftArtifacts, input: map[string]any{}}
	case w.Intent == wish.ListArtifacts:
		return &reply{name: contenttools.FetchArtifactTopics, input: map[string]any{"status": w.Focus}}
	case name == ContinueWork && len(Rest(a.Status)) == 0 && r.proposed(ctx, t.user, a.ID, in):
		return &reply{name: contenttools.ProposeEdit, input: in}
	case name == ContinueWork: // which knows what is missing
		return &reply{name: name, input: continueInput{w.Artifact}}
	case name == contenttools.DecideProposal:
		p, err := r.Store.Proposal(ctx, t.user, w.Artifact)
		if err == nil && p == nil {
			said := contenttools.Answer{Message: fmt.Sprintf("There is no open proposal for “%s”.", a.Title),
				ArtifactID: a.ID, Options: Next(contenttools.ListedOf(&a))}
			return finally(said)
		}
		in["accept"] = w.Intent == wish.Accept
		return &reply{name: name, input: in}
	case w.Intent == wish.Undo, w.Intent == wish.Restore:
		return r.restore(ctx, t, w, &a)
	case w.Intent == wish.Export && t.labels.Get(labelPage) == Terminal && a.Content != "":
		sources, err := r.Store.Research(ctx, t.user, a.ID)
		if err != nil {
			return finally(r.problem(contenttools.Explain(err), t, ""))
		}
		return finally(contenttools.Answer{Message: fmt.Sprintf("“%s” as Markdown:", a.Title), ArtifactID: a.ID,
			Data: map[string]any{"markdown": contenttools.Markdown(&a, sources, "")}})
	case w.Intent == wish.Stop && t.unsaid != nil:
		return finally(contenttools.Answer{}) // it was stopped when the message came
	case w.Intent == wish.Stop:
		return finally(r.stop(ctx, t.user, w.Artifact))
	case w.Intent == wish.SkipVisuals:
		return &reply{name: RunSteps, input: stepsInput{ArtifactID: w.Artifact, About: a.Title,
			Steps: append([]string{}, w.Steps...), SkipImages: true}}
	case w.Intent == wish.WriteContent && w.Section != "":
		in["section"], in["again"] = w.Section, true
		return &reply{name: contenttools.ProposeEdit, input: in}
	case len(w.Steps) > 0:
		if w.Intent == wish.CreateSkeleton || w.Intent == wish.WriteContent { // what comes before isn't done again
			for len(w.Steps) > 1 && portfolio.Again(w.Steps[0], a.Status) {
				w.Steps = w.Steps[1:]
			}
		}
		return &reply{name: RunSteps, input: stepsInput{ArtifactID: w.Artifact, About: a.Title, Steps: w.Steps,
			Again: portfolio.Again(w.Steps[0], a.Status)}}
	case name == contenttools.SetTags:
		in["tags"] = w.Tags
		return &reply{name: name, input: in}
	case name == contenttools.ProposeEdit:
		if w.Remove {
			in["remove"] = true
		}
		set("instruction", w.Instruction)
		set("section", w.Section)
		if w.Intent == wish.ReplacePicture {
			all := pictures(a.Content)
			if w.Picture < 0 {
				w.Picture += len(all) + 1
			}
			if w.Picture = max(w.Picture, 1); w.Picture > len(all) {
				return finally(contenttools.Answer{Message: "The text has no such picture.", ArtifactID: w.Artifact})
			}
			in["picture"] = all[w.Picture-1]
		}
		return &reply{name: name, input: in}
	case name != "":
		if name == contenttools.Publish || name == contenttools.Archive {
			set("about", a.Title)
		}
		set("title", w.Title)
		set("tone", w.Tone)
		return &reply{name: name, input: in}
	}
	return inWords(w)
}

// restore begins to restore the version that a wish names, or else the one before the newest. What
// isn't a change of the text is undone otherwise, so the answer offers that.
func (r *router) restore(ctx context.Context, t turn, w wish.Wish, a *portfolio.Artifact) *reply {
	named := " “" + a.Title + "” (artifact " + a.ID + ")"
	said := contenttools.Answer{ArtifactID: a.ID, Options: []Option{{Label: "Restore the version before",
		Message: "Restore the previous version of" + named}}}
	p, err := r.Store.Proposal(ctx, t.user, a.ID)
	all, failed := r.Store.Versions(ctx, t.user, a.ID) // the newest first
	if err := cmp.Or(err, failed); err != nil {
		return finally(r.problem(contenttools.Explain(err), t, ""))
	}
	back := map[portfolio.Status]Option{
		portfolio.Published: {Label: "Take “" + a.Title + "” back", Message: "Unpublish" + named},
		portfolio.Archived:  {Label: "Take it out of the archive", Message: "Unarchive" + named}}[a.Status]
	n := 1
	switch {
	case w.Version > 0:
		n = slices.IndexFunc(all, func(v portfolio.Version) bool { return v.Number == w.Version })
	case w.Before != "":
		if n = slices.IndexFunc(all, func(v portfolio.Version) bool { return v.Author == w.Before }); n >= 0 {
			n++
		}
	case w.Intent == wish.Undo && p != nil:
		said.Message = "Nothing has changed yet: there is a proposal for " + p.Target + "."
		said.Options = append(decisions(a.ID), said.Options...)
		return finally(said)
	case w.Intent == wish.Undo && back.Label != "":
		said.Message = fmt.Sprintf("“%s” is %s. Its text hasn't changed since.", a.Title, a.Status)
		said.Options = append([]Option{back}, said.Options...)
		return finally(said)
	}
	if n < 0 || n >= len(all) {
		said.Message, said.Options = fmt.Sprintf("“%s” has no such version; there are %d.", a.Title, len(all)), nil
		if w.Version == 0 {
			said.Message = fmt.Sprintf("“%s” has no earlier version.", a.Title)
		}
		return finally(said)
	}
	return &reply{name: contenttools.RestoreVersion, input: map[string]any{"artifactId": a.ID,
		"version": all[n].Number}}
}

// proposed makes in the input that asks for the open proposal of an artifact once more, and reports
// whether there is one.
func (r *router) proposed(ctx context.Context, user, id string, in map[string]any) bool {
	p, err := r.Store.Proposal(ctx, user, id)
	if p == nil || err != nil {
		return false
	}
	if in["instruction"] = p.Instruction; p.Target != "the whole text" {
		in["section"] = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(p.Target, "the "), "section “"), "”")
	}
	return true
}

// decisions are the options for an open proposal.
func decisions(id string) []Option {
	return []Option{{Label: "Accept", Message: "Accept the proposal (artifact " + id + ")"},
		{Label: "Reject", Message: "Reject the proposal (artifact " + id + ")"}}
}

// stop stops the work on an artifact.
func (r *router) stop(ctx context.Context, user, id string) contenttools.Answer {
	p, err := r.Pipeline(ctx, user, id)
	if err != nil || p == nil || p.State != PipelineRunning {
		return contenttools.Answer{Message: "Nothing is in progress."}
	}
	if err := r.Cancel(ctx, user, id); err != nil {
		return contenttools.Answer{Message: contenttools.Explain(err).Message}
	}
	return contenttools.Answer{Message: "Stopped.", ArtifactID: id,
		Options: []Option{{Label: "See its status", Message: "What's the status of this?"}}}
}

// inWords answers a wish without doing anything.
func inWords(w wish.Wish) *reply {
	a := contenttools.Answer{Message: cmp.Or(w.Say, "I can't do that here."), ArtifactID: w.Artifact,
		ClarificationNeeded: w.Why == wish.Unclear || w.Why == wish.Confirms}
	for _, o := range w.Options[:min(6, len(w.Options))] {
		a.Options = append(a.Options, contenttools.Option(o))
	}
	return finally(a)
}
