package model

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A phrase is a part of a sentence, without its quotes.
type phrase struct {
	text     string
	quoted   bool
	from, to int // where it is in the sentence, with its quotes
}

// A part is what follows a preposition, or the object of a verb.
type part struct {
	role         string // the preposition; "" for the object
	kind         string // of sections
	field, noun  string
	before, text phrase // before and after the kind, the field or the noun
	it, plural   bool
	lead, tail   int // where the articles before the text begin, and 1, and where they end; 0 if there are none
}

// A wish is one thing that a person wants: a verb, and what it is about.
type wish struct {
	verb, word        string            // the verb, and how it was written
	kind, field, noun string            // a section of this kind, its field, and page, entry, menu …
	ref               phrase            // the name of a page or an entry
	pick              string            // a text by which one of several sections is meant
	values            map[string]phrase // by field; "" has no field
	media, locale     string
	at, beside        string // the place: top, end, above or below the section of the kind beside
	number            int
	it, plural        bool // "it"; several
	definite, wants   bool // "the page", not "a page"; "should"
	forbids           bool // something that must not happen; the verb "other" is about the rest
	bad               bool // a part of it has no meaning here
	parts             []part
}

// valued are the verbs after which "to" begins a value, trailing the words that don't belong to
// one.
var (
	valued     = []string{"set", "rename", "describe"}
	trailing   = strings.Split("please|now|instead|bitte|for me|for us|again|today|too|also|um|hinzu|an|ein|there", "|")
	participle = regexp.MustCompile(`[^e]ed$|^ge.*t$|^entfernt$`)
	wanting    = regexp.MustCompile(`^(should|must|shall|soll)`)
	files      = strings.Fields(".jpg .jpeg .png .gif .svg .webp .pdf .mp4")
)

// parse reads one segment of a sentence. verb is that of the segment before, if this one has none.
func parse(text string, tokens []token, verb string) wish {
	w, now := wish{verb: verb, values: map[string]phrase{}}, part{}
	flush := func(role string) {
		if now.text.text == "" && now.lead > 0 && now.tail > 0 { // "called The", "titled Hello"
			now.text = phrase{text[now.lead-1 : now.tail], false, now.lead - 1, now.tail}
		}
		w.parts, now = append(w.parts, now), part{role: role}
	}
	opens, said := true, plain(text)
	// "Home is offline" tells something, "Home should be offline" wants it
	state, told := "", !strings.Contains(said, " be ") && !strings.Contains(said, " werden")
	for i, t := range tokens {
		upper := unicode.IsUpper([]rune(t.text + " ")[0])
		article := i > 0 && slices.Contains(strings.Fields("the this that das die den"), plain(tokens[i-1].text))
		content := now != part{role: now.role, lead: now.lead, tail: now.tail}
		done := participle.MatchString(plain(t.text)) // "deleted" is a wish only in "should be deleted"
		free := now.valued(w.verb) && !now.text.quoted && (t.class != "state" || content || upper) &&
			!w.ends(now.role, t) && t.class != "locale" && (content || t.class != "mark" || upper) &&
			(t.class != "at" || !content)
		switch {
		case t.class == "quote":
			w.bad = w.bad || now.text.text != "" && (now.before.text != "" || now.text.quoted || now.valued(w.verb))
			now.before = cmp.Or(now.text, now.before)
			now.text = phrase{t.text, true, t.from, t.to}
		case t.class == "neg":
			if w.forbids = true; plain(t.text) == "nothing" && i > 0 && w.verb == "" {
				w.verb = "other"
			}
		case t.class == "else":
			w.verb = "other"
		case t.class == "many" || t.class == "back" || t.class == "if":
			w.bad = true
		case t.verb != "" && w.verb == "" && done && !told:
			w.verb = t.verb
			now.role = cmp.Or(map[bool]string{true: "on"}[now.role == "says"], now.role)
			flush("")
		case free && t.class == "skip" && (now.text.text == "" || slices.Contains(trailing, plain(t.text))),
			free && t.class == "it" && !content:
			if now.lead == 0 && now.text.text == "" {
				now.lead = t.from + 1
			}
			now.it, now.tail = now.it || t.class == "it", t.to
		case free:
			now.extend(text, t, now.lead)
		case t.verb != "" && w.verb == "" && !done && (i == 0 || t.text != "new") && (!upper || i == 0 || opens) &&
			(t.class == "" || t.class == "skip" || opens):
			if content && i < len(tokens)-1 { // "Services needs a hero", "below the hero, add …"
				now.role = cmp.Or(now.role, "on")
				flush("")
			}
			w.verb, w.word = t.verb, plain(t.text)
			w.verb = cmp.Or(state, w.verb)
			if t.verb == "with" {
				w.verb, w.it = "add", true
			}
		case t.class == "part":
			if now.kind == "" && now.text.text != "" && !now.text.quoted && now.role == "" && w.verb == "add" {
				now.kind, now.text = slugged(now.text.text), phrase{} // "a hero-new section"
			}
		case t.class == "skip" && (i == 0 || t.text == "I" || !upper):
		case t.class == "it":
			now.it, now.plural = true, now.plural || t.id == "many"
		case t.class == "mark":
			w.wants = w.wants || t.text == ":" || wanting.MatchString(plain(t.text))
			if t.id != "auf" {
				flush(t.id)
			} else if slices.Contains(valued, w.verb) && slices.ContainsFunc(append(w.parts, now), part.named) {
				flush("to")
			} else {
				flush("on")
			}
		case t.class == "at":
			w.at = t.id
		case t.class == "locale":
			w.locale = t.id
		case t.class == "num" && (i == 0 || !upper):
			w.number, _ = strconv.Atoi(t.id)
		case t.class == "state" && t.id != "draft" && w.verb == "" && told:
			state = t.id
		case t.class == "state" && t.id != "draft":
			w.verb = t.id
		case t.class == "state":
			w.values["status"] = phrase{text: t.id}
		case t.class == "kind" || t.class == "field" || t.class == "noun":
			if now.before.text == "" {
				now.before, now.text = now.text, phrase{}
			}
			last := plain(t.text)[len(plain(t.text))-1]
			now.tail = t.to
			switch w.definite = article; {
			case t.class == "noun":
				now.noun, now.plural = t.id, now.plural || last == 's' || last == 'n'
			case t.class == "field":
				w.bad, now.field = w.bad || now.field != "", t.id
			case now.kind == "":
				now.kind = t.id
			case t.id == "text":
				now.field = "body"
			case now.kind == "text":
				now.kind, now.field = t.id, "body"
			default:
				w.bad = true
			}
			if said := plain(t.text); strings.HasSuffix(said, " about") || strings.HasSuffix(said, " über") {
				flush("for")
			}
		case t.class == "alias":
			now.before, now.text = cmp.Or(now.text, now.before), phrase{t.id, false, t.from, t.to}
		case slices.ContainsFunc(files, func(end string) bool { return strings.HasSuffix(plain(t.text), end) }):
			w.bad, w.media = w.bad || w.media != "", t.text
		default:
			w.bad = w.bad || t.verb != "" && (!done || !told) || now.text.quoted
			now.extend(text, t, 0)
		}
		opens = opens && t.class == "skip"
	}
	flush("")
	w.bad = w.bad || state != "" && w.verb == ""
	for _, t := range tokens { // "without changing it"
		for _, stem := range []string{strings.TrimSuffix(plain(t.text), "ing"), strings.TrimSuffix(plain(t.text),
			"ing") + "e"} {
			if v := vocabulary[stem].verb; w.forbids && w.verb == "" && v != "" && stem != plain(t.text) {
				w.verb = v
			}
		}
	}
	w.assemble()
	return w
}

