package cmstools

import (
	"context"
	"fmt"

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

// The names of the tools.
const (
	GetPage                = "cms.getPage"
	ListPages              = "cms.listPages"
	ListSections           = "cms.listSections"
	ListCollections        = "cms.listCollections"
	ListEntries            = "cms.listEntries"
	GetEntry               = "cms.getEntry"
	ListMedia              = "cms.listMedia"
	FindResource           = "cms.findResource"
	PreviewPage            = "cms.previewPage"
	ValidatePlan           = "cms.validatePlan"
	Fetch                  = "http.fetch"
	CreatePage             = "cms.createPage"
	UpdatePage             = "cms.updatePage"
	ClonePage              = "cms.clonePage"
	DeletePage             = "cms.deletePage"
	AddSection             = "cms.addSectionToPage"
	SyncContents           = "cms.syncPageContents"
	UpdateSection          = "cms.updateSection"
	RemoveSection          = "cms.removeSection"
	CreateSectionDef       = "cms.createSectionDef"
	UpdateSectionDef       = "cms.updateSectionDef"
	SyncSectionElements    = "cms.syncSectionElements"
	DeleteSectionDef       = "cms.deleteSectionDef"
	CreateCollectionDef    = "cms.createCollectionDef"
	SyncCollectionElements = "cms.syncCollectionElements"
	UpsertEntry            = "cms.upsertEntry"
	DeleteEntry            = "cms.deleteEntry"
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
func All(c Config) []tools.Tool {
	return append(operations(c), validatePlan(c))
}

// operations returns all tools except ValidatePlan.
func operations(c Config) []tools.Tool {
	s := c.Site
	all := []tools.Tool{
		getPage(s), listPages(s), listSections(s), listCollections(s), listEntries(s), getEntry(s), listMedia(s),
		findResource(s), previewPage(c),
		createPage(s), updatePage(s), clonePage(s), deletePage(s),
		addSection(s), syncContents(s), updateSection(s), removeSection(s),
		createSectionDef(s), updateSectionDef(s), syncSectionElements(s), deleteSectionDef(s),
		createCollectionDef(s), syncCollectionElements(s),
		upsertEntry(s), deleteEntry(s),
	}
	if c.Fetcher != nil {
		all = append(all, fetch(c.Fetcher))
	}
	return all
}

// OneWrite is a policy: in the mode [Debug], a run can make only one successful write.
func OneWrite(_ context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
	if c.Mode != Debug || d.Spec().ReadOnly || c.Succeeded == nil {
		return tools.Verdict{}
	}
	for _, name := range writes {
		if c.Succeeded(name) > 0 {
			return tools.Verdict{Effect: tools.Deny, Reason: fmt.Sprintf(
				"in mode %s a run may make one write, and %s was it; say what else has to be done", Debug, name)}
		}
	}
	return tools.Verdict{}
}

// writes are the tools that change something.
var writes = []string{CreatePage, UpdatePage, ClonePage, DeletePage, AddSection, SyncContents, UpdateSection,
	RemoveSection, CreateSectionDef,
	UpdateSectionDef, SyncSectionElements, DeleteSectionDef, CreateCollectionDef, SyncCollectionElements, UpsertEntry,
	DeleteEntry}

// reading returns the spec of a tool that only reads.
func reading(name, description, schema string) tools.Spec {
	return tools.Spec{Name: name, Description: description, Category: "cms", ReadOnly: true, Schema: []byte(schema)}
}

// writing returns the spec of a tool that writes.
func writing(name, description string, risk tools.Risk, schema string) tools.Spec {
	return tools.Spec{Name: name, Description: description, Category: "cms", Risk: risk, Modes: []string{CRUD, Debug},
		Schema: []byte(schema)}
}

// allowAlways lets a person approve all further calls of a tool in a session, whatever its Ask
// asks.
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
	slugSchema  = `{"pattern":"^[a-z0-9]+(-[a-z0-9]+)*$","minLength":2,"maxLength":64}`
	nameSchema  = `{"minLength":1,"maxLength":100}`
	querySchema = `"limit":{"minimum":1,"maximum":200},"offset":{"minimum":0}`
)
