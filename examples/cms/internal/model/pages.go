package model

import (
	"fmt"
	"regexp"
	"strings"
)

// The tools that the model calls.
const (
	listPages       = "cms.listPages"
	getPage         = "cms.getPage"
	createPage      = "cms.createPage"
	updatePage      = "cms.updatePage"
	deletePage      = "cms.deletePage"
	addSectionTool  = "cms.addSectionToPage"
	syncContents    = "cms.syncPageContents"
	updateSection   = "cms.updateSection"
	removeSectionID = "cms.removeSection"
	listSections    = "cms.listSections"
	listCollections = "cms.listCollections"
	listEntries     = "cms.listEntries"
	getEntry        = "cms.getEntry"
	upsertEntry     = "cms.upsertEntry"
	findResource    = "cms.findResource"
	previewPage     = "cms.previewPage"
	validatePlan    = "cms.validatePlan"
)

// The parts of results that the model reads.
type (
	page struct {
		ID, Slug, Name, Description string
		Sections                    []section
	}
	section struct {
		ID, Section, Name, Status string
		Content                   map[string]any
	}
)

// path returns a page's address.
func path(slug string) string {
	if slug == "home" {
		return "/"
	}
	return "/" + slug
}

// freeSlug matches the error for a taken slug, which names a free one.
var freeSlug = regexp.MustCompile(`^slug "([^"]+)" exists already .*such as "([^"]+)"`)

// A create makes a page.
type create struct {
	name, slug, description, locale string
	sections                        []newSection
}

func (r create) do(w *turn) string {
	input := map[string]any{"name": r.name}
	if r.slug != "" {
		input["slug"] = r.slug
	}
	if r.description != "" {
		input["description"] = r.description
	}
	if r.locale != "" {
		input["locale"] = r.locale
	}
	var sections []any
	for _, s := range r.sections {
		sections = append(sections, s.input(r.name))
	}
	if sections != nil {
		input["sections"] = sections
	}
	think := fmt.Sprintf("The person wants a page called %q. The slug follows from its name.", r.name)
	taken := ""
	for range 5 {
		a := w.write(think, createPage, input)
		if a == nil {
			return ""
		}
		if a.ok {
			return r.done(w, a, taken)
		}
		free := freeSlug.FindStringSubmatch(a.text())
		if free == nil {
			return a.failed(fmt.Sprintf("create the page %q", r.name))
		}
		if taken == "" {
			taken = free[1]
		}
		input["slug"] = free[2]
		think = fmt.Sprintf("The slug %q is taken. I take %q, which is free.", free[1], free[2])
	}
	return fmt.Sprintf("I couldn't create the page %q: every slug that I tried was taken.", r.name)
}

func (r create) done(w *turn, a *answer, taken string) string {
	var p page
	if a.decode(&p) != nil {
		return fmt.Sprintf("The page %q: %s", r.name, a.text())
	}
	w.last = p.Slug
	text := ""
	if taken != "" {
		text = fmt.Sprintf("The slug %q was taken, so I created the page as %q. ", taken, p.Slug)
	}
	text += fmt.Sprintf("The page %q is at %s", p.Name, path(p.Slug))
	for i, s := range p.Sections {
		join := ", with "
		if i > 0 {
			join = " and "
		}
		text += join + describe(s)
	}
	return text + "."
}

// describe describes a section.
func describe(s section) string {
	text := fmt.Sprintf("%s section", article(strings.ToLower(s.Name)))
	for _, slot := range []string{"title", "heading"} {
		if t, ok := s.Content[slot].(string); ok {
			return text + fmt.Sprintf(" titled %q", t)
		}
	}
	return text
}

func article(noun string) string {
	if noun != "" && strings.IndexByte("aeiou", noun[0]) >= 0 {
		return "an " + noun
	}
	return "a " + noun
}

// An update changes one field of a page.
type update struct{ page, field, value string }

func (r update) do(w *turn) string {
	resolve := w.resolveToChange
	if r.field == "newSlug" { // needs approval
		resolve = w.resolve
	}
	f, note, ok := resolve(r.page, "page")
	if !ok {
		return ""
	}
	doing := map[string]string{
		"name": fmt.Sprintf("rename the page %q", f.Name), "newSlug": fmt.Sprintf("change the slug of the page %q", f.Name),
		"description": fmt.Sprintf("describe the page %q", f.Name),
	}[r.field]
	a := w.write("I "+doing+".", updatePage, map[string]any{"page": f.Slug, r.field: r.value})
	if a == nil {
		return ""
	}
	if !a.ok {
		return note + a.failed(doing)
	}
	var p page
	if a.decode(&p) != nil {
		return note + a.text()
	}
	w.last = p.Slug
	switch r.field {
	case "name":
		return note + fmt.Sprintf("The page %q is called %q now. Its address is still %s.", f.Name, p.Name, path(p.Slug))
	case "newSlug":
		return note + fmt.Sprintf("The page %q has moved from %s to %s.", p.Name, path(f.Slug), path(p.Slug))
	}
	return note + fmt.Sprintf("The page %q is described as %q now.", p.Name, p.Description)
}

// A remove deletes a page.
type remove struct{ page string }

func (r remove) do(w *turn) string {
	f, note, ok := w.resolve(r.page, "page")
	if !ok {
		return ""
	}
	a := w.write(fmt.Sprintf("I delete the page %q. That needs approval.", f.Name), deletePage, map[string]any{"page": f.Slug})
	if a == nil {
		return ""
	}
	if !a.ok {
		return note + a.failed(fmt.Sprintf("delete the page %q", f.Name))
	}
	var d struct {
		Page       page
		LinkedFrom []string
	}
	if a.decode(&d) != nil {
		return note + a.text()
	}
	w.last = ""
	text := note + fmt.Sprintf("I deleted the page %q (%s).", d.Page.Name, path(d.Page.Slug))
	if len(d.LinkedFrom) > 0 {
		text += " These pages linked to it: " + strings.Join(d.LinkedFrom, ", ") + "."
	}
	return text
}