// valued reports whether a part holds a value, so that all its words belong to it.
func (p part) valued(verb string) bool {
	return p.role == "called" || p.role == "says" || verb == "reslot" && p.role == "by" ||
		(p.role == "to" || p.role == "as") && slices.Contains(valued, verb)
}

// named reports whether a part has a name.
func (p part) named() bool { return p.text.text+p.before.text != "" }

// ends reports whether a preposition begins another part after a text without quotes.
func (w *wish) ends(role string, t token) bool {
	return t.class == "mark" && (w.verb == "add" || strings.Contains(" with says called button leads ", " "+t.id+" ") ||
		w.verb != "make" && w.verb != "describe" && (!slices.Contains(valued, w.verb) || role != "to"))
}

// extend adds a word to the text, with the articles before it if lead isn't 0.
func (p *part) extend(sentence string, t token, lead int) {
	if p.text.text == "" {
		p.text.from = cmp.Or(lead, t.from+1) - 1
	}
	p.text.to = t.to
	p.text.text = strings.TrimSuffix(sentence[p.text.from:t.to], "'s")
}

// assemble finds out what the parts of a wish mean together.
func (w *wish) assemble() {
	if w.verb == "make" && w.parts[0].field != "" && w.parts[0].noun == "" {
		w.verb = "set" // "make the title of About …"
	}
	for _, p := range w.parts[1:] {
		if p.role == "as" && p.field+p.kind != "" && (p.field != "" || w.media != "") && w.verb != "describe" {
			if w.verb = "set"; w.parts[0].text.quoted { // "use "Hello" as the title on Home"
				w.give("", w.parts[0].text)
				w.parts[0].text = phrase{}
			}
		}
	}
	making, value := w.verb == "make" || w.verb == "add", slices.Contains(valued, w.verb)
	for i := range w.parts {
		p := &w.parts[i]
		placed := slices.ContainsFunc(w.parts[i+1:], func(p part) bool { return p.role == "on" || p.role == "to" })
		w.it, w.plural = w.it || p.it, w.plural || p.plural
		if p.role == "by" && w.verb == "set" { // "replace A by B"
			p.role = "to"
		}
		switch field := map[string]string{"called": "name", "by": "author", "button": "button",
			"leads": "link"}[p.role]; {
		case p.role == "says" && w.verb == "make" && w.kind == "" && !w.parts[0].named() &&
			w.values["name"].text == "": // "new page: Events"
			w.give("name", p.text)
		case field != "" && p.text.text != "", p.role == "says":
			w.give(field, p.text)
		case p.role == "on" && w.kind == "quote" && making && p.noun+p.kind == "" && placed:
			w.give("author", p.text)
		case p.role == "above", p.role == "below":
			w.at, w.beside, w.bad = p.role, p.kind, w.bad || p.kind == ""
			w.refer(p.before, p.text)
		case p.role == "with" && p.field != "":
			w.give(p.field, p.text)
		case p.role == "" && w.verb == "rename" && p.kind+p.field == "" && p.text.text != "" && (p.it ||
			p.before.text != ""):
			w.noun = p.noun // "call it Team"
			w.refer(p.before)
			w.give("", p.text)
		case p.role == "as" && p.field+p.kind != "" && w.verb != "describe":
			w.kind, w.field = p.kind, cmp.Or(map[bool]string{true: "picture"}[w.media != ""], p.field)
			w.refer(p.before, p.text)
		case (p.role == "to" || p.role == "as") && value, (p.role == "for" || p.role == "with" && p.kind == "") &&
			w.verb == "set",
			p.role == "on" && w.ref.text != "" && p.kind+p.noun == "" && !placed && (w.verb == "rename" ||
				w.verb == "set" && p.text.quoted):
			w.give("", p.text)
		case p.role == "as", p.role == "for" && w.verb == "make" && w.kind == "" && !w.parts[0].named() &&
			w.values["name"].text == "":
			w.give("name", p.text)
		default:
			w.about(p, making)
		}
	}
	switch w.bad = w.bad || w.verb == "make" && w.definite && strings.HasPrefix(w.word, "ma") && w.noun == "page"; {
	case w.verb == "use" && w.media != "",
		w.verb == "" && w.wants && len(w.values) > 0 && w.field+w.kind != "" &&
			w.ref.text != "": // "the title of About should be …"
		w.verb = "set"
	case w.verb == "" && w.kind != "" && w.field == "" && w.parts[len(w.parts)-1].role == "for" && !w.definite:
		w.verb = "add" // "a gallery for About"
	case w.verb == "off":
		w.verb = map[bool]string{true: "delete", false: "unpublish"}[w.kind != ""]
	case w.verb == "add" && w.kind+w.field+w.media+w.parts[0].noun == "" && w.values[""].quoted:
		w.kind = "text"
	case w.noun == "menu" && w.ref.text == "":
		w.ref = w.values[""]
		delete(w.values, "")
	case w.number > 0 && w.noun == "entry" && w.kind == "" && w.verb != "list": // "the last three posts"
		w.kind, w.verb, w.noun = "entries", "add", ""
	}
}

