package assistant

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/memory"
)

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
	fixedTokens   = 4_000
	historyTokens = 10_000 // five turns that list drafts take 9,000
)

// context returns what the model always knows: the user and the screen. What else it needs, it
// fetches.
func (s *Services) context(ctx context.Context, in agent.ContextInput) (c memory.Context, err error) {
	info, err := s.Agent.Session(in.Session).Info(ctx)
	if err != nil || info.Owner == "" {
		return c, err
	}
	about, err := s.Store.Context(ctx, info.Owner)
	if err != nil {
		return c, err
	}
	c.User = cut(about.Lines(), userBudget)
	page := orElse(info.Labels[labelPage], "chat")
	c.Screen = "\nPage: " + page + "\nNo artifact selected"
	if a, err := s.Store.Artifact(ctx, info.Owner, info.Labels[labelArtifact]); err == nil {
		c.Screen = cut(fmt.Sprintf("\nPage: %s\nArtifact: %s (%s, %s): %s", page, a.ID, a.Type, a.Status, a.Title),
			screenBudget)
	}
	return c, nil
}

// The labels of a run: what the user has in front of them, and the trace of its answer.
const (
	labelPage     = "page"
	labelArtifact = "artifact"
	labelTrace    = "trace"
)

// Labels returns the labels of a run for a message.
func (s *Services) Labels(screen Screen) map[string]string {
	labels := map[string]string{labelTrace: s.NewTrace()}
	if screen.CurrentPage != "" {
		labels[labelPage] = screen.CurrentPage
	}
	if screen.ArtifactID != "" {
		labels[labelArtifact] = screen.ArtifactID
	}
	return labels
}

// memory returns how conversations are kept within their budget.
func (s *Services) memory() (*agent.Memory, error) {
	var summary *memory.Summarise
	if s.cfg.Real { // it is a real model
		var err error
		summary, err = memory.NewSummarise(memory.Summary{Provider: masking{s.cfg.Model}, MaxOutput: 500})
		if err != nil {
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
