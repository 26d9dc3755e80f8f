package main

import (
	"embed"
	"io/fs"
	"log/slog"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/prompt"
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

// newAgent makes the agent of a site. expires is how long an approval may take; 0: no limit.
func newAgent(m provider.Provider, s *site.Site, store journal.Store, expires time.Duration, log *slog.Logger) (*agent.Agent, error) {
	files, err := fs.Sub(instructions, "instructions")
	if err != nil {
		return nil, err
	}
	layers := prompt.Config{Core: []string{"base.md"}}
	for _, mode := range modes {
		layers.Modes = append(layers.Modes, prompt.Mode{Name: mode.name, Sections: []string{mode.name + ".md"}})
	}
	prompts, err := prompt.Load(files, layers)
	if err != nil {
		return nil, err
	}
	cfg := agent.Config{
		Name:         "cms",
		Provider:     m,
		Instructions: prompts.Core(),
		Tools:        cmstools.All(s),
		Journal:      store,
		Lease:        lease,
		Memory:       &agent.Memory{}, // sessions may be resumed for ever: the window of the model holds them
		Limits:       agent.Limits{AskAfterCorrections: true},
		Policies:     []tools.Policy{cmstools.OneWrite},
		PauseExpires: expires,
		Logger:       log,
	}
	for _, mode := range modes {
		text, err := prompts.Mode(mode.name)
		if err != nil {
			return nil, err
		}
		cfg.Modes = append(cfg.Modes, agent.Mode{Name: mode.name, Instructions: text, Limits: &agent.Limits{Steps: mode.steps}})
	}
	return agent.New(cfg)
}
