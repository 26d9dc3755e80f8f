package model

import (
	"fmt"
	"slices"
	"strings"
)

// input returns the section as the input of a call. A hero needs a title, and a text needs a body: if they weren't given, they come from
// the other values, or from the page's name.
func (s newSection) input(page string) map[string]any {
	in := map[string]any{"section": s.key}
	if content := s.content(page); len(content) > 0 {
		in["content"] = content
	}
	return in
}

func (s newSection) content(page string) map[string]any {
	content := map[string]any{}
	put := func(slot, text string) {
		if text != "" {
			content[slot] = text
		}
	}
	switch s.key {
	case "hero":
		put("title", first(s.title, s.body, page))
		put("subtitle", s.subtitle)
		if s.title != "" && s.subtitle == "" {
			put("subtitle", s.body)
		}
	case "text":
		put("heading", first(s.title, s.subtitle))
		put("body", first(s.body, s.title, page))
	default:
		put("title", s.title)
		put("subtitle", s.subtitle)
		put("body", s.body)
	}
	return content
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// An addSection adds a section to a page.
type addSection struct {
	newSection
	page, locale string
	top          bool
}

func (r addSection) do(w *turn) string {
	f, note, ok := w.resolveToChange(r.page, "page")
	if !ok {
		return ""
	}
	input := r.input(f.Name)
	input["page"] = f.Slug
	if r.top {
		input["sortOrder"] = 0
	}
	if r.locale != "" {
		input["locale"] = r.locale
	}
	a := w.write(fmt.Sprintf("The page %q gets %s section.", f.Name, article(r.key)), addSectionTool, input)
	if a == nil {
		return ""
	}
	if !a.ok {
		return note + a.failed(fmt.Sprintf("add %s section to the page %q", article(r.key), f.Name))
	}
	var s section
	if a.decode(&s) != nil {
		return note + a.text()
	}
	return note + fmt.Sprintf("The page %q has %s now.", f.Name, describe(s))
}

// A set sets one value of a section.
type set struct {
	page, section, entry, slot, value, locale string
	paged                                     bool // a page was named, or is implied
}

// slotNames are the words for slots, by section.
var slotNames = map[string]map[string]string{
	"hero": {"title": "title", "headline": "title", "heading": "title", "subtitle": "subtitle", "tagline": "subtitle", "subline": "subtitle",
		"button": "ctaText", "ctatext": "ctaText", "cta": "ctaText"},
	"text": {"heading": "heading", "title": "heading", "headline": "heading", "body": "body", "text": "body", "content": "body", "copy": "body"},
}

// target returns the section and the slot. A slot alone may determine its section.
func (r set) target() (section, slot string) {
	named := strings.ToLower(r.slot)
	section = r.section
	if section == "" {
		section = "hero"
		if slotNames["hero"][named] == "" && slotNames["text"][named] != "" || named == "heading" {
			section = "text"
		}
	}
	return section, first(slotNames[section][named], r.slot)
}

func (r set) do(w *turn) string {
	f, note, ok := w.resolveToChange(r.page, "page")
	if !ok {
		return ""
	}
	kind, slot := r.target()
	input := map[string]any{"page": f.Slug, "contents": map[string]any{kind: map[string]any{slot: r.value}}}
	if r.locale != "" {
		input["locale"] = r.locale
	}
	doing := fmt.Sprintf("set the %s of the %s on the page %q", slot, kind, f.Name)
	a := w.write("I "+doing+".", syncContents, input)
	if a == nil {
		return ""
	}
	added := ""
	if text := a.text(); !a.ok && strings.HasPrefix(text, "page ") && (strings.Contains(text, "has no sections") || strings.Contains(text, "has no section ")) {
		input = newSection{key: kind}.input(f.Name)
		content, _ := input["content"].(map[string]any)
		if content == nil {
			content = map[string]any{}
			input["content"] = content
		}
		content[slot] = r.value
		input["page"] = f.Slug
		if r.locale != "" {
			input["locale"] = r.locale
		}
		if a = w.write(fmt.Sprintf("The page has no %s section. I add one with that %s.", kind, slot), addSectionTool, input); a == nil {
			return ""
		}
		added = fmt.Sprintf("The page had no %s section, so I added one. ", kind)
	}
	if !a.ok {
		return note + a.failed(doing)
	}
	return note + added + fmt.Sprintf("The %s of the %s on the page %q is %q now.", slot, kind, f.Name, r.value)
}

// sectionOf finds a page with resolve, reads it, and returns its section of that kind; ok is false if the request stops here.
func (w *turn) sectionOf(name, kind string, resolve func(what, kind string) (found, string, bool)) (f found, s section, note string, ok bool) {
	f, note, ok = resolve(name, "page")
	if !ok {
		return f, s, note, false
	}
	a := w.call(fmt.Sprintf("I need the id of the %s on that page.", kind), getPage, map[string]any{"page": f.Slug})
	if a == nil {
		return f, s, note, false
	}
	var p page
	if !a.ok || a.decode(&p) != nil {
		w.instead = note + a.failed(fmt.Sprintf("read the page %q", f.Name))
		return f, s, note, false
	}
	fit := slices.DeleteFunc(slices.Clone(p.Sections), func(s section) bool { return s.Section != kind })
	switch len(fit) {
	case 0:
		w.instead = note + fmt.Sprintf("The page %q has no %s section.", p.Name, kind)
	case 1:
		return f, fit[0], note, true
	default:
		w.instead = note + fmt.Sprintf("The page %q has %d %s sections, and I can't tell which one you mean.", p.Name, len(fit), kind)
	}
	return f, s, note, false
}

// A removeSection removes a section from a page.
type removeSection struct{ kind, page string }

func (r removeSection) do(w *turn) string {
	f, s, note, ok := w.sectionOf(r.page, r.kind, w.resolve)
	if !ok {
		return ""
	}
	a := w.write(fmt.Sprintf("I remove the %s. That needs approval.", r.kind), removeSectionID, map[string]any{"sectionId": s.ID})
	if a == nil {
		return ""
	}
	if !a.ok {
		return note + a.failed(fmt.Sprintf("remove the %s section from the page %q", r.kind, f.Name))
	}
	return note + fmt.Sprintf("I removed the %s section from the page %q.", r.kind, f.Name)
}

// A publish shows a section to visitors, or hides it.
type publish struct{ kind, page, status string }

func (r publish) do(w *turn) string {
	f, s, note, ok := w.sectionOf(r.page, r.kind, w.resolveToChange)
	if !ok {
		return ""
	}
	if s.Status == r.status {
		return note + fmt.Sprintf("The %s section on the page %q is %s already.", r.kind, f.Name, r.status)
	}
	a := w.write(fmt.Sprintf("The %s on %q becomes %s.", r.kind, f.Name, r.status), updateSection, map[string]any{"sectionId": s.ID, "status": r.status})
	if a == nil {
		return ""
	}
	if !a.ok {
		return note + a.failed(fmt.Sprintf("make the %s section on the page %q %s", r.kind, f.Name, r.status))
	}
	return note + fmt.Sprintf("The %s section on the page %q is %s now.", r.kind, f.Name, r.status)
}
