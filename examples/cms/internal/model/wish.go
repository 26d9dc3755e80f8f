package model

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// assemble finds out what the parts of a wish mean together.
func (w *wish) assemble() {
	if w.verb == "make" && w.parts[0].field != "" && w.parts[0].noun == "" {
		w.verb = "set" // "make the title of About …"
	}
	making := w.verb == "make" || w.verb == "add"
	for i := range w.parts {
		p := &w.parts[i]
		value := slices.Contains(valued, w.verb)
		switch {
		case p.role == "called", p.role == "says":
			w.give(map[bool]string{true: "name"}[p.role == "called"], p.text)
		case p.role == "by" && p.text.text != "", p.role == "on" && w.kind == "quote" && making && p.noun == "" &&
			p.kind == "" && w.over(i, "on", "to"):
			w.give("author", p.text)
		case p.role == "button":
			w.give("button", p.text)
		case p.role == "leads":
			w.give("link", p.text)
		case p.role == "above", p.role == "below":
			w.at, w.beside = p.role, p.kind
			w.bad = w.bad || p.kind == ""
			w.refer(p.before, p.text)
		case p.role == "with" && w.verb == "set" && p.field+p.kind == "":
			w.give("", p.text)
		case p.role == "" && w.verb == "rename" && p.kind+p.field == "" && p.text.text != "" && (p.it ||
			p.before.text != ""):
			w.it = p.it
			w.noun = p.noun
			w.refer(p.before)
			w.give("", p.text) // "call it Team"
		case p.role == "with" && p.field != "":
			w.give(p.field, p.text)
		case p.role == "to" && value, p.role == "as" && value, p.role == "for" && w.verb == "set",
			p.role == "on" && w.verb == "rename" && w.ref.text != "" && p.kind+p.noun == "" && !w.over(i, "to"):
			w.give("", p.text)
		case p.role == "as" && (w.verb == "copy" || making), p.role == "for" && w.verb == "make" && p.noun == "" &&
			w.values["name"].text == "" && w.parts[0].text.text+w.parts[0].before.text == "":
			w.give("name", p.text)
		default:
			w.about(p, making)
		}
		if p.role == "as" && (w.verb == "use") {
			w.kind, w.field = p.kind, "picture"
		}
	}
	if w.media != "" && w.verb == "use" {
		w.verb = "set"
	}
	if w.verb == "" && len(w.values) > 0 && (w.field != "" || w.kind != "") && w.ref.text != "" {
		w.verb = "set" // "the title of About should be …"
	}
	if w.verb == "add" && w.kind == "" && w.field == "" && w.media == "" && w.values[""].quoted &&
		w.parts[0].noun == "" {
		w.kind = "text"
	}
	if w.noun == "menu" && w.ref.text == "" {
		w.ref = w.values[""]
		delete(w.values, "")
	}
	w.bad = w.bad || w.verb == "make" && w.definite && strings.HasPrefix(w.word, "ma") && w.noun == "page"
	if w.number > 0 && w.noun == "entry" && w.kind == "" && w.verb != "list" {
		w.kind, w.verb, w.noun = "entries", "add", ""
	}
}

// over reports whether a later part says where.
func (w *wish) over(i int, roles ...string) bool {
	return slices.ContainsFunc(w.parts[i+1:], func(p part) bool { return slices.Contains(roles, p.role) })
}

