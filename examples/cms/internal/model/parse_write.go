package model

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// parseCreate parses a creation: the first of the words page, section and entry decides what is created.
func parseCreate(c *cursor, locale string) (request, bool) {
	c.skip("up", "me", "us")
	i := c.index(slices.Concat(pageWords[:1], blockWords[:1], []string{"block"}, []string{"entry", "post", "article"})...)
	if i < 0 {
		return nil, false
	}
	before, what := c.toks[:i], c.toks[i]
	rest := &cursor{c.toks[i+1:]}
	switch {
	case what.is("page"):
		return parseCreatePage(before, rest, locale)
	case what.is("section", "block"):
		return parseAddSection(before, rest, locale)
	}
	return parseWriteEntry(rest, locale)
}

// parseCreatePage parses the options of a page in any order.
func parseCreatePage(before []token, c *cursor, locale string) (request, bool) {
	p := create{name: capital(name(before)), locale: locale}
	for first := true; !c.end(); first = false {
		switch {
		case c.word(",", "and", "with", "having", "containing", "that", "has", "which", "is", "its", "under", "at", "a", "an", "the"):
		case c.word(namedWords...):
			p.name = value(c.until(optionStops...))
		case c.word("slug", "address", "url", "path"):
			c.skip("is", "of", "to", ":", "=", "as", "called")
			p.slug = slug(value(c.until(optionStops...)))
		case c.word("description"):
			c.skip("is", "of", "to", ":", "saying")
			p.description = value(c.until(optionStops...))
		case len(c.toks[0].text) > 1 && c.toks[0].text[0] == '/':
			p.slug = slug(c.toks[0].text)
			c.toks = c.toks[1:]
		case sectionAhead(c) >= 0:
			i := sectionAhead(c)
			sec := newSection{key: sectionKey(c.toks[:i])}
			c.toks = c.toks[i:]
			c.word("section", "block")
			sec.options(c)
			p.sections = append(p.sections, sec)
		case first && p.name == "":
			p.name = value(c.until(optionStops...))
		default:
			return nil, false // would be ignored silently
		}
	}
	if p.name == "" {
		p.name = capital(strings.ReplaceAll(p.slug, "-", " "))
	}
	return p, p.name != ""
}

// sectionAhead returns how many words name the section that comes next, or -1. The word section is optional for a hero.
func sectionAhead(c *cursor) int {
	i := c.index("section", "block")
	if i != 1 && c.toks[0].is("hero") {
		return 1
	}
	if i < 1 || i > 3 || slices.ContainsFunc(c.toks[:i], func(t token) bool { return t.is(optionStops...) }) {
		return -1
	}
	return i
}

// A newSection is a section to create.
type newSection struct{ key, title, body, subtitle string }

// options parses the contents of a section: title, subtitle and text.
func (s *newSection) options(c *cursor) {
	for {
		before := c.toks
		if !c.word(namedWords...) && !c.word(sayingWords...) {
			c.skip(",", "and", "with", "having", "a", "an", "the", "its")
			switch {
			case c.word("title", "headline", "heading"):
				c.skip("is", "of", ":", "saying", "reading")
				s.title = value(c.until(optionStops...))
				continue
			case c.word("subtitle", "tagline", "subline"):
				c.skip("is", "of", ":", "saying", "reading")
				s.subtitle = value(c.until(optionStops...))
				continue
			case c.word("text", "body", "content", "copy"):
				if len(c.toks) == 0 || c.toks[0].is("section", "block") { // the next section begins
					c.toks = before
					return
				}
				c.skip("is", "of", ":", "saying", "reading")
				s.body = value(c.until(optionStops...))
				continue
			case c.word(sayingWords...):
				s.body = value(c.until(optionStops...))
				continue
			case c.word(namedWords...):
				s.title = value(c.until(optionStops...))
				continue
			}
			c.toks = before
			return
		}
		text := value(c.until(optionStops...))
		if before[0].is(namedWords...) {
			s.title = text
		} else {
			s.body = text
		}
	}
}

func parseAddSection(before []token, c *cursor, locale string) (request, bool) {
	s := addSection{newSection: newSection{key: sectionKey(before)}, locale: locale}
	found := false
	for !c.end() {
		n := len(c.toks)
		s.options(c)
		if c.word("to", "on", "at", "of") {
			if c.word("the") && c.word("top", "beginning", "start") {
				c.skip("of")
				s.top = true
			} else if c.word("end", "bottom") {
				c.skip("of")
			}
			s.page, found = pageName(c.until(slices.DeleteFunc(slices.Clone(optionStops), func(w string) bool { return w == "in" })...)), true
		}
		if len(c.toks) == n {
			return nil, false
		}
	}
	return s, found && s.key != ""
}

