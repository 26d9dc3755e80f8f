package assistant

import (
	"cmp"
	"context"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/wish"
)

// Clarify is the intent of a message that isn't understood.
const Clarify = wish.Clarify

// Full are the tools of the full pipeline, in their order.
var Full = []string{portfolio.TopicResearch, portfolio.SkeletonCreator, portfolio.ContentWriter, portfolio.Humanizer,
	portfolio.VisualsCreator}

// acts are the tools that do what an intent wants with an artifact.
var acts = map[string]string{"QUERY_STATUS": contenttools.FetchArtifact, "OPEN": contenttools.FetchArtifact,
	"SOURCES": contenttools.FetchResearch,
	"PUBLISH": contenttools.Publish, "ARCHIVE": contenttools.Archive, "UNPUBLISH": contenttools.Reopen,
	"UNARCHIVE": contenttools.Reopen, "CONTINUE": ContinueWork, "RENAME": contenttools.RenameArtifact,
	"SET_TONE": contenttools.SetTone, "SET_TAGS": contenttools.SetTags, "MODIFY_CONTENT": contenttools.ProposeEdit,
	"REPLACE_PICTURE": contenttools.ProposeEdit}

// begin returns the call that does what a wish wants, or the answer in words.
func (r *router) begin(ctx context.Context, t turn, w wish.Wish) *reply {
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
		return &reply{name: contenttools.FetchArtifactTopics, input: map[string]any{}}
	case name == ContinueWork: // which knows what is missing
		return &reply{name: name, input: continueInput{w.Artifact}}
	case w.Intent == wish.Stop && t.unsaid != nil:
		return finally(contenttools.Answer{}) // it was stopped when the message came
	case w.Intent == wish.Stop:
		return finally(r.stop(ctx, t.user, w.Artifact))
	case w.Intent == wish.SkipVisuals:
		return &reply{name: RunSteps, input: stepsInput{ArtifactID: w.Artifact, Steps: append([]string{}, w.Steps...),
			SkipImages: true}}
	case w.Intent == wish.WriteContent && w.Section != "":
		in["section"], in["again"] = w.Section, true
		return &reply{name: contenttools.ProposeEdit, input: in}
	case len(w.Steps) > 0:
		if w.Intent == wish.CreateSkeleton || w.Intent == wish.WriteContent { // what comes before isn't done again
			a, _ := r.Store.Artifact(ctx, t.user, w.Artifact) // without it, the call says what is wrong
			for len(w.Steps) > 1 && portfolio.Again(w.Steps[0], a.Status) {
				w.Steps = w.Steps[1:]
			}
		}
		return &reply{name: RunSteps, input: stepsInput{ArtifactID: w.Artifact, Steps: w.Steps}}
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
			a, _ := r.Store.Artifact(ctx, t.user, w.Artifact) // without it, the call says what is wrong
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
		set("title", w.Title)
		set("tone", w.Tone)
		return &reply{name: name, input: in}
	}
	return inWords(w)
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
