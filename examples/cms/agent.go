package main

import (
	"embed"
	"errors"
	"log/slog"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/critic"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/tools"
)

// newAgent makes the agent of a site.
func (o *options) newAgent(site cmstools.Config, store journal.Store, log *slog.Logger) (*agent.Agent, error) {
	texts, err := prompts()
	if err != nil {
		return nil, err
	}
	var hooks []agent.Hooks
	if !o.standIn { // which can't judge
		judge, err := critic.New(critic.Config{Provider: o.model, Rewrite: true, Logger: log})
		if err != nil {
			return nil, err
		}
		hooks = append(hooks, judge)
	}
	cfg := agent.Config{
		Name:         "cms",
		Provider:     o.model,
		Instructions: texts.Core(),
		Tools:        cmstools.All(site),
		Journal:      store,
		Lease:        lease,
		Memory:       &agent.Memory{}, // compacts long sessions, so that they fit the model's window
		Limits:       agent.Limits{AskAfterCorrections: true, ToolFailures: 3},
		Policies:     []tools.Policy{cmstools.OneWrite, cmstools.Works(site)},
		Hooks:        hooks,
		PauseExpires: o.expires,
		Logger:       log,
	}
	for _, mode := range cmstools.Modes {
		text, failed := texts.Mode(mode.Name)
		m := agent.Mode{Name: mode.Name, Instructions: text, Limits: &agent.Limits{Steps: mode.Steps}}
		if mode.Name == cmstools.Debug || mode.Name == cmstools.Ask {
			m.Tools = func(d *tools.Definition) bool { return d.Spec().Category != "planning" }
		}
		cfg.Modes, err = append(cfg.Modes, m), errors.Join(err, failed)
	}
	if err != nil {
		return nil, err
	}
	// Plans are carried out by an agent of their own, which has the same tools.
	own := cfg
	own.Name, own.Hooks, own.Memory = "cms-steps", nil, nil
	steps, err := agent.New(own)
	if err != nil {
		return nil, err
	}
	runner, err := plan.New(plan.Config{Agent: steps, Parallel: 1, Lease: lease, Logger: log,
		Weights: cmstools.Weights(site)})
	if err != nil {
		return nil, err
	}
	cfg.Tools = append(cfg.Tools, plan.Tools(runner)...)
	return agent.New(cfg)
}

//go:embed instructions
var instructions embed.FS

// prompts reads the instructions: the core, which is the same for all modes, and a file for each
// mode, which includes components and examples.
var prompts = sync.OnceValues(func() (*prompt.Set, error) {
	var cfg prompt.Config
	for _, part := range []string{"identity", "capabilities", "universal-rules"} {
		cfg.Core = append(cfg.Core, "instructions/core/"+part+".md")
	}
	for _, mode := range cmstools.Modes {
		cfg.Modes = append(cfg.Modes, prompt.Mode{Name: mode.Name,
			Sections: []string{"instructions/modes/" + mode.Name + ".md"}})
	}
	return prompt.Load(instructions, cfg)
})

// systemText returns the instructions of a mode, for the log on the page.
func systemText(mode string) string {
	texts, _ := prompts()       // the agent has them
	text, _ := texts.Mode(mode) // an unknown mode has none
	return texts.Core() + "\n\n" + text
}
