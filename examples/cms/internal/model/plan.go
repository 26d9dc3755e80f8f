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
	case strings.Contains(" menu collection media section ", " "+w.noun+" ") && w.noun != "":
		return w.noun
	case w.media != "":
		return "picture"
	case w.verb == "find" || w.verb == "fetch":
		return "name"
	case w.kind != "":
		return "section"
	case w.field != "" && (w.verb == "set" || w.verb == "rename"):
		return "page." + w.field
	}
	return cmp.Or(map[string]string{"entry": "entry"}[w.noun], "page")
}

// plan returns the operation of a wish after earlier ones, nil if it is a part of the last one, or
// why there is none.
func (t *turn) plan(w *wish, ops []*operation) (*operation, string) {
	last := &operation{form: &form{}}
	if len(ops) > 0 {
		last = ops[len(ops)-1]
	}
	switch {
	case w.bad || w.verb == "" || w.verb == "other":
		return nil, t.unknown(w, "unknown")
	case w.verb == "thanks":
		return nil, t.say("thanks")
	case w.verb == "undo":
		return t.undo()
	case (w.verb == "add" || w.verb == "move") && w.it && w.at != "" && w.beside == "" && last.Verb == "add" &&
		last.Of == "section":
		if w.at == "top" { // "put it at the top"
			last.input["sortOrder"] = 0
		}
		return nil, ""
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
	of, page, it := w.of(), pageRead{}, found{}
	o := &operation{slots: map[string]any{"media": w.media, "locale": w.locale, "query": w.ref.text}}
	for field, v := range w.values {
		o.slots[cmp.Or(field, "value")] = v.text
	}
	if of == "section" && (w.verb == "add" || w.verb == "set") {
		t.slotsOf(w.kind) // is read together with the names
	}
	if !slices.Contains([]string{"make", "list", "find", "fetch", "reslot"}, w.verb) {
		var wrong string
		if it, o.from, wrong = t.subject(w, ops); wrong != "" || it.Slug == "" {
			return nil, wrong
		}
		o.slots["title"], o.slots["page"], o.slots["found"] = it.Name, it.Slug, it.Kind
		if w.ref.text != "" && it.Match != "" {
			o.slots["match"] = it.Match
		}
		if it.Kind == "entry" {
			o.slots["entry"], o.slots["collection"] = it.Slug, "blog"
			body := map[string]string{"setsection": "entry.body"}[w.verb+of]
			of = cmp.Or(body, map[string]string{"page": "entry", "entry": "entry", "page.title": "entry.name",
				"page.name": "entry.name", "page.body": "entry.body"}[of])
		} else if o.from == 0 && (w.kind != "" && (w.verb != "add" || w.at != "") || of == "picture" ||
			strings.HasPrefix(of, "page.")) {
			if _ = json.Unmarshal([]byte(t.read("cms.getPage", map[string]any{"page": it.Slug})),
				&page); len(t.need) > 0 {
				return nil, ""
			}
			if w.verb == "add" && w.definite && w.at != "" && len(w.values) == 0 && page.find(w.kind, "") >= 0 &&
				w.media == "" {
				w.verb = "move" // "put the quote above the text"
			}
			kind := map[string]string{"subtitle": "hero", "button": "hero", "link": "hero", "body": "text",
				"author": "quote"}[w.field]
			if of == "page.title" && page.find("hero", "") >= 0 {
				kind = "hero"
			}
			if kind != "" && w.kind == "" && of != "picture" {
				of, w.kind = "section", kind
			} else if of == "picture" && w.kind == "" {
				w.kind = map[bool]string{true: "gallery", false: "hero"}[page.find("gallery", "") >= 0]
			}
		}
	}
	of = cmp.Or(map[string]string{"page.title": "page.name"}[of], of)
	i := slices.IndexFunc(table.Forms, func(f *form) bool { return f.Verb == w.verb && f.Of == of })
	if i < 0 || !w.fits(table.Forms[i]) {
		return nil, t.unknown(w, "unknown")
	}
	o.form = table.Forms[i]
	o.slots["kind"], o.slots["field"] = w.kind, cmp.Or(w.field, "text")
	if wrong := t.fillIn(w, o, page); wrong != "" || len(t.need) > 0 {
		return nil, wrong
	}
	if last.Tool == "cms.createPage" && w.verb == "add" && of == "section" && o.from == len(ops) && w.at == "" {
		sections, _ := last.input["sections"].([]any) // a section of the new page
		last.input["sections"] = append(sections, map[string]any{"section": w.kind, "content": o.slots["content"]})
		last.slots["with"] = fmt.Sprint(cmp.Or(last.slots["with"], any("")), ", with a ", w.kind)
		last.slots["way"] = map[bool]string{true: w.kind}[sections == nil &&
			len(o.slots["content"].(map[string]any)) == 0]
		return nil, ""
	}
	o.input, _ = o.value(o.Input).(map[string]any)
	return o, ""
}

// fits reports whether a form has a place for everything that a wish says, and whether the wish has
// what it needs.
func (w *wish) fits(f *form) bool {
	for field, v := range w.values {
		if v.text != "" && !slices.Contains(strings.Fields(f.Needs+" "+f.May), cmp.Or(field, "says")) {
			return false
		}
	}
	for _, need := range strings.Fields(f.Needs) {
		if w.values[strings.TrimSuffix(need, "says")].text == "" && (need != "place" || w.at == "") {
			return false
		}
	}
	if w.field != "" && f.Verb != "set" && f.Of != "picture" { // the title of a page isn't the page
		return false
	}
	return (w.at == "" || f.Verb == "add" && f.Of == "section" || f.Verb == "move") && (w.number == 0 ||
		w.kind == "entries") &&
		(w.pick == "" || f.Where == "section") && (w.ref.text == "" || f.Where != "" || f.Reads) &&
		(f.Verb != "set" || f.Of != "section" || len(w.values) > 0)
}

// A pageRead is a page as cms.getPage returns it.
type pageRead struct {
	Sections []struct {
		ID, Section string
		Content     map[string]any
	}
}

// find returns the place of the first section of a kind with a text, or -1.
func (p pageRead) find(kind, text string) int {
	for i, s := range p.Sections {
		if s.Section == kind && strings.Contains(fmt.Sprint(s.Content), text) {
			return i
		}
	}
	return -1
}

// fillIn finds the section of an operation, its place and its values. It returns what is wrong.
func (t *turn) fillIn(w *wish, o *operation, page pageRead) string {
	value, name := w.values[""].text, w.values["name"]
	o.slots["name"] = name.text
	if !name.quoted && name.text != "" {
		o.slots["name"] = strings.ToUpper(string([]rune(name.text)[:1])) + string([]rune(name.text)[1:])
	}
	o.slots["body"], o.slots["slug"] = cmp.Or(value, name.text), slugged(strings.Trim(value, "/"))
	o.slots["copySlug"] = slugged(cmp.Or(name.text, fmt.Sprint(o.slots["page"], "-copy")))
	at, beside := page.find(w.kind, w.pick), page.find(w.beside, "")
	if o.Where == "section" {
		if at < 0 {
			return t.say(fmt.Sprintf("The page %q has no %s.", o.slots["title"], w.kind),
				o.filled("add a {kind} to {page} that says \"…\""))
		}
		rest := pageRead{Sections: page.Sections[at+1:]}
		if rest.find(w.kind, w.pick) >= 0 {
			return fmt.Sprintf("The page %q has several %s sections. Say which one, with its text in quotes.",
				o.slots["title"], w.kind)
		}
		o.slots["section"] = page.Sections[at].ID
	}
	switch {
	case w.beside != "" && beside < 0:
		return fmt.Sprintf("The page %q has no %s.", o.slots["title"], w.beside)
	case w.beside != "":
		if w.at == "below" {
			beside++
		}
		if w.verb == "move" && at < beside {
			beside--
		}
		o.slots["place"] = beside
	case w.at == "top":
		o.slots["place"] = 0
	case w.at == "end" && w.verb == "move":
		o.slots["place"] = len(page.Sections) - 1
	}
	if o.Of == "section" && (w.verb == "add" || w.verb == "set") {
		content, wrong := w.content(t.slotsOf(w.kind))
		if wrong == "needs" {
			wrong = t.say(fmt.Sprintf("What should the %s say?", w.kind),
				o.filled("add a {kind} to {page} that says \"…\""))
		}
		o.slots["content"], o.slots["contents"] = content, map[string]any{fmt.Sprint(o.slots["section"]): content}
		for _, v := range w.values {
			o.slots["value"] = cmp.Or(value, v.text)
		}
		return wrong
	}
	return ""
}

// subject returns the page or entry that a wish is about, the number of the operation that makes
// it, or what to ask.
func (t *turn) subject(w *wish, ops []*operation) (found, int, string) {
	name := w.ref.text
	silent := name == "" && (w.it || w.kind != "" || w.noun == "page")
	for i, o := range slices.Backward(ops) {
		made := slices.Contains([]string{"make page", "copy page", "set page.address"}, o.Verb+" "+o.Of)
		again := name != "" && (strings.EqualFold(name, fmt.Sprint(o.slots["name"])) || strings.EqualFold(name,
			fmt.Sprint(o.slots["value"])))
		title := fmt.Sprint(cmp.Or(map[bool]any{true: o.slots["name"]}[o.slots["name"] != ""], o.slots["title"]))
		if (silent || again) && made {
			return found{Kind: "page", Slug: cmp.Or(slugged(title), "new"), Name: title}, i + 1, ""
		} else if (silent || again) && o.slots["page"] != nil {
			return found{Kind: fmt.Sprint(o.slots["found"]), Slug: fmt.Sprint(o.slots["page"]), Name: title}, o.from, ""
		}
	}
	if name == "" {
		if it := t.mentioned(); it.Slug != "" && (w.it || w.kind+w.field != "") {
			return it, 0, ""
		}
		return found{}, 0, t.unknown(w, "which")
	}
	text := t.read("cms.findResource", map[string]any{"query": name})
	if len(t.need) > 0 {
		return found{}, 0, ""
	}
	fit := slices.DeleteFunc(foundIn(text), func(f found) bool {
		return f.Kind != "page" && f.Kind != "entry" || w.noun == "entry" && f.Kind == "page" ||
			f.Kind == "entry" && (w.noun == "page" || w.kind != "" && w.kind != "text")
	})
	if len(fit) == 0 {
		kind := cmp.Or(map[string]string{"entry": "entry"}[w.noun], "page")
		return found{}, 0, t.unknown(w, fmt.Sprintf("I found no %s like %q.", kind, name))
	}
	sure := slices.IndexFunc(fit, func(f found) bool {
		return f.Slug == slugged(name) && (w.noun == f.Kind ||
			f.Kind == "page")
	})
	rivals := len(fit) > 1 && fit[0].Match == index.MatchRival && fit[1].Match == index.MatchRival
	if sure < 0 && (fit[0].Match == index.MatchUnsure && w.verb != "show" || rivals) {
		var offers []string
		for _, f := range fit[:min(3, len(fit))] {
			if f.Match == fit[0].Match {
				offers = append(offers, t.text[:w.ref.from]+f.Slug+t.text[w.ref.to:])
			}
		}
		return found{}, 0, t.say(fmt.Sprintf("I'm not sure which %s is %q: %q (%s) fits best. Do you mean it?",
			fit[0].Kind, name,
			fit[0].Name, fit[0].Slug), offers...)
	}
	return fit[max(0, sure)], 0, ""
}

// A found is a result of a look-up.
type found struct{ Kind, Slug, Name, Match, Why string }

// foundIn returns the results of a look-up.
func foundIn(text string) (all []found) {
	for _, l := range index.Lines(text) {
		if len(l.Aliases) > 0 {
			all = append(all, found{l.Kind, l.Aliases[0], l.Name, l.Match, l.Why})
		}
	}
	return all
}

// mentioned returns the page or entry of the last result before this message.
func (t *turn) mentioned() found {
	for _, c := range slices.Backward(t.earlier) {
		r := object(c.result)
		id, slug := fmt.Sprint(r["id"]), r["slug"]
		kind := map[string]string{"pg_": "page", "ent": "entry"}[id[:min(3, len(id))]]
		if kind == "" && c.input["page"] != nil {
			kind, slug, r = "page", c.input["page"], nil
		}
		if kind != "" && slug != nil {
			return found{Kind: kind, Slug: fmt.Sprint(slug), Name: fmt.Sprint(cmp.Or(r["name"], r["title"], slug))}
		}
	}
	return found{}
}

// undo returns the opposite of the last change, or why there is none.
func (t *turn) undo() (*operation, string) {
	i := slices.IndexFunc(table.Forms, func(f *form) bool { return f.Verb == "undo" })
	for _, c := range slices.Backward(t.earlier) {
		o := &operation{form: &form{}, slots: object(c.result)}
		*o.form = *table.Forms[i]
		before, changes := o.slots["before"].(map[string]any)
		for key, v := range before {
			if _, set := c.input[cmp.Or(map[string]string{"slug": "newSlug"}[key], key)]; set {
				o.slots["before."+key] = v
			}
		}
		contents := map[string]any{}
		sections, _ := o.slots["sections"].([]any)
		for _, s := range sections {
			s, _ := s.(map[string]any)
			contents[fmt.Sprint(s["id"])] = s["before"]
		}
		o.slots["contents"] = contents
		for tool, input := range o.form.Undo[c.tool+map[bool]string{true: " before"}[changes]] {
			o.form.Tool = tool
			o.input, _ = o.value(input).(map[string]any)
			return o, ""
		}
		if !strings.HasPrefix(c.tool, "cms.get") && !strings.HasPrefix(c.tool, "cms.list") &&
			!strings.Contains(c.tool, "preview") &&
			!strings.Contains(c.tool, "find") {
			return nil, t.say("button")
		}
	}
	return nil, t.say("nothing")
}
