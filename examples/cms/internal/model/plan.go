package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory/index"
)

// of returns what a wish is about, as forms name it.
func (w *wish) of() string {
	switch {
	case w.noun == "menu", w.noun == "collection", w.noun == "media", w.noun == "section":
		return w.noun
	case w.media != "":
		return "picture"
	case w.verb == "find", w.verb == "fetch":
		return "name"
	case w.kind != "":
		return "section"
	case w.field != "" && (w.verb == "set" || w.verb == "rename"):
		return "page." + w.field
	case w.noun == "entry":
		return "entry"
	}
	return "page"
}

// plan returns the operation of a wish after earlier ones; nil if it is a part of the last one.
func (t *turn) plan(w *wish, ops []*operation) (*operation, *problem) {
	var last *operation
	if len(ops) > 0 {
		last = ops[len(ops)-1]
	}
	switch {
	case w.bad || w.verb == "" || w.verb == "other":
		return nil, t.unknown(w)
	case w.verb == "help" || w.verb == "thanks":
		return &operation{form: &form{Reply: map[string]string{"help": help(), "thanks": "All right."}[w.verb]}}, nil
	case w.verb == "undo":
		return t.undo(w)
	case (w.verb == "add" || w.verb == "move") && w.it && w.at != "" && w.beside == "" && last != nil &&
		last.form.Verb == "add" && last.form.Of == "section":
		if w.at == "top" { // "put it at the top"
			last.input["sortOrder"] = 0
		}
		return nil, nil
	case w.verb == "add" && w.it && w.at != "" && len(w.values) == 0 && w.kind == "":
		w.verb = "move"
	case w.verb == "add" && w.kind+w.field+w.media == "" && w.noun != "menu":
		w.verb = "make"
	case w.verb == "make" && w.kind != "":
		w.verb = "add"
	case w.verb == "show" && w.ref.text == "" && !w.it && w.kind == "" && (w.noun != "" && w.plural ||
		w.of() != "page"):
		w.verb = "list"
	case w.verb == "rename" && w.kind+w.field != "":
		w.verb = "set"
	}
	of := w.of()
	o := &operation{slots: map[string]any{"media": w.media, "locale": w.locale, "kind": w.kind, "query": w.ref.text}}
	for field, v := range w.values {
		o.slots[cmp.Or(field, "value")] = v.text
	}
	var it found
	where := "page"
	if w.verb == "make" || w.verb == "list" || of == "name" || w.verb == "reslot" {
		where = ""
	}
	if of == "section" && (w.verb == "add" || w.verb == "set") {
		t.slotsOf(w.kind) // is read together with the names
	}
	if where != "" {
		var p *problem
		if it, o.from, p = t.subject(w, ops); p != nil {
			return nil, p
		}
		o.slots["title"], o.slots["page"], o.slots["match"], o.slots["found"] = it.Name, it.Slug, it.Match, it.Kind
		if w.ref.text == "" {
			delete(o.slots, "match")
		}
		if it.Kind == "entry" {
			o.slots["entry"], o.slots["collection"] = it.Slug, "blog"
			of = map[string]string{"page": "entry", "entry": "entry", "page.title": "entry.name",
				"page.name": "entry.name", "page.body": "entry.body"}[of]
			if w.kind == "text" && w.verb == "set" {
				of = "entry.body"
			}
		}
	}
	var page *pageRead
	needsPage := w.kind != "" && (w.verb != "add" || w.at != "") || of == "picture" ||
		strings.HasPrefix(of, "page.") && of != "page.description" && of != "page.address"
	if where != "" && it.Kind == "page" && o.from == 0 && needsPage {
		var ok bool
		if page, ok = t.page(it.Slug); !ok {
			return nil, &problem{}
		}
		if w.verb == "add" && w.definite && w.at != "" && len(w.values) == 0 && page.count(w.kind) == 1 &&
			w.media == "" {
			w.verb = "move" // "put the quote above the text"
		}
		if of == "page.title" && page.count("hero") == 1 {
			of, w.kind = "section", "hero"
		} else if kind := map[string]string{"subtitle": "hero", "button": "hero", "link": "hero", "body": "text",
			"author": "quote"}[w.field]; w.kind == "" && kind != "" {
			of, w.kind = "section", kind
		}
		if of == "picture" && w.kind == "" {
			w.kind = map[bool]string{true: "gallery", false: "hero"}[page.count("gallery") > 0]
		}
	}
	if of == "page.title" {
		of = "page.name"
	}
	for _, f := range table.Forms {
		if f.Verb == w.verb && f.Of == of {
			o.form = f
			break
		}
	}
	if o.form == nil || !w.fits(o.form) {
		return nil, t.unknown(w)
	}
	o.slots["kind"], o.slots["field"] = w.kind, cmp.Or(w.field, "text")
	if p := t.fill(w, o, page, last); p != nil {
		return nil, p
	}
	if w.merge(o, last) {
		return nil, nil
	}
	o.input, _ = o.value(o.form.Input).(map[string]any)
	if o.form.Verb == "make" && of == "page" {
		o.input["sections"] = nil
		delete(o.input, "sections")
	}
	return o, nil
}

