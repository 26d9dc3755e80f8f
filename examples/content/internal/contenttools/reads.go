package contenttools

import (
	"cmp"
	"context"
	"time"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/tools"
)

// A Listed is an artifact in a list.
type Listed struct {
	ID        string           `json:"id"`
	Title     string           `json:"title"`
	Type      string           `json:"type"`
	Status    portfolio.Status `json:"status"`
	CreatedAt time.Time        `json:"createdAt"`
}

func (k *kit) listed(ctx context.Context, user string, statuses ...portfolio.Status) ([]Listed, error) {
	all, err := k.Store.Artifacts(ctx, user, statuses...)
	out := make([]Listed, 0, len(all))
	for _, a := range all {
		out = append(out, ListedOf(&a))
	}
	return out, err
}

// ListedOf returns what a list has of an artifact.
func ListedOf(a *portfolio.Artifact) Listed {
	return Listed{a.ID, a.Title, a.Type, a.Status, a.CreatedAt}
}

// lists returns a tool that lists the artifacts with one of these statuses, or all, in a field of
// its answer. Its input can choose among them.
func (k *kit) lists(name, field, about string, statuses ...portfolio.Status) tools.Tool {
	return reading(k, tools.Spec{Name: name, Description: about},
		func(ctx context.Context, user string, in struct {
			Status portfolio.Status `json:"status,omitempty"`
		}) (any, error) {
			only := statuses
			if in.Status != "" {
				only = []portfolio.Status{in.Status}
			}
			all, err := k.listed(ctx, user, only...)
			return map[string]any{field: all, "count": len(all)}, err
		})
}

func (k *kit) fetchArtifact() tools.Tool {
	return reading(k,
		tools.Spec{Name: FetchArtifact, Description: "Returns an artifact with its text, status and metadata."},
		func(ctx context.Context, user string, in ofArtifact) (any, error) {
			a, err := k.artifact(ctx, user, in.ArtifactID)
			a.Content = tail(a.Content, lastPart)
			return map[string]any{"artifact": a}, err
		})
}

func (k *kit) fetchResearch() tools.Tool {
	return reading(k, tools.Spec{Name: FetchResearch,
		Description: "Returns the best ten sources of an artifact."},
		func(ctx context.Context, user string, in ofArtifact) (any, error) {
			found, err := k.Store.Research(ctx, user, in.ArtifactID)
			if err = cmp.Or(CheckID(in.ArtifactID), err); err == nil && len(found) == 0 {
				err = portfolio.Errorf(portfolio.ResearchNotFound,
					"There is no research for this article yet; topicResearch does it.")
			}
			found = best(found, 10)
			for i := range found {
				found[i].Excerpt = excerpt(found[i].Excerpt, 200)
			}
			return map[string]any{"research": found, "count": len(found)}, err
		})
}

func best(found []portfolio.Source, n int) []portfolio.Source { return found[:min(n, len(found))] }

// An Option is something that the user can do next: the label of a button, and what it sends.
type Option struct {
	Label   string `json:"label"`
	Message string `json:"message"`
}

// An Answer is the input of structuredResponse, which ends a turn.
type Answer struct {
	Title               string         `json:"title,omitempty"`
	Message             string         `json:"message" description:"what the user reads"`
	ArtifactID          string         `json:"artifactId,omitempty"`
	Status              string         `json:"status,omitempty"`
	Options             []Option       `json:"options,omitempty" description:"buttons, at most six"`
	ClarificationNeeded bool           `json:"clarificationNeeded,omitempty"`
	Data                map[string]any `json:"data,omitempty"`
}

func structured() tools.Tool {
	return tools.New(tools.Spec{Name: StructuredResponse,
		Description: "Ends the turn with the answer for the user. Nothing may follow.", ReadOnly: true, NoBreaker: true,
		Inline: true},
		func(_ context.Context, in Answer) (Answer, error) {
			if in.Message == "" || len(in.Options) > 6 {
				return in, portfolio.Errorf(portfolio.InvalidInput,
					"The message must not be empty, and there can be at most six options.")
			}
			return in, portfolio.CheckLength("message", in.Message, 10_000)
		})
}
