package contenttools

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/tools"
)

type nothing struct{}

type oneArtifact struct {
	ArtifactID string `json:"artifactId" description:"the id of the artifact"`
}

func (in oneArtifact) target() string { return in.ArtifactID }

// A Listed is an artifact in a list.
type Listed struct {
	ID        string           `json:"id"`
	Title     string           `json:"title"`
	Type      string           `json:"type"`
	Status    portfolio.Status `json:"status"`
	CreatedAt time.Time        `json:"createdAt,omitzero"`
}

func (k *kit) listed(ctx context.Context, user string, created bool, statuses ...portfolio.Status) ([]Listed, error) {
	all, err := k.Store.Artifacts(ctx, user, statuses...)
	out := make([]Listed, 0, len(all))
	for _, a := range all {
		l := Listed{ID: a.ID, Title: a.Title, Type: a.Type, Status: a.Status}
		if created {
			l.CreatedAt = a.CreatedAt
		}
		out = append(out, l)
	}
	return out, err
}

func (k *kit) fetchTopics() tools.Tool {
	return reading(k, tools.Spec{Name: FetchArtifactTopics,
		Description: "Lists the user's artifacts with titles, types and statuses."},
		func(ctx context.Context, user string, _ nothing) (any, error) {
			all, err := k.listed(ctx, user, false)
			return map[string]any{"topics": all, "count": len(all)}, err
		})
}

func (k *kit) listDrafts() tools.Tool {
	return reading(k,
		tools.Spec{Name: ListDraftArtifacts, Description: "Lists the user's artifacts with the status draft."},
		func(ctx context.Context, user string, _ nothing) (any, error) {
			all, err := k.listed(ctx, user, true, portfolio.Draft)
			return map[string]any{"artifacts": all, "count": len(all)}, err
		})
}

func (k *kit) fetchArtifact() tools.Tool {
	return reading(k,
		tools.Spec{Name: FetchArtifact, Description: "Returns an artifact with its text, status and metadata."},
		func(ctx context.Context, user string, in oneArtifact) (any, error) {
			if err := CheckID(in.ArtifactID); err != nil {
				return nil, err
			}
			a, err := k.Store.Artifact(ctx, user, in.ArtifactID)
			a.Content = tail(a.Content, lastPart)
			return map[string]any{"artifact": a}, err
		})
}

func (k *kit) fetchResearch() tools.Tool {
	return reading(k, tools.Spec{Name: FetchResearch,
		Description: "Returns the ten most relevant sources that were found for an artifact."},
		func(ctx context.Context, user string, in oneArtifact) (any, error) {
			if err := CheckID(in.ArtifactID); err != nil {
				return nil, err
			}
			found, err := k.Store.Research(ctx, user, in.ArtifactID)
			if err == nil && len(found) == 0 {
				err = portfolio.Errorf(portfolio.ResearchNotFound,
					"There is no research for this artifact yet; topicResearch does it.")
			}
			found = best(found, 10)
			for i := range found {
				found[i].Excerpt = excerpt(found[i].Excerpt, 200)
			}
			return map[string]any{"research": found, "count": len(found)}, err
		})
}

func best(found []portfolio.Source, n int) []portfolio.Source { return found[:min(n, len(found))] }

// An Answer is the input of structuredResponse, which ends a turn.
type Answer struct {
	Title               string         `json:"title,omitempty"`
	Message             string         `json:"message" description:"what the user reads"`
	ArtifactID          string         `json:"artifactId,omitempty"`
	Status              string         `json:"status,omitempty"`
	Options             []string       `json:"options,omitempty" description:"buttons, at most five"`
	ClarificationNeeded bool           `json:"clarificationNeeded,omitempty"`
	Data                map[string]any `json:"data,omitempty"`
}

func structured() tools.Tool {
	return tools.New(tools.Spec{Name: StructuredResponse,
		Description: "Ends the turn with the answer for the user. Nothing may follow.", ReadOnly: true, NoBreaker: true,
		Inline: true},
		func(_ context.Context, in Answer) (Answer, error) {
			if in.Message == "" || len(in.Options) > 5 {
				return in, portfolio.Errorf(portfolio.InvalidInput,
					"The message must not be empty, and there can be at most five options.")
			}
			return in, portfolio.CheckLength("message", in.Message, 10_000)
		})
}
