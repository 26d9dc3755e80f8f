package model

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A sentence is what a person says.
type sentence struct {
	text              string
	tokens            []token
	wishes, forbidden []wish
	asks, back, when  bool   // a question; taken back; on a condition
	offer             string // what is wished with "can you"
}

// polite is a wish that is put as a question, so it is offered.
var polite = regexp.MustCompile(`(?is)^\W*(?:\w+\W+)?(?:can|could|would|will|kannst|könntest|würdest) (?:you|du) (?:please |bitte )?(.*)$`)

// understand reads a sentence.
func understand(text string) *sentence {
	s := &sentence{text: text, tokens: read(text)}
	words := " "
	for _, t := range s.tokens {
		s.back, s.when = s.back || t.class == "back", s.when || t.class == "if"
		if t.class != "quote" && (t.class != "conj" || t.text == "?") {
			words += plain(t.text) + " "
		}
	}
	opens := strings.Fields(words + " .")[0]
	if asked := strings.HasSuffix(words, " ? "); asked {
		s.offer = strings.TrimRight(text, "? \n")
		if m := polite.FindStringSubmatch(text); m != nil {
			s.offer = strings.TrimRight(m[1], "? \n")
		}
	}
	s.asks = !polite.MatchString(text) && slices.Contains(questions, opens) && s.tokens[0].class != "neg"
	for _, segment := range segments(s.tokens) {
		w, leaves := parse(text, segment, ""), false
		if n := len(s.wishes); w.verb == "" && !w.forbids && n > 0 && s.wishes[n-1].verb != "make" && len(segment) > 1 {
			w = parse(text, segment, s.wishes[n-1].verb) // "change the title to A and the subtitle to B"
			leaves = true
		}
		if w.forbids {
			s.forbidden = append(s.forbidden, w)
		} else if text := w.values[""]; (w.verb == "make" || w.verb == "add") && w.noun == "page" && w.kind == "" &&
			text.quoted {
			delete(w.values, "") // a page with a text is a page and a text
			s.add(w, false)
			s.add(wish{verb: "add", kind: "text", it: true, values: map[string]phrase{"": text}, parts: w.parts}, false)
		} else if w.verb != "" || len(w.parts) > 1 || w.parts[0] != (part{}) {
			s.add(w, leaves || w.verb == "")
		}
	}
	for i := len(s.wishes) - 2; i >= 0; i-- { // "the quote and the text on Home"
		w, next := &s.wishes[i], &s.wishes[i+1]
		s.back = s.back || next.verb == "undo"
		if w.ref.text == "" && !w.it && w.verb == next.verb && w.kind != "" {
			w.ref = next.ref
		}
	}
	return s
}

// segments splits a sentence where a wish may begin.
func segments(tokens []token) (all [][]token) {
	all = [][]token{nil}
	for i, t := range tokens {
		next := slices.IndexFunc(tokens[i+1:], func(t token) bool { return t.class != "skip" })
		part := t.class == "mark" && t.id == "with" && next >= 0 && tokens[i+1+next].class == "kind"
		if t.class == "conj" || part || t.class == "neg" && (plain(t.text) == "without" || plain(t.text) == "ohne") {
			all = append(all, nil)
		}
		if part { // "a page with a hero" is "a page, add a hero to it"
			t.verb, t.class = "with", ""
		}
		if t.class != "conj" {
			all[len(all)-1] = append(all[len(all)-1], t)
		}
	}
	return slices.DeleteFunc(all, func(s []token) bool { return len(s) == 0 })
}

// add adds a wish, completed by what the one before it says if it leaves that out: "publish Blog
// and News", "create pages A, B and C".
func (s *sentence) add(w wish, leaves bool) {
	if len(s.wishes) == 0 {
		if w.it && w.ref.text == "" && len(s.forbidden) > 0 { // "don't publish About, show it"
			w.ref = s.forbidden[0].ref
		}
		s.wishes = append(s.wishes, w)
		return
	}
	if w.it && w.plural && !leaves { // "create A and B and publish them"
		for _, made := range slices.Clone(s.wishes) {
			w.bad = w.bad || made.verb != "make" || made.noun == "entry"
			w.it, w.ref = false, made.values["name"]
			s.wishes = append(s.wishes, w)
		}
		return
	}
	last := &s.wishes[len(s.wishes)-1]
	bare := leaves && len(w.parts) == 1 && w.parts[0] == part{text: w.parts[0].text} // only a name
	switch {
	case last.verb == "" && last.ref.text != "" && last.kind+last.field == "" && w.ref.text == "": // "On Home, …"
		w.bad = w.bad || last.bad || last.at != "" && w.at != ""
		w.ref, w.at, w.beside = last.ref, cmp.Or(w.at, last.at), cmp.Or(w.beside, last.beside)
		s.wishes = s.wishes[:len(s.wishes)-1]
	case (bare || leaves && last.verb == "describe") && last.joins(s.text, w.parts):
		return
	case leaves && w.at != "" && w.parts[0] == (part{}) && w.kind == "": // "…, below the text"
		last.at, last.beside = w.at, w.beside
		return
	case bare && last.verb != "":
		name := w.parts[0].text
		w = *last
		w.bad = w.bad || !last.plural && (last.kind != "" || last.verb == "make" && last.noun != "") ||
			last.values[""].text != ""
		if w.ref = name; w.values["name"].text != "" {
			w.values, w.ref = map[string]phrase{"name": name}, phrase{}
		}
	case leaves && last.verb == "make" && w.kind != "":
		w.verb, w.it = "add", true
	case leaves:
		creates := func(w *wish) bool { return w.verb == "make" || w.verb == "add" }
		w.bad = w.bad || creates(&w) && !creates(last)
		if w.verb = cmp.Or(w.verb, last.verb); w.noun+w.kind+w.field == "" {
			w.noun = last.noun
		}
	}
	if w.ref.text == "" && !w.it && w.noun != "entry" && w.kind+w.field != "" {
		w.ref, w.it = last.ref, last.it || last.verb == "make"
	}
	s.wishes = append(s.wishes, w)
}

// joins adds a name after "and" or a comma to an unquoted value before it: "Terms and Conditions".
func (w *wish) joins(sentence string, parts []part) bool {
	name := parts[0].text
	for field, v := range w.values {
		upper := unicode.IsUpper([]rune(name.text + " ")[0]) && len(strings.Fields(name.text)) < 3
		if v.text != "" && !v.quoted && !name.quoted && !w.plural && w.verb != "make" && (w.verb == "describe" ||
			upper) {
			for _, p := range parts {
				v.to = max(v.to, p.tail, p.before.to, p.text.to)
			}
			v.text = sentence[v.from:v.to]
			w.values[field] = v
			return true
		}
	}
	return false
}

// reads reports whether a wish changes nothing.
func (w *wish) reads() bool {
	return slices.Contains(strings.Fields("show list find help thanks fetch"), w.verb)
}

// conflicts reports whether a wish is about what another part of the sentence forbids.
func (s *sentence) conflicts(w wish) bool {
	return slices.ContainsFunc(s.forbidden, func(f wish) bool {
		switch {
		case f.verb == "other" || w.reads(),
			f.verb != "" && f.verb != w.verb && f.verb != "set":
			return false
		case w.verb == "delete" && w.kind == "" && f.ref.text == "", f.kind+f.field+f.ref.text == "":
			return true
		}
		return f.kind == w.kind && f.field == w.field && (f.ref.text == "" || w.ref.text == "" ||
			strings.EqualFold(f.ref.text, w.ref.text))
	})
}
