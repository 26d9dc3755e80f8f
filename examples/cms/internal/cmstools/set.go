package cmstools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/web"
)

// The modes in which the tools may be called.
const (
	CRUD      = "cms-crud"
	Architect = "architect"
	Debug     = "debug"
	Ask       = "ask"
)

// A Mode is a mode of the agent.
type Mode struct {
	Name  string // one of the constants
	Title string // what people call it
	Steps int    // how many model calls a run may make
}

// Modes are the modes. The first one is the default.
var Modes = []Mode{{CRUD, "Edit", 20}, {Architect, "Plan", 10}, {Debug, "Debug", 4}, {Ask, "Ask", 6}}

// ModeNamed returns the mode with a name or a title, in any case.
func ModeNamed(name string) (Mode, bool) {
	for _, m := range Modes {
		if strings.EqualFold(name, m.Name) || strings.EqualFold(name, m.Title) {
			return m, true
		}
	}
	return Mode{}, false
}

// The names of tools that others refer to.
const (
	CreatePage   = "cms.createPage"
	UpdatePage   = "cms.updatePage"
	ClonePage    = "cms.clonePage"
	DeletePage   = "cms.deletePage"
	AddSection   = "cms.addSectionToPage"
	UpsertEntry  = "cms.upsertEntry"
	ValidatePlan = "cms.validatePlan"
	Fetch        = "http.fetch"
)

// A Config has what the tools work on. Only Site is required.
type Config struct {
	Site *site.Site
	// Fetcher reads web pages; nil: there is no tool for that.
	Fetcher *web.Fetcher
	// Preview is the address of the preview, such as "http://localhost:4000"; empty: no address is
	// said.
	Preview string
}

// All returns the tools for a site.
func All(cfg Config) []tools.Tool { return append(operations(cfg), validatePlan(cfg)) }

// operations returns all tools except ValidatePlan.
func operations(cfg Config) []tools.Tool {
	s := &desk{cfg.Site}
	return slices.Concat(s.reads(cfg), s.writes(), s.definitions())
}

// OneWrite is a policy: in the mode [Debug], a run can make only one successful write.
func OneWrite(_ context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
	if c.Mode != Debug || d.Spec().ReadOnly || c.Succeeded == nil {
		return tools.Verdict{}
	}
	for _, name := range registry(Config{}).Names() {
		if other, _ := registry(Config{}).Lookup(name); !other.Spec().ReadOnly && c.Succeeded(name) > 0 {
			return tools.Verdict{Effect: tools.Deny, Reason: fmt.Sprintf(
				"in mode %s a run may make one write, and %s was it; say what else has to be done", Debug, name)}
		}
	}
	return tools.Verdict{}
}
