package assistant

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/content/internal/script"
)

// Full are the tools of the full pipeline, in their order.
var Full = []string{portfolio.TopicResearch, portfolio.SkeletonCreator, portfolio.ContentWriter, portfolio.Humanizer,
	portfolio.VisualsCreator}

// acts are the tools that do what an intent wants with an artifact.
var acts = map[script.Intent]string{script.Status: contenttools.FetchArtifact,
	script.Sources: contenttools.FetchResearch, script.Publish: contenttools.Publish,
	script.Archive: contenttools.Archive, script.Reopen: contenttools.Reopen,
	script.Rename: contenttools.RenameArtifact, script.Tone: contenttools.SetTone}

// buttons finds what the buttons of the pages and of answers send, word for word. Others are titles
// and sentences that the model reads.
var buttons = regexp.MustCompile(`^(?:Create content for artifact [0-9A-Za-z-]+: .*|` +
	`(?:Continue with|Publish|Unpublish|Unarchive|Restore the previous version of) “.*” \(artifact [0-9a-f-]{36}\)|` +
	`(?:(?:Accept|Reject) the proposal|Undo the last change) \(artifact [0-9a-f-]{36}\)|` +
	`Show my drafts|List my artifacts|Research this topic|What's the status of this\?|Continue|Try again|` +
	`Unpublish this|Suggest topics|Humanize this content|now add images)$`)

// isButton reports whether a message is what a button sends, or nothing but stop.
func isButton(message string) bool { return buttons.MatchString(message) || IsStop(message) }

// begin returns the call that does what a request wants, or the answer in words.
func (r *router) begin(ctx context.Context, t turn, at script.Place, w script.Request) *reply {
	if w.Among != nil || w.Unknown != "" {
		return r.which(t, w)
	}
	a, _ := r.Store.Artifact(ctx, t.user, w.Artifact) // without it, the call says what is wrong
	in := map[string]any{"artifactId": w.Artifact}
	words := func(format string, args ...any) *reply {
		return finally(contenttools.Answer{Message: fmt.Sprintf(format, args...), ArtifactID: w.Artifact,
			Options: Next(contenttools.ListedOf(&a))})
	}
	switch w.Intent {
	case script.Topics:
		return &reply{name: contenttools.TopicsResearch, input: map[string]any{"contentType": cmp.Or(w.Type,
			portfolio.Blog), "focusArea": w.Focus, "count": cmp.Or(w.Count, 5)}}
	case script.Create:
		in = map[string]any{"title": w.Title, "type": w.Type, "then": w.Steps, "tone": "professional"}
		for _, idea := range t.ideas {
			if strings.EqualFold(idea.Title, w.Title) {
				in["idea"] = contenttools.Idea{Angle: idea.SuggestedAngle, Audience: idea.Audience,
					Rationale: idea.Rationale}
			}
		}
		return &reply{name: contenttools.CreateDraft, input: in}
	case script.List:
		if w.Status == string(portfolio.Draft) {
			return &reply{name: contenttools.ListDraftArtifacts, input: map[string]any{}}
		}
		return &reply{name: contenttools.FetchArtifactTopics, input: map[string]any{"status": w.Status}}
	case script.Continue:
		if len(Rest(a.Status)) == 0 && r.proposed(ctx, t.user, a.ID, in) {
			return &reply{name: contenttools.ProposeEdit, input: in}
		}
		return &reply{name: ContinueWork, input: continueInput{w.Artifact}} // which knows what is missing
	case script.Accept, script.Reject:
		if p, err := r.Store.Proposal(ctx, t.user, w.Artifact); err == nil && p == nil {
			return words("There is no open proposal for “%s”.", a.Title)
		}
		in["accept"] = w.Intent == script.Accept
		return &reply{name: contenttools.DecideProposal, input: in}
	case script.Undo, script.Restore:
		return r.restore(ctx, t, w, &a)
	case script.Export:
		if t.labels.Get(labelPage) != Terminal || a.Content == "" {
			return words("The page of “%s” has the button “Download .md” for that.", a.Title)
		}
		sources, err := r.Store.Research(ctx, t.user, a.ID)
		if err != nil {
			return finally(r.problem(contenttools.Explain(err), t, ""))
		}
		return finally(contenttools.Answer{Message: fmt.Sprintf("“%s” as Markdown:", a.Title), ArtifactID: a.ID,
			Data: map[string]any{"markdown": contenttools.Markdown(&a, sources, "")}})
	case script.Stop:
		if t.unsaid != nil {
			return finally(contenttools.Answer{}) // it was stopped when the message came
		}
		return finally(r.stop(ctx, t.user, w.Artifact))
	case script.Work:
		if len(w.Steps) == 0 && a.Status != portfolio.Writing && a.Status != portfolio.CreatingVisuals {
			return words("“%s” has no images to come.", a.Title)
		}
		for len(w.Steps) > 1 && portfolio.Again(w.Steps[0], a.Status) && !slices.Equal(w.Steps, Full) {
			w.Steps = w.Steps[1:] // what comes before isn't done again
		}
		return &reply{name: RunSteps, input: stepsInput{ArtifactID: w.Artifact, About: a.Title,
			Steps: append([]string{}, w.Steps...), SkipImages: w.Bare,
			Again: len(w.Steps) > 0 && portfolio.Again(w.Steps[0], a.Status)}}
	case script.Tags:
		if w.AddTags {
			w.Tags = append(slices.Clone(a.Tags), w.Tags...)
		}
		in["tags"] = w.Tags
		return &reply{name: contenttools.SetTags, input: in}
	case script.Edit:
		if n, all := number(w.Section), headings(a.Content); n != 0 {
			if n = fromEnd(n, len(all)); n == 0 {
				return words("“%s” has no such section; there are %d.", a.Title, len(all))
			}
			w.Section = all[n-1]
		}
		in["instruction"], in["section"], in["remove"], in["again"] = w.Instruction, w.Section, w.Remove, w.Again
		return &reply{name: contenttools.ProposeEdit, input: in}
	case script.Picture:
		all := pictures(a.Content)
		n := fromEnd(cmp.Or(w.Number, 1), len(all))
		if n == 0 {
			return words("“%s” has no such picture; there are %d.", a.Title, len(all))
		}
		in["instruction"], in["picture"] = t.message, all[n-1]
		return &reply{name: contenttools.ProposeEdit, input: in}
	case script.Unknown, script.Help:
		here, _ := r.Store.Artifact(ctx, t.user, cmp.Or(at.About, at.Open)) // without it, there is no more to do
		return r.help(w, &here)
	}
	for name, v := range map[string]string{"title": w.Title, "tone": w.Tone} {
		if v != "" {
			in[name] = v
		}
	}
	if w.Intent == script.Publish || w.Intent == script.Archive {
		in["about"] = a.Title
	}
	return &reply{name: acts[w.Intent], input: in}
}