// fits reports whether a form has a place for everything that a wish says, and whether the wish has
// what it needs.
func (w *wish) fits(f *form) bool {
	has := strings.Fields(f.Needs + " " + f.May)
	for field, v := range w.values {
		if v.text != "" && !slices.Contains(has, cmp.Or(field, "says")) {
			return false
		}
	}
	for _, need := range strings.Fields(f.Needs) {
		if need != "place" && w.values[strings.TrimSuffix(need, "says")].text == "" || need == "place" && w.at == "" {
			return false
		}
	}
	placed := f.Verb == "add" && f.Of == "section" || f.Verb == "move"
	return (w.at == "" || placed) && (w.number == 0 || w.kind == "entries") && (w.pick == "" || f.Where == "section") &&
		(w.ref.text == "" || f.Where != "" || f.Verb == "list" || f.Of == "name") && (f.Verb != "set" ||
		f.Of != "section" || len(w.values) > 0)
}

// A pageRead is a page as cms.getPage returns it.
type pageRead struct {
	Slug, Name, Status, Description, UpdatedAt string
	Sections                                   []struct {
		ID, Section, Name, Status string
		Content                   map[string]any
	}
}

// page reads a page; false if that has to be done first.
func (t *turn) page(slug string) (*pageRead, bool) {
	text, ok := t.read("cms.getPage", map[string]any{"page": slug})
	p := &pageRead{}
	_ = json.Unmarshal([]byte(text), p) // an error leaves it empty, and the tool that writes says it
	return p, ok
}

func (p *pageRead) count(kind string) (n int) {
	for _, s := range p.Sections {
		if s.Section == kind {
			n++
		}
	}
	return n
}

// fill finds the section of an operation, its place and its values.
func (t *turn) fill(w *wish, o *operation, page *pageRead, last *operation) *problem {
	o.slots["body"] = cmp.Or(w.values[""].text, w.values["name"].text)
	o.slots["slug"] = slugged(strings.Trim(w.values[""].text, "/"))
	o.slots["copySlug"] = slugged(cmp.Or(w.values["name"].text, fmt.Sprint(o.slots["page"], "-copy")))
	o.slots["name"] = titled(w.values["name"])
	if w.at == "top" {
		o.slots["place"] = 0
	}
	if page == nil {
		page = &pageRead{}
	}
	at := slices.IndexFunc(page.Sections, func(s struct {
		ID, Section, Name, Status string
		Content                   map[string]any
	}) bool {
		return s.Section == w.kind && strings.Contains(fmt.Sprint(s.Content), w.pick)
	})
	if o.form.Where == "section" {
		switch n := page.count(w.kind); {
		case at < 0:
			return &problem{text: fmt.Sprintf("The page %q has no %s.", o.slots["title"], w.kind),
				offers: []string{fmt.Sprintf("add a %s to %s that says \"…\"", w.kind, o.slots["page"])}}
		case n > 1 && w.pick == "":
			p := &problem{text: fmt.Sprintf("The page %q has %d %s sections, so I can't tell which one you mean. Say it with its text in quotes.", o.slots["title"], n, w.kind)}
			return p
		}
		o.slots["section"] = page.Sections[at].ID
	}
	if w.beside != "" {
		beside := slices.IndexFunc(page.Sections, func(s struct {
			ID, Section, Name, Status string
			Content                   map[string]any
		}) bool {
			return s.Section == w.beside
		})
		if beside < 0 {
			return &problem{text: fmt.Sprintf("The page %q has no %s.", o.slots["title"], w.beside)}
		}
		if w.at == "below" {
			beside++
		}
		if w.verb == "move" && at < beside {
			beside--
		}
		o.slots["place"] = beside
	} else if w.at == "end" && w.verb == "move" {
		o.slots["place"] = len(page.Sections) - 1
	}
	if o.form.Of == "section" && (w.verb == "add" || w.verb == "set") {
		slots, ok := t.slotsOf(w.kind)
		if !ok {
			return &problem{}
		}
		content, p := w.content(slots, fmt.Sprint(o.slots["title"]))
		if p != nil {
			return p
		}
		o.slots["content"] = content
		o.slots["contents"] = map[string]any{fmt.Sprint(o.slots["section"]): content}
		for _, v := range w.values {
			o.slots["value"] = cmp.Or(w.values[""].text, v.text)
		}
	}
	return nil
}

// titled is a name with a capital letter, unless it was in quotes.
func titled(name phrase) string {
	if name.quoted || name.text == "" {
		return name.text
	}
	return strings.ToUpper(name.text[:1]) + name.text[1:]
}