// parseWriteEntry parses the creation of an entry.
func parseWriteEntry(c *cursor, locale string) (request, bool) {
	e := writeEntry{collection: "blog", locale: locale}
	for first := true; !c.end(); first = false {
		switch {
		case c.word(",", "and", "with", "having", "a", "an", "the"):
		case c.word(namedWords...), c.word("title", "about"):
			c.skip("is", ":")
			e.title = value(c.until(optionStops...))
		case c.word(sayingWords...), c.word("body", "text", "content"):
			c.skip("is", ":", "of", "saying", "reading")
			e.body = value(c.until(optionStops...))
		case c.word("in", "to", "on"):
			e.collection = slug(name(c.until(optionStops...), "collection"))
		case first:
			e.title = value(c.until(optionStops...))
		default:
			return nil, false
		}
	}
	return e, e.title != ""
}

// parseSet parses "the title of the hero on About to Hello" and its variants.
func parseSet(c *cursor, locale string) (request, bool) {
	to := c.index("to", "into", ":", "=")
	if i := c.index(sayingWords...); to < 0 && i > 0 { // update the blog entry X saying B
		if j := c.index(entryWords...); j >= 0 && j < i {
			return setEntry{entry: name(c.toks[:i], append(entryWords, "blog")...), body: value(c.toks[i+1:]), locale: locale}, i+1 < len(c.toks)
		}
	}
	if to < 1 || to+1 >= len(c.toks) {
		return nil, false
	}
	target, after := c.toks[:to], &cursor{c.toks[to+1:]}
	said := after.until("on", "of", "in")
	if !after.end() && len(after.toks) > 1 && !slices.ContainsFunc(target, func(t token) bool { return t.is("on", "of", "in", "'s") }) {
		target = append(slices.Clone(target), after.toks...) // set the title to Hello on About
	} else {
		said = c.toks[to+1:]
	}
	what, owners := owned(target)
	if len(what) == 0 {
		return nil, false
	}
	s := set{value: value(said), locale: locale}
	for _, o := range owners {
		oc := &cursor{o}
		oc.skip(articles...)
		switch last := oc.toks; {
		case len(last) == 0:
		case oc.index(entryWords...) >= 0:
			s.entry = name(o, append(entryWords, "blog")...)
		case last[len(last)-1].is("section", "block"):
			s.section = sectionKey(last[:len(last)-1])
		case len(last) == 1 && last[0].is("hero", "text") && len(owners) > 1:
			s.section = strings.ToLower(last[0].text)
		default:
			s.page, s.paged = pageName(o), true
		}
	}
	return s.of(what)
}

// owned splits "the title of the hero on About" into the value and its owners, innermost first.
func owned(toks []token) (what []token, owners [][]token) {
	if i := slices.IndexFunc(toks, func(t token) bool { return t.is("'s") }); i > 0 { // About 's title: the title of About
		what, owners = owned(toks[i+1:])
		return what, append([][]token{toks[:i]}, owners...)
	}
	c := &cursor{toks}
	c.skip(articles...)
	what = c.until(ownerWords...)
	for c.word(ownerWords...) {
		owners = append(owners, c.until(ownerWords...))
	}
	return what, owners
}

// of sets the target of a set: a slot, perhaps with the section before it, or a field of the page.
func (s set) of(what []token) (request, bool) {
	last := what[len(what)-1]
	lead := what[:len(what)-1]
	if last.is("text") && len(lead) > 0 && lead[len(lead)-1].is("button") { // button text
		last, lead = token{text: "button"}, lead[:len(lead)-1]
	}
	if len(lead) > 0 && lead[len(lead)-1].is("section", "block") {
		lead = lead[:len(lead)-1]
	}
	pageField := len(lead) == 0 || lead[len(lead)-1].is("page")
	if pageField && len(lead) > 1 { // the About page slug
		s.page, s.paged = pageName(lead), true
	}
	switch {
	case s.entry != "" && last.is("title", "name", "headline"):
		return setEntry{entry: s.entry, title: s.value, locale: s.locale}, true
	case s.entry != "":
		return setEntry{entry: s.entry, body: s.value, locale: s.locale}, last.is("body", "text", "content")
	case last.is("slug", "address", "url", "path"):
		return update{page: s.page, field: "newSlug", value: slug(s.value)}, s.paged
	case last.is("name") && s.section == "":
		return update{page: s.page, field: "name", value: s.value}, s.paged
	case last.is("description") && s.section == "":
		return update{page: s.page, field: "description", value: s.value}, s.paged
	}
	if s.section == "" && !pageField {
		s.section = sectionKey(lead)
	}
	s.slot = last.text
	return s, s.paged
}

// slug converts a name to a slug.
func slug(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == ' ' || r == '/' || r == '_' }), "-")
}

// capital capitalizes a name.
func capital(s string) string {
	if s == "" || s != strings.ToLower(s) {
		return s
	}
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}