// number returns the number that a section has in place of a heading; 0: none.
func number(section string) int {
	n, _ := strconv.Atoi(section)
	return n
}

// fromEnd returns a number from 1, counted from the end if it is negative; 0: there are fewer.
func fromEnd(n, all int) int {
	if n < 0 {
		n += all + 1
	}
	if n < 1 || n > all {
		return 0
	}
	return n
}

// which asks which artifact is meant.
func (r *router) which(t turn, w script.Request) *reply {
	said := contenttools.Answer{Message: "Which article do you mean?", ClarificationNeeded: true}
	if w.Unknown != "" {
		said.Message = fmt.Sprintf("You have no article “%s”.", w.Unknown)
	}
	if len(w.Among) == 0 {
		said.Message += " You have none yet."
		said.Options = []Option{{Label: "Find topics", Message: "Suggest topics"}}
	}
	for i := range w.Among[:min(6, len(w.Among))] {
		a := &w.Among[i]
		said.Options = append(said.Options, Option{Label: a.Title,
			Message: strings.TrimRight(t.message, ".!? ") + " (artifact " + a.ID + ")"})
	}
	return finally(said)
}

// help says what the script knows, with what can be done next as buttons.
func (r *router) help(w script.Request, a *portfolio.Artifact) *reply {
	said := contenttools.Answer{Message: script.About, ArtifactID: a.ID, Options: []Option{
		{Label: "Show my drafts", Message: "Show my drafts"}, {Label: "Suggest topics", Message: "Suggest topics"}}}
	if w.Intent == script.Unknown {
		said.Message = "I don't know this request, so I changed nothing. " + script.Few + offers(script.Some)
		said.ClarificationNeeded = true
	} else {
		for _, g := range script.Groups {
			said.Message += "\n\n" + g.Title + offers(g.Requests)
		}
		said.Message += "\n\n" + script.Key
	}
	if a.ID != "" {
		said.Options = append(Next(contenttools.ListedOf(a)), append([]Option{{Label: "See its status",
			Message: "What's the status of this?"}}, said.Options...)...)
	}
	return finally(said)
}

// offers returns requests as a list, whose items the page shows as buttons.
func offers(requests []string) (said string) {
	for _, one := range requests {
		said += "\n- `" + one + "`"
	}
	return said
}

// restore begins to restore the version that a request names, or else the one before the newest.
// What isn't a change of the text is undone otherwise, so the answer offers that.
func (r *router) restore(ctx context.Context, t turn, w script.Request, a *portfolio.Artifact) *reply {
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
	case w.Number > 0:
		n = slices.IndexFunc(all, func(v portfolio.Version) bool { return v.Number == w.Number })
	case w.Intent == script.Undo && p != nil:
		said.Message = "Nothing has changed yet: there is a proposal for " + p.Target + "."
		said.Options = append(decisions(a.ID), said.Options...)
		return finally(said)
	case w.Intent == script.Undo && back.Label != "":
		said.Message = fmt.Sprintf("“%s” is %s. Its text hasn't changed since.", a.Title, a.Status)
		said.Options = append([]Option{back}, said.Options...)
		return finally(said)
	}
	if n < 0 || n >= len(all) {
		said.Message, said.Options = fmt.Sprintf("“%s” has no such version; there are %d.", a.Title, len(all)), nil
		if w.Number == 0 {
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

// accept is the option that accepts a proposal.
const accept = "Accept"

// decisions are the options for an open proposal.
func decisions(id string) []Option {
	return []Option{{Label: accept, Message: "Accept the proposal (artifact " + id + ")"},
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
