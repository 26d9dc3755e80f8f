package contenttools

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/examples/content/internal/humanity"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mock"
)

type humanizerInput struct {
	ofArtifact
	Content    string `json:"content,omitempty" description:"the text to revise; that of the artifact if it is empty"`
	Tone       string `json:"tone,omitempty" enum:"formal,casual,professional,conversational,technical,friendly,authoritative,humorous"`
	KeepStatus bool   `json:"keepStatus,omitempty" description:"leave the status as it is, because images follow"`
}

// imagePlaceholder finds where an image is to be; its first group is what it shows.
var imagePlaceholder = regexp.MustCompile(`\[IMAGE: ([^\]\n]+)\]`)

func (k *kit) humanizer() tools.Tool {
	return writing(k,
		tools.Spec{Name: portfolio.Humanizer,
			Description: "Revises the text of an artifact so that it sounds less like a machine. The status becomes " +
				"ready, unless keepStatus is set."},
		func(ctx context.Context, j *job, in humanizerInput) (c portfolio.Change, data any, err error) {
			old := cmp.Or(in.Content, j.artifact.Content)
			if old == "" {
				return c, nil, portfolio.Errorf(portfolio.MissingContext, "The artifact has no text to revise.")
			}
			if err := portfolio.CheckLength("content", old, portfolio.MaxContent); err != nil {
				return c, nil, err
			}
			text, before, after, err := k.humanize(ctx, j, old, cmp.Or(in.Tone, j.artifact.Tone))
			if err != nil {
				return c, nil, err
			}
			if j.artifact.Status == portfolio.Published { // it is taken back first, which is a change of its own
				_, err := k.Store.Apply(ctx, portfolio.Change{User: j.user, Artifact: j.artifact.ID, Holder: j.holder,
					By: portfolio.BySystem, From: portfolio.Published, To: portfolio.Ready})
				if err != nil {
					return c, nil, err
				}
				j.artifact.Status = portfolio.Ready
			}
			to := portfolio.Ready
			if in.KeepStatus {
				to = j.artifact.Status
			}
			was, is := utf8.RuneCountInString(old), utf8.RuneCountInString(text)
			result := map[string]any{"originalLength": was, "humanizedLength": is, "lengthChange": is - was,
				"patternsChecked": humanity.Checked, "patternsFixed": max(before.Total()-after.Total(), 0),
				"humanityScoreBefore": before.Score, "humanityScoreAfter": after.Score,
				"before": before.Summary, "after": after.Summary, "found": slices.Sorted(maps.Keys(after.Found)),
			}
			return portfolio.Change{From: j.artifact.Status, To: to, Content: &text,
				Metadata: map[string]any{"humanity": result}}, result, nil
		})
}

// humanize revises a text, and checks what has become of it.
func (k *kit) humanize(ctx context.Context, j *job, old, tone string) (text string, before, after humanity.Report,
	err error) {
	before = humanity.Check(old)
	text, err = mock.Call(ctx, k.Mocks.Category("humanityCheckTools"), mock.Key{Name: "applyHumanityCheck",
		Values: map[string]any{"content": old}}, func(ctx context.Context) (string, error) {
		found := "Found:\n"
		for _, p := range humanity.Patterns {
			if n := before.Found[p.Name]; n > 0 {
				found += fmt.Sprintf("- %s (%d): %s\n", p.Name, n, p.Advice)
			}
		}
		return k.ask(ctx, j.task("humanizer", tone, found+prompt.Data("text", old), 0.7))
	})
	if err != nil {
		return "", before, after, err
	}
	after = humanity.Check(text)
	was, is := utf8.RuneCountInString(old), utf8.RuneCountInString(text)
	wrong := ""
	switch {
	case after.Score < before.Score:
		wrong = fmt.Sprintf("has more patterns of machines than before: %d finds instead of %d", after.Total(),
			before.Total())
	case is*10 < was*7 || is*10 > was*13:
		wrong = fmt.Sprintf("has %d characters instead of %d; it may differ by 30 %%", is, was)
	case !slices.Equal(imagePlaceholder.FindAllString(old, -1), imagePlaceholder.FindAllString(text, -1)):
		wrong = "has lost a placeholder of an image"
	default:
		return text, before, after, nil
	}
	return "", before, after, portfolio.Errorf(portfolio.ToolExecutionFailed, "The revised text %s.", wrong)
}
