package main

import (
	"embed"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

//go:embed instructions/*.md
var instructions embed.FS

// modes are the ways of working, and how many model calls a run may make in each. The first is the default.
var modes = []struct {
	name  string
	steps int
}{{cmstools.CRUD, 10}, {cmstools.Architect, 6}, {cmstools.Debug, 4}, {cmstools.Ask, 6}}

// modeNames returns the names of the modes.
func modeNames() (names []string) {
	for _, m := range modes {
		names = append(names, m.name)
	}
	return names
}

// lease is how long a session stays with a process that was last heard of then: so long one waits at most for a process that
// was killed. One that lives renews it every third of that time.
const lease = 5 * time.Second

// newAgent makes the agent of a site. expires is how long an approval may take; 0: for ever.
func newAgent(m provider.Provider, s *site.Site, store journal.Store, expires time.Duration, log *slog.Logger) (*agent.Agent, error) {
	base, err := instruct("base")
	if err != nil {
		return nil, err
	}
	cfg := agent.Config{
		Name:         "cms",
		Provider:     m,
		Instructions: base,
		Tools:        cmstools.All(s),
		Journal:      store,
		Lease:        lease,
		Limits:       agent.Limits{AskAfterCorrections: true},
		Policies:     []tools.Policy{cmstools.OneWrite},
		PauseExpires: expires,
		Logger:       log,
	}
	for _, mode := range modes {
		text, err := instruct(mode.name)
		if err != nil {
			return nil, err
		}
		cfg.Modes = append(cfg.Modes, agent.Mode{Name: mode.name, Instructions: text, Limits: &agent.Limits{Steps: mode.steps}})
	}
	return agent.New(cfg)
}

func instruct(name string) (string, error) {
	text, err := instructions.ReadFile("instructions/" + name + ".md")
	if err != nil {
		return "", fmt.Errorf("the instructions for %s: %w", name, err)
	}
	return strings.TrimSpace(string(text)), nil
}
