package assistant

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	fixedTokens   = 5_000
	historyTokens = 10_000 // five turns that list drafts take 9,000
)

// How many artifacts and versions the model always knows. It fetches the others.
const (
	knownArtifacts = 8
	knownVersions  = 4
)

// context returns what the model always knows: the user, the screen, the newest articles, and the
// versions and the proposal of the article on the screen. What else it needs, it fetches.
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
	page, artifact := orElse(info.Labels[labelPage], "chat"), info.Labels[labelArtifact]
	if seen := strings.Split(info.Labels[labelSeen], " "); len(seen) == 3 && seen[0] == in.Run {
		page, artifact = seen[1], seen[2]
	}
	c.Screen = "\nPage: " + page + "\nNo artifact selected"
	if a, err := s.Store.Artifact(ctx, info.Owner, artifact); err == nil {
		c.Screen = cut(fmt.Sprintf("\nPage: %s\nArtifact: %s (%s, %s, %s): %s", page, a.ID, a.Type, a.Status, a.Tone,
			a.Title), screenBudget)
		versions, err := s.versions(ctx, info.Owner, a.ID)
		if err != nil {
			return c, err
		}
		c.Fetched = append(c.Fetched, memory.Fetched{Name: "versions of this artifact", Text: versions})
	}
	c.Screen += choices(detect(in.Text))
	articles, err := s.articles(ctx, info.Owner)
	c.Fetched = append(c.Fetched, memory.Fetched{Name: "artifacts", Text: articles})
	return c, err
}

// articles lists the newest artifacts of a user.
func (s *Services) articles(ctx context.Context, user string) (string, error) {
	all, err := s.Store.Artifacts(ctx, user)
	if err != nil || len(all) == 0 {
		return "There are none yet.", err
	}
	var b strings.Builder
	for _, a := range all[:min(len(all), knownArtifacts)] {
		fmt.Fprintf(&b, "%s (%s, %s): %s\n", a.ID, a.Type, a.Status, cut(a.Title, 80))
	}
	if more := len(all) - knownArtifacts; more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	return b.String(), nil
}

// versions lists the newest versions of an artifact, and its open proposal.
func (s *Services) versions(ctx context.Context, user, id string) (string, error) {
	var b strings.Builder
	p, err := s.Store.Proposal(ctx, user, id)
	if err != nil {
		return "", err
	}
	if p != nil {
		fmt.Fprintf(&b, "A proposal for %s waits for a decision: %s\n", p.Target, cut(p.Instruction, 200))
	}
	all, err := s.Store.Versions(ctx, user, id)
	for _, v := range all[:min(len(all), knownVersions)] {
		fmt.Fprintf(&b, "%d, by %s, %s, %d characters\n", v.Number, v.Author, v.At.Format("2 January 15:04"), v.Length)
	}
	return b.String(), err
}

// The labels of a run: what the user has in front of them, and the trace of its answer. labelSeen
// is that of a session: the run in progress, and what they had in front of them with their newest
// message to it.
const (
	labelSeen     = "seen"
	labelPage     = "page"
	labelArtifact = "artifact"
	labelTrace    = "trace"
	labelIntent   = "intent" // the verdict of the detector: "PUBLISH 0.95"
)

// Labels returns the labels of a run for a message.
func (s *Services) Labels(screen Screen, message string) map[string]string {
	labels := map[string]string{labelTrace: s.NewTrace()}
	if message != "" { // a terminal reads it later
		v := detect(message)
		labels[labelIntent] = fmt.Sprintf("%s %.2f", v.Intent, v.Confidence)
	}
	if screen.CurrentPage != "" {
		labels[labelPage] = screen.CurrentPage
	}
	if screen.ArtifactID != "" {
		labels[labelArtifact] = screen.ArtifactID
	}
	return labels
}

// Sees says what a user has in front of them whose message may come into a run in progress of a
// session of theirs. That has the labels of the message that it began with.
func (s *Services) Sees(ctx context.Context, user, session string, screen Screen) error {
	own := s.Agent.Session(session)
	info, err := own.Info(ctx)
	if errors.Is(err, agent.ErrNothingOpen) || err == nil && (info.Owner != user || info.Status != agent.Running) {
		return nil
	}
	if err != nil {
		return err
	}
	res, err := own.Result(ctx)
	if err != nil {
		return err
	}
	return own.SetLabel(ctx, labelSeen, strings.Join([]string{res.Run, orElse(screen.CurrentPage, "chat"),
		orElse(screen.ArtifactID, "none")}, " "))
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
