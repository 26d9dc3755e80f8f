package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/examples/internal/consent"
	"github.com/pawlkit/pawl/tools"
)

// asks are the tools whose calls may ask the user.
var asks = []string{RunSteps, contenttools.Publish, contenttools.Archive, contenttools.RenameArtifact,
	contenttools.RestoreVersion, contenttools.Reopen, contenttools.DecideProposal}

// policy asks the user about calls that others see, or that replace a text.
func (s *Services) policy(ctx context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
	name := d.Name()
	if !slices.Contains(asks, name) {
		return tools.Verdict{Effect: tools.Allow}
	}
	var in struct { // the others have an artifactId, too
		stepsInput
		Accept bool
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return tools.Verdict{Effect: tools.Deny, Reason: err.Error()}
	}
	a, err := s.Store.Artifact(ctx, c.User, in.ArtifactID)
	if err != nil {
		return tools.Verdict{Effect: tools.Allow} // the call says what is wrong
	}
	if in.About != "" && in.About != a.Title { // the user would be asked about something else
		return tools.Verdict{Effect: tools.Deny, Reason: "about must be the title of the artifact, “" + a.Title + "”."}
	}
	why := ""
	switch name {
	case contenttools.Publish:
		if a.Status == portfolio.Ready && contenttools.CheckPlaceholders(a.Content) == nil { // else it is refused
			why = fmt.Sprintf("Others can read “%s” then.", a.Title)
		}
	case contenttools.Archive:
		if a.Status != portfolio.Archived {
			why = fmt.Sprintf("“%s” is %s. It leaves your portfolio; you can take it out of the archive again.",
				a.Title, words(a.Status))
		}
	case contenttools.RenameArtifact, contenttools.RestoreVersion, contenttools.Reopen, contenttools.DecideProposal:
		if a.Status == portfolio.Published && (name != contenttools.DecideProposal || in.Accept) {
			why = fmt.Sprintf("“%s” isn't published any more then: others can't read it until you publish it again.", a.Title)
		}
	default:
		if why, err = s.lost(ctx, c, &a, in.Steps); err != nil {
			return tools.Verdict{Effect: tools.Deny, Reason: err.Error()}
		}
	}
	if why == "" {
		return tools.Verdict{Effect: tools.Allow}
	}
	return tools.Verdict{Effect: tools.Ask, Reason: why}
}

// consent asks about calls that the user's message doesn't ask for. A proposal changes nothing, and
// a button says what it does.
func (s *Services) consent(heard *consent.Listener) tools.Policy {
	return consent.Policy(consent.Config{
		Said:  heard.Said,
		Judge: consent.Judge(masking{s.cfg.Model}),
		Exact: buttons.MatchString,
		Free: func(d *tools.Definition, c *tools.Call) bool {
			var in struct{ Accept bool }
			switch d.Name() {
			case contenttools.ProposeEdit, contenttools.StructuredResponse:
				return true
			case contenttools.DecideProposal: // to reject it changes nothing
				return json.Unmarshal(c.Input, &in) == nil && !in.Accept
			}
			return false
		},
	})
}

// lost says what steps would replace or take back; empty if that is nothing.
func (s *Services) lost(ctx context.Context, c *tools.Call, a *portfolio.Artifact, steps []string) (string, error) {
	if _, begun, err := s.Store.PipelineNamed(ctx, pipelineName(a.ID, c.IdempotencyKey)); begun || err != nil {
		return "", err // the call is repeated
	}
	if p, err := s.Pipeline(ctx, c.User, a.ID); err != nil || p != nil && p.State == PipelineRunning {
		return "", err // it is refused
	}
	what := fmt.Sprintf("the text of “%s” (%d words)", a.Title, len(strings.Fields(a.Content)))
	if a.Status == portfolio.Skeleton {
		what = fmt.Sprintf("the outline of “%s”", a.Title)
	}
	for _, step := range steps {
		again := portfolio.Again(step, a.Status)
		switch {
		case a.Status == portfolio.Published && step == portfolio.Humanizer:
			return fmt.Sprintf("“%s” is published. It goes back to ready, and its text is revised.", a.Title), nil
		case again && step == portfolio.TopicResearch && len(steps) == 1:
			return fmt.Sprintf("“%s” was researched before. New sources are added; the text stays as it is.",
				a.Title), nil
		case again && step != portfolio.TopicResearch:
			return "This replaces " + what + ". The versions of the article keep it.", nil
		}
	}
	return "", nil
}
