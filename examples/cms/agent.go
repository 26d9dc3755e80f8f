package main

import (
	"errors"
	"log/slog"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/critic"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/cms/internal/assistant"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/internal/consent"
	"github.com/pawlkit/pawl/tools"
)

// newAgent makes the agent of a site.
func (o *options) newAgent(site cmstools.Config, store journal.Store, log *slog.Logger) (*agent.Agent, error) {
	texts, err := prompts()
	if err != nil {
		return nil, err
	}
	var a *agent.Agent
	self := func() *agent.Agent { return a } // once it is made
	window := &agent.Memory{}                // compacts long sessions, so that they fit the model's window
	hooks, policies := []agent.Hooks{cmstools.Names()}, []tools.Policy{cmstools.OneWrite, cmstools.Works(site)}
	if !o.standIn { // which can't judge, and reads nothing but requests
		window.Context = assistant.Context(site.Site, self)
		judge, err := critic.New(critic.Config{Provider: o.model, Rewrite: true, Logger: log})
		if err != nil {
			return nil, err
		}
		hooks = append(hooks, judge)
		heard := consent.Listen(self)
		hooks, policies = append(hooks, heard.Hooks()), append(policies, asking(o.model, heard))
	}
	cfg := agent.Config{
		Name:         "cms",
		Provider:     o.model,
		Instructions: texts.Core(),
		Tools:        cmstools.All(site),
		Journal:      store,
		Lease:        lease,
		Memory:       window,
		Limits:       agent.Limits{AskAfterCorrections: true, ToolFailures: 3},
		Policies:     policies,
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
	if !o.standIn { // which reads no skills
		if err := useSkills(&cfg, self); err != nil {
			return nil, err
		}
	}
	a, err = agent.New(cfg)
	return a, err
}
