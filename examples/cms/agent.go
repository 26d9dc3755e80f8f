package main

import (
	"embed"
	"io/fs"
	"log/slog"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

//go:embed instructions/*.md
var instructions embed.FS

// modes are the modes of the agent, with the model calls that a run may make in each. The first one
// is the default.
var modes = []struct {
	name  string
	steps int
}{{cmstools.CRUD, 20}, {cmstools.Architect, 6}, {cmstools.Debug, 4}, {cmstools.Ask, 6}}

// modeNames returns the names of the modes.
func modeNames() (names []string) {
	for _, m := range modes {
		names = append(names, m.name)
	}
	return names
}

// lease is how long a session belongs to a process after its last renewal. A running process renews
// every third of that time; after a crash, another process waits at most this long.
const lease = 4 * time.Second

// newAgent makes the agent of a site. expires is how long an approval may take; 0 means no limit.
func newAgent(m provider.Provider, sv cmstools.Config, store journal.Store, expires time.Duration,
	log *slog.Logger) (*agent.Agent, error) {
	prompts, err := loadPrompts()
	if err != nil {
		return nil, err
	}
	behavior := assistant.Behavior{Fallbacks: map[string]string{cmstools.UpdatePage: cmstools.CreatePage}}
	if _, standIn := m.(*model.Model); !standIn { // which can't judge
		behavior.Critic = m
	}
	hooks, err := assistant.Hooks(behavior)
	if err != nil {
		return nil, err
	}
	all := cmstools.All(sv)
	cfg := agent.Config{
		Name:         "cms",
		Provider:     m,
		Instructions: prompts.Core(),
		Tools:        all,
		Journal:      store,
		Lease:        lease,
		Memory:       &agent.Memory{}, // compacts long sessions, so that they fit the model's window
		Limits:       agent.Limits{AskAfterCorrections: true},
		Policies:     []tools.Policy{cmstools.OneWrite},
		Hooks:        hooks,
		PauseExpires: expires,
		Logger:       log,
	}
	for _, mode := range modes {
		text, err := prompts.Mode(mode.name)
		if err != nil {
			return nil, err
		}
		m := agent.Mode{Name: mode.name, Instructions: text, Limits: &agent.Limits{Steps: mode.steps}}
		if mode.name != cmstools.CRUD {
			m.Tools = func(d *tools.Definition) bool {
				return d.Spec().Category != "planning" || d.Name() == cmstools.ValidatePlan
			}
		}
		cfg.Modes = append(cfg.Modes, m)
	}
	plans, err := planTools(cfg, sv)
	if err != nil {
		return nil, err
	}
	cfg.Tools = append(all, plans...)
	return agent.New(cfg)
}

// planTools returns the tools with which a model submits plans. Their steps are carried out by an
// agent of their own, which has the tools of the site.
func planTools(cfg agent.Config, sv cmstools.Config) ([]tools.Tool, error) {
	cfg.Name, cfg.Hooks, cfg.Memory = "cms-steps", nil, nil
	steps, err := agent.New(cfg)
	if err != nil {
		return nil, err
	}
	runner, err := plan.New(plan.Config{Agent: steps, Lease: lease, Logger: cfg.Logger,
		Weights: plan.Weights{MissingOf: cmstools.Missing(sv)}})
	if err != nil {
		return nil, err
	}
	return plan.Tools(runner), nil
}

// loadPrompts reads the instructions.
func loadPrompts() (*prompt.Set, error) {
	files, err := fs.Sub(instructions, "instructions")
	if err != nil {
		return nil, err
	}
	layers := prompt.Config{Core: []string{"base.md"}}
	for _, mode := range modes {
		layers.Modes = append(layers.Modes, prompt.Mode{Name: mode.name, Sections: []string{mode.name + ".md"}})
	}
	return prompt.Load(files, layers)
}

// systemText returns the instructions of a mode, for the message history of the page.
func systemText(mode string) string {
	prompts, err := loadPrompts()
	if err != nil {
		return ""
	}
	text, _ := prompts.Mode(mode) // an unknown mode has none
	return prompts.Core() + "\n\n" + text
}