// about adds what a part names: a section, a field, a page.
func (w *wish) about(p *part, making bool) {
	w.it, w.plural = w.it || p.it, w.plural || p.plural
	switch {
	case p.kind == "":
	case w.kind == "text" && w.kind != p.kind && w.verb == "set":
		w.kind, w.field = p.kind, "body"
	case w.kind != "" && w.kind != p.kind:
		w.bad = true
	default:
		w.kind = p.kind
	}
	if p.field != "" {
		w.bad = w.bad || w.field != ""
		w.field = p.field
	}
	if p.noun != "" && (w.noun == "" || w.noun == "page") {
		w.noun = p.noun
	}
	object := p.role == ""
	switch {
	case object && making && p.kind == "" && p.field == "" && (p.noun != "" || w.verb == "make"):
		w.give("name", p.before)
		w.give("name", p.text)
	case object && making && p.field != "" && p.text.quoted:
		w.field = ""
		w.give(p.field, p.text)
		w.refer(p.before, phrase{})
	case object && making, object && p.field != "" && p.text.quoted:
		w.refer(p.before, phrase{})
		w.give("", p.text)
	case object && p.kind != "" && p.text.quoted:
		w.pick = p.text.text
		w.refer(p.before, phrase{})
	case !object && p.before.text != "" && p.text.quoted: // "… of the home page "Hello""
		w.refer(p.before)
		w.give("", p.text)
	default:
		w.refer(p.before, p.text)
	}
}

// give sets a value, which may be set once.
func (w *wish) give(field string, value phrase) {
	if value.text == "" {
		return
	}
	w.bad = w.bad || w.values[field].text != ""
	w.values[field] = value
}

// refer sets the name of the page or entry, which may be set once.
func (w *wish) refer(names ...phrase) {
	for _, name := range names {
		if name.text == "" {
			continue
		}
		w.bad = w.bad || w.ref.text != ""
		w.ref = name
	}
}

// elide completes wishes that leave out what the one before them says: "change the title to A and
// the subtitle to B", "publish Blog and News", "create pages A, B and C".
func (s *sentence) elide() {
	var all []wish
	for _, w := range s.wishes {
		var last *wish
		if len(all) > 0 {
			last = &all[len(all)-1]
		}
		bare := len(w.parts) == 1 && w.parts[0] == part{text: w.parts[0].text} // only a name
		switch {
		case last != nil && last.verb == "" && last.ref.text != "" && last.kind+last.field == "" &&
			w.ref.text == "": // "On Home, …"
			w.ref = last.ref
			all = all[:len(all)-1]
		case last == nil && w.it && len(s.forbidden) > 0 && w.ref.text == "":
			w.ref = s.forbidden[0].ref
		case w.verb != "" || last == nil:
		case bare && last.joins(s.text, w.parts[0].text):
			continue
		case bare && last.verb != "" && len(last.parts) > 0:
			name := w.ref
			w = *last
			if w.values["name"].text != "" {
				w.values = map[string]phrase{"name": name}
			} else {
				w.ref = name
			}
			w.bad = w.bad || !(last.plural || last.kind == "" && last.verb != "make") || last.values[""].text != ""
		case last.verb == "make" && w.kind != "":
			w.verb, w.it = "add", true
		default:
			w.verb = cmp.Or(w.elided, last.verb)
			if w.noun == "" && w.kind+w.field == "" {
				w.noun = last.noun
			}
		}
		if last != nil && w.ref.text == "" && !w.it && w.noun != "entry" && (w.kind != "" || w.field != "") {
			w.ref, w.it = last.ref, last.it
			if last.verb == "make" {
				w.it = true
			}
		}
		all = append(all, w)
	}
	for i := len(all) - 2; i >= 0; i-- { // "the quote and the text on Home"
		if all[i].ref.text == "" && !all[i].it && all[i].verb == all[i+1].verb && all[i].kind != "" {
			all[i].ref = all[i+1].ref
		}
	}
	s.wishes = all
}

// joins adds a name after "and" or a comma to an unquoted value before it: "Terms and Conditions".
func (w *wish) joins(sentence string, name phrase) bool {
	for field, v := range w.values {
		if v.text == "" || v.quoted || name.quoted || w.plural {
			continue
		}
		r, _ := utf8.DecodeRuneInString(name.text)
		if w.verb == "describe" || unicode.IsUpper(r) && len(strings.Fields(name.text)) < 3 {
			v.to = name.to
			v.text = sentence[v.from:v.to]
			w.values[field] = v
			return true
		}
	}
	return false
}