// about adds what a part names: a section, a field, a page.
func (w *wish) about(p *part, making bool) {
	object, quoted := p.role == "", p.text.quoted
	if w.kind == "text" && p.kind != "" && p.kind != "text" && w.verb == "set" {
		w.kind, w.field = "", "body"
	}
	w.bad = w.bad || p.kind != "" && w.kind != "" && w.kind != p.kind || p.field != "" && w.field != ""
	w.kind, w.field = cmp.Or(p.kind, w.kind), cmp.Or(p.field, w.field)
	if w.noun == "" || w.noun == "page" {
		w.noun = cmp.Or(p.noun, w.noun)
	}
	switch {
	case object && making && p.kind+p.field == "" && (p.noun != "" || w.verb == "make"):
		w.give("name", p.before)
		w.give("name", p.text)
	case object && making && p.field != "" && quoted:
		w.field = ""
		w.give(p.field, p.text)
		w.refer(p.before)
	case object && (making || p.field != "" && quoted), !object && p.before.text != "" && quoted:
		w.refer(p.before)
		w.give("", p.text)
	case object && p.kind != "" && quoted:
		w.pick = p.text.text
		w.refer(p.before)
	default:
		w.refer(p.before, p.text)
	}
}

// give sets a value, which may be set once.
func (w *wish) give(field string, value phrase) {
	if value.text != "" {
		w.bad = w.bad || w.values[field].text != ""
		w.values[field] = value
	}
}

// refer sets the name of the page or entry, which may be set once.
func (w *wish) refer(names ...phrase) {
	for _, name := range names {
		w.bad = w.bad || name.text != "" && w.ref.text != ""
		w.ref = cmp.Or(name, w.ref)
	}
}