// merge adds a section to the operation before it, which makes its page.
func (w *wish) merge(o, last *operation) bool {
	switch {
	case last == nil || w.verb != "add" || o.form.Of != "section" || last.form.Tool != "cms.createPage" ||
		o.from == 0 || w.at != "":
		return false
	}
	sections, _ := last.input["sections"].([]any)
	delete(last.slots, "way")
	if content, _ := o.slots["content"].(map[string]any); sections == nil && len(w.values) == 0 &&
		len(content) == 0 && w.at == "" {
		last.slots["way"] = w.kind
		last.slots["newKind"] = fmt.Sprint(last.slots["name"], " ", w.kind)
		last.slots["newKey"], last.slots["nameSlug"] = slugged(last.slots["newKind"]), slugged(last.slots["name"])
	}
	last.input["sections"] = append(sections, map[string]any{"section": w.kind, "content": o.slots["content"]})
	return true
}

// subject returns the page or entry that a wish is about, or the number of the operation that makes
// it.
func (t *turn) subject(w *wish, ops []*operation) (found, int, *problem) {
	name := w.ref.text
	for i, o := range slices.Backward(ops) {
		made := (o.form.Verb == "make" || o.form.Verb == "copy" || o.form.Of == "page.address") &&
			(o.form.Of == "page" || o.slots["page"] != nil)
		again := name != "" && (strings.EqualFold(name, fmt.Sprint(o.slots["name"])) || strings.EqualFold(name,
			fmt.Sprint(o.slots["value"])))
		switch {
		case made && (name == "" && (w.it || w.kind != "" || w.noun == "page") || again):
			return found{Kind: "page", Slug: slugged(o.slots["name"]), Name: fmt.Sprint(cmp.Or(o.slots["name"],
				o.slots["title"]))}, i + 1, nil
		case (again || name == "" && (w.it || w.kind != "" || w.noun == "page")) && o.slots["page"] != nil:
			return found{Kind: fmt.Sprint(cmp.Or(o.slots["found"], any("page"))),
				Slug: fmt.Sprint(o.slots["page"]), Name: fmt.Sprint(o.slots["title"])}, o.from, nil
		}
	}
	if name == "" {
		if it, ok := t.mentioned(); ok && (w.it || w.kind+w.field != "") {
			return it, 0, nil
		}
		p := t.unknown(w)
		p.text = "Which page do you mean?"
		return found{}, 0, p
	}
	text, ok := t.read("cms.findResource", map[string]any{"query": name})
	if !ok {
		return found{}, 0, &problem{}
	}
	fit := slices.DeleteFunc(foundIn(text), func(f found) bool {
		return f.Kind != "page" && f.Kind != "entry" || w.noun == "entry" && f.Kind == "page" ||
			w.noun == "page" && f.Kind == "entry" || w.kind != "" && w.kind != "text" && f.Kind == "entry"
	})
	if len(fit) == 0 {
		p := t.unknown(w)
		p.text = fmt.Sprintf("I found no %s like %q.", map[bool]string{true: "entry",
			false: "page"}[w.noun == "entry"], name)
		return found{}, 0, p
	}
	sure := slices.IndexFunc(fit, func(f found) bool {
		return f.Slug == slugged(name) && (w.noun == f.Kind ||
			f.Kind == "page")
	})
	if sure < 0 && (fit[0].Match == index.MatchUnsure && w.verb != "show" || len(fit) > 1 &&
		fit[0].Match == index.MatchRival && fit[1].Match == index.MatchRival) {
		p := &problem{text: fmt.Sprintf("I'm not sure which %s is %q: %q (%s) fits best. Do you mean it?",
			fit[0].Kind, name, fit[0].Name, fit[0].Slug)}
		for _, f := range fit[:min(3, len(fit))] {
			if f.Match == fit[0].Match {
				p.offers = append(p.offers, t.text[:w.ref.from]+f.Slug+t.text[w.ref.to:])
			}
		}
		return found{}, 0, p
	}
	return fit[max(0, sure)], 0, nil
}

// mentioned returns the page or entry of the last result before this message.
func (t *turn) mentioned() (found, bool) {
	for _, c := range slices.Backward(t.earlier) {
		r := object(c.result)
		id, _ := r["id"].(string)
		slug, _ := r["slug"].(string)
		name, _ := cmp.Or(r["name"], r["title"]).(string)
		switch {
		case strings.HasPrefix(id, "pg_") && slug != "":
			return found{Kind: "page", Slug: slug, Name: cmp.Or(name, slug)}, true
		case strings.HasPrefix(id, "ent_") && slug != "":
			return found{Kind: "entry", Slug: slug, Name: cmp.Or(name, slug)}, true
		case c.input["page"] != nil:
			slug := fmt.Sprint(c.input["page"])
			return found{Kind: "page", Slug: slug, Name: slug}, true
		}
	}
	return found{}, false
}
