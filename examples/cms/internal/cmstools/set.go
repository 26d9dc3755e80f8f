package cmstools

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

// The modes in which the tools may be called.
const (
	CRUD      = "cms-crud"
	Architect = "architect"
	Debug     = "debug"
	Ask       = "ask"
)

// The names of the tools.
const (
	ListPages        = "cms.listPages"
	GetPage          = "cms.getPage"
	CreatePage       = "cms.createPage"
	UpdatePage       = "cms.updatePage"
	DeletePage       = "cms.deletePage"
	AddSection       = "cms.addSection"
	SyncContents     = "cms.syncContents"
	UpdateSection    = "cms.updateSection"
	RemoveSection    = "cms.removeSection"
	ListSections     = "cms.listSections"
	CreateSectionDef = "cms.createSectionDef"
	ListCollections  = "cms.listCollections"
	ListEntries      = "cms.listEntries"
	GetEntry         = "cms.getEntry"
	UpsertEntry      = "cms.upsertEntry"
	FindResource     = "cms.findResource"
	PreviewPage      = "cms.previewPage"
	ValidatePlan     = "cms.validatePlan"
)

// All returns the tools for a site.
func All(s *site.Site) []tools.Tool {
	return append(operations(s), validatePlan(s))
}

// operations returns all tools except ValidatePlan.
func operations(s *site.Site) []tools.Tool {
	return []tools.Tool{
		listPages(s), getPage(s), findResource(s), previewPage(s),
		createPage(s), updatePage(s), deletePage(s),
		addSection(s), syncContents(s), updateSection(s), removeSection(s),
		listSections(s), createSectionDef(s),
		listCollections(s), listEntries(s), getEntry(s), upsertEntry(s),
	}
}

// OneWrite is a policy: in the mode [Debug], a run can make only one successful write.
func OneWrite(_ context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
	if c.Mode != Debug || d.Spec().ReadOnly || c.Succeeded == nil {
		return tools.Verdict{}
	}
	for _, name := range writes {
		if c.Succeeded(name) {
			return tools.Verdict{Effect: tools.Deny, Reason: fmt.Sprintf(
				"in mode %s a run may make one write, and %s was it; say what else has to be done", Debug, name)}
		}
	}
	return tools.Verdict{}
}

// writes are the tools that change something.
var writes = []string{CreatePage, UpdatePage, DeletePage, AddSection, SyncContents, UpdateSection, RemoveSection, CreateSectionDef, UpsertEntry}

// reading returns the spec of a tool that only reads.
func reading(name, description, schema string) tools.Spec {
	return tools.Spec{Name: name, Description: description, Category: "cms", ReadOnly: true, Schema: []byte(schema)}
}

// writing returns the spec of a tool that writes.
func writing(name, description string, risk tools.Risk, schema string) tools.Spec {
	return tools.Spec{Name: name, Description: description, Category: "cms", Risk: risk, Modes: []string{CRUD, Debug}, Schema: []byte(schema)}
}

// allowAlways lets a person approve all further calls of a tool in a session, whatever its Ask asks.
func allowAlways(s tools.Spec) tools.Spec {
	s.AllowAlways = true
	return s
}

// idempotent declares a tool idempotent: the site stores the keys of its calls.
func idempotent(s tools.Spec) tools.Spec {
	s.Idempotent = true
	return s
}

// Parts of schemas, merged into the schemas of the Go types.
const (
	localeSchema = `"locale":{"enum":["en","de"]}`
	slugSchema   = `{"pattern":"^[a-z0-9]+(-[a-z0-9]+)*$","maxLength":120}`
	nameSchema   = `{"minLength":1,"maxLength":200}`
	querySchema  = `"limit":{"minimum":1,"maximum":200},"offset":{"minimum":0}`
)
