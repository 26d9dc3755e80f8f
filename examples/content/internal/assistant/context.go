package assistant

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/memory"
)

// A Screen is what the user has in front of them.
type Screen struct {
	CurrentPage    string `json:"currentPage,omitempty"` // portfolio, artifact, dashboard or chat
	ArtifactID     string `json:"artifactId,omitempty"`
	ArtifactType   string `json:"artifactType,omitempty"`
	ArtifactTitle  string `json:"artifactTitle,omitempty"`
	ArtifactStatus string `json:"artifactStatus,omitempty"`
}

// The budgets of the context, in characters: four for a token.
const (
	userBudget   = 4 * 500
	screenBudget = 4 * 150
)

// fixedTokens is how many tokens the instructions, the tools and the context of a turn take at
// most; a test measures them. historyTokens is how many the conversation takes besides after its
// older part was summarized, or left out with the stand-in model, which can't summarize. That
// happens when a request takes 40 % more than both. The last five turns (13 groups) stay as they
// are, or fewer if they take more than that.
const (
	fixedTokens   = 2_500
	historyTokens = 10_000 // five turns that list drafts take 9,000
)

// A turn names the user whose message is answered, and the page and the artifact on their screen.
// It is a value of the run's context.
type turn struct{ user, page, artifact string }

type turnKey struct{}

// context returns what the model always knows: the user and the screen. What else it needs, it
// fetches.
func (s *Services) context(ctx context.Context, _ agent.ContextInput) (c memory.Context, err error) {
	t, ok := ctx.Value(turnKey{}).(turn)
	if !ok {
		return c, nil
	}
	about, err := s.Store.Context(ctx, t.user)
	if err != nil {
		return c, err
	}
	c.User = cut(about.Lines(), userBudget)
	c.Screen = "\nPage: " + orElse(t.page, "chat") + "\nNo artifact selected"
	if a, err := s.Store.Artifact(ctx, t.user, t.artifact); err == nil {
		c.Screen = cut(fmt.Sprintf("\nPage: %s\nArtifact: %s (%s, %s): %s", orElse(t.page, "chat"), a.ID, a.Type,
			a.Status, a.Title), screenBudget)
	}
	return c, nil
}

// memory returns how conversations are kept within their budget.
func (s *Services) memory() (*agent.Memory, error) {
	var summary *memory.Summarise
	if s.cfg.Classify { // it is a real model
		var err error
		if summary, err = memory.NewSummarise(memory.Summary{Provider: s.cfg.Model, MaxOutput: 500}); err != nil {
			return nil, err
		}
	}
	return &agent.Memory{Context: s.context, Config: memory.Config{Steps: memory.DefaultSteps(summary), Keep: 13,
		Rules: []memory.Rule{{When: memory.AtTokens((fixedTokens + historyTokens) * 7 / 5)}}}}, nil
}

func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

func orElse(v, other string) string {
	if v == "" {
		return other
	}
	return v
}
