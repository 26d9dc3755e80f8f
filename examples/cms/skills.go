package main

import (
	"context"
	"io/fs"
	"slices"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/skill"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/tools"
)

// loads is the tool that loads others.
const loads = "skill"

// useSkills has a model see few tools at a time. Those that a skill names (instructions/skills) are
// offered after the model has read it, with what it should know about them. The modes Plan and Ask,
// in which few tools may be called, offer all of these at once, and Debug those that read. self
// returns the agent.
func useSkills(cfg *agent.Config, self func() *agent.Agent) error {
	folder, err := fs.Sub(instructions, "instructions/skills")
	if err != nil {
		return err
	}
	list, err := skill.Dir(folder)
	if err != nil {
		return err
	}
	has, err := tools.NewRegistry(cfg.Tools...)
	if err != nil {
		return err
	}
	for _, s := range list {
		s.Tools = slices.DeleteFunc(s.Tools, func(name string) bool { // without hosts nothing reads the web
			_, ok := has.Lookup(name)
			return !ok
		})
	}
	set, err := skill.New(skill.Config{Skills: list})
	if err != nil {
		return err
	}
	cfg.Tools = append(set.Lazy(cfg.Tools...), set.Tool())
	cfg.Hooks = append(cfg.Hooks, agent.Hooks{Name: "modes", BeforeStep: func(_ context.Context, s *agent.Step) error {
		i := slices.IndexFunc(s.Tools, func(d *tools.Definition) bool { return d.Name() == loads })
		given := func(d *tools.Definition) bool { // a client has said which tools there are
			return !d.Lazy() && d.Spec().ReadOnly && d.Spec().Category != "planning" && !slices.Contains(s.Tools, d)
		}
		all := self().Tools()
		if i < 0 || s.Mode == cmstools.CRUD || slices.ContainsFunc(all.Filter(tools.InMode(s.Mode)), given) {
			return nil
		}
		offered, loader := s.Tools, s.Tools[i]
		s.Tools = all.Filter(tools.InMode(s.Mode), func(d *tools.Definition) bool {
			switch {
			case d == loader:
				return s.Mode == cmstools.Debug
			case d.Spec().Category == "planning":
				return s.Mode == cmstools.Architect
			}
			return d.Spec().ReadOnly || slices.Contains(offered, d)
		})
		return nil
	}})
	return nil
}
