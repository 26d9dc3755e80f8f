package model

import (
	"cmp"
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
	role              string // the preposition; "" for the object
	kind, field       string
	noun              string
	before, text      phrase // before and after the kind, the field or the noun
	it, whole, plural bool
	lead, tail        int // where the articles before the text begin, and 1, and where they end; 0 if there are none
}

// A wish is one thing that a person wants: a verb, and what it is about.
type wish struct {
	verb              string
	kind, field, noun string            // a section of this kind, its field, and page, entry, menu …
	ref               phrase            // the name of a page or an entry
	pick              string            // a text by which one of several sections is meant
	values            map[string]phrase // by field; "" has no field
	media, locale     string
	at, beside        string // the place: top, end, above or below the section of the kind beside
	number            int
	it, plural        bool   // "it"; several
	word              string // the verb as it was written
	definite          bool   // "the page", not "a page"
	elided            string // the verb that it leaves out
	forbids           bool   // something that must not happen; the verb "other" is about the rest
	bad               bool   // a part of it has no meaning here
	parts             []part
}

// A sentence is what a person says.
type sentence struct {
	text                      string
	tokens                    []token
	wishes, forbidden         []wish
	asks, back, when, several bool // a question; taken back; on a condition
}

// understand reads a sentence.
func understand(text string) *sentence {
	s := &sentence{text: text, tokens: read(text)}
	var words []string
	for _, t := range s.tokens {
		s.back = s.back || t.class == "back"
		s.when = s.when || t.class == "if"
		if t.class != "quote" && (t.class != "conj" || t.text == "?") {
			words = append(words, plain(t.text))
		}
	}
	if len(words) == 0 {
		return s
	}
	opening, _, _ := strings.Cut(words[0], " ")
	_, s.asks = vocabulary.questions[opening]
	s.asks = s.asks && vocabulary.words[words[0]].class != "neg"
	begins := strings.Join(words[:min(3, len(words))], " ")
	polite := strings.Contains(begins, " you ") || strings.Contains(begins, " du ")
	s.asks = (s.asks || words[len(words)-1] == "?") && !polite
	for _, segment := range segments(s.tokens) {
		w := parse(text, segment, "")
		if w.verb == "" && !w.forbids && len(s.wishes) > 0 && s.wishes[len(s.wishes)-1].verb != "make" {
			last := s.wishes[len(s.wishes)-1]
			if again := parse(text, segment, cmp.Or(last.verb, last.elided)); len(segment) > 1 {
				w = again
				w.verb, w.elided = "", again.verb
			}
		}
		if w.forbids {
			s.forbidden = append(s.forbidden, w)
		} else if w.verb != "" || len(w.parts) > 1 || w.parts[0] != (part{}) {
			s.wishes = append(s.wishes, w)
		}
	}
	s.elide()
	s.back = s.back || len(s.wishes) > 1 && slices.ContainsFunc(s.wishes, func(w wish) bool { return w.verb == "undo" })
	return s
}

// segments splits a sentence where a wish may begin.
func segments(tokens []token) (all [][]token) {
	var now []token
	cut := func() {
		if len(now) > 0 {
			all, now = append(all, now), nil
		}
	}
	for i, t := range tokens {
		next := i + 1
		for next < len(tokens) && tokens[next].class == "skip" {
			next++
		}
		switch {
		case t.class == "conj":
			cut()
			continue
		case t.class == "mark" && t.id == "with" && next < len(tokens) && tokens[next].class == "kind":
			cut()
			t.verb, t.class = "with", ""
		case t.class == "neg" && (plain(t.text) == "without" || t.text == "ohne"):
			cut()
		}
		now = append(now, t)
	}
	cut()
	return all
}

// trailing are words that don't belong to the value before them.
var trailing = []string{"please", "now", "instead", "bitte", "for me", "again", "today", "too", "also", "um",
	"hinzu", "an", "ein", "there"}

// valued are the verbs after which "to" begins a value.
var valued = []string{"set", "rename", "describe"}

// parse reads one segment.
func parse(text string, tokens []token, verb string) wish {
	w, now := wish{verb: verb, values: map[string]phrase{}}, part{}
	flush := func(role string) {
		if now.text.text == "" && now.lead > 0 && now.tail > 0 { // "called The", "titled Hello"
			now.text = phrase{text[now.lead-1 : now.tail], false, now.lead - 1, now.tail}
		}
		w.parts, now = append(w.parts, now), part{role: role}
	}
	for i, t := range tokens {
		content := now != part{role: now.role, lead: now.lead, tail: now.tail}
		free := w.verb == "reslot" && now.role == "by" || now.role == "called" || now.role == "says" ||
			(now.role == "to" || now.role == "as") && slices.Contains(valued, w.verb)
		word := t.class == "" && (t.verb == "" || w.verb != "")
		switch {
		case t.class == "quote":
			if now.text.text != "" {
				if now.before.text != "" || now.text.quoted {
					w.bad = true
				}
				now.before = now.text
			}
			now.text = phrase{t.text, true, t.from, t.to}
		case t.class == "neg":
			w.forbids = true
			if plain(t.text) == "nothing" && i > 0 && w.verb == "" {
				w.verb = "other"
			}
		case t.class == "else":
			w.verb = "other"
		case t.class == "many" || t.class == "back" || t.class == "if":
			w.bad = true
		case free && w.ends(&now, t) == "" && (content || t.class != "mark" ||
			unicode.IsUpper([]rune(t.text)[0])) && (t.class != "at" || !content) && t.class != "locale":
			if t.class == "skip" && (now.text.text == "" || slices.Contains(trailing, plain(t.text))) ||
				t.class == "it" && !content {
				if now.lead == 0 && now.text.text == "" {
					now.lead = t.from + 1
				}
				now.it, now.tail = now.it || t.class == "it", t.to
				continue
			}
			now.extend(text, t, true)
		case t.verb != "" && w.verb == "" && (t.class == "" || t.class == "skip" || t.class == "field" && i == 0 ||
			i == 0 || onlySkipped(tokens[:i])):
			w.verb, w.word = t.verb, plain(t.text)
			if t.verb == "with" {
				w.verb, w.it = "add", true
			}
		case t.class == "part":
			if now.kind == "" && now.text.text != "" && !now.text.quoted && now.role == "" && w.verb == "add" {
				now.kind, now.text = slugged(now.text.text), phrase{}
			}
		case t.class == "skip" && (i == 0 || t.text == "I" || !unicode.IsUpper([]rune(t.text)[0]) || t.from > 0 &&
			strings.Contains(".!?", text[t.from-1:t.from])):
		case t.class == "it":
			now.it = true
		case t.class == "mark":
			role := t.id
			if role == "auf" && (slices.Contains(valued, w.verb) && slices.ContainsFunc(append(w.parts, now),
				func(p part) bool {
					return p.role == "auf" || p.role == "on" || p.text.text != "" || p.before.text != ""
				})) {
				role = "to"
			} else if role == "auf" {
				role = "on"
			}
			flush(role)
		case t.class == "at":
			w.at = t.id
		case t.class == "state":
			if t.id == "draft" {
				w.values["status"] = phrase{text: "draft"}
			} else {
				w.verb = t.id
			}
		case t.class == "locale":
			w.locale = t.id
		case t.class == "num":
			w.number, _ = strconv.Atoi(t.id)
		case t.class == "kind" || t.class == "field" || t.class == "noun":
			now.settle()
			switch {
			case t.class == "noun":
				if i > 0 && slices.Contains([]string{"the", "this", "die", "diese", "that"}, plain(tokens[i-1].text)) {
					w.definite = true
				}
				now.noun, now.plural = t.id, now.plural || strings.HasSuffix(plain(t.text), "s") ||
					strings.HasSuffix(plain(t.text), "n")
			case t.class == "field":
				w.bad = w.bad || now.field != ""
				now.field = t.id
			case now.kind != "" && t.id == "text":
				now.field = "body"
			case now.kind == "text":
				now.kind, now.field = t.id, "body"
			case now.kind != "":
				w.bad = true
			default:
				now.kind = t.id
				w.definite = i > 0 && slices.Contains([]string{"the", "das", "die", "den"}, plain(tokens[i-1].text))
			}
			if said := plain(t.text); strings.HasSuffix(said, " about") || strings.HasSuffix(said, " über") {
				flush("for")
			}
		case t.class == "alias":
			if now.text.text != "" {
				now.before = now.text
			}
			now.text = phrase{t.id, false, t.from, t.to}
		case word || t.class == "" || t.class == "skip" || t.class == "name":
			if isFile(t.text) {
				w.bad = w.bad || w.media != ""
				w.media = t.text
				continue
			}
			if t.verb != "" {
				w.bad = true
			}
			now.extend(text, t, false)
		default:
			w.bad = true
		}
	}
	flush("")
	if w.forbids && (w.verb == "" || w.verb == "other") {
		for _, t := range tokens {
			for _, ending := range []string{"ing", "ung", "zu"} {
				stem := strings.TrimSuffix(plain(t.text), ending)
				for _, try := range []string{stem, stem + "e", stem[:max(0, len(stem)-1)]} {
					if v, ok := vocabulary.verbs[try]; ok && w.verb != "other" && stem != plain(t.text) {
						w.verb = v.id
					}
				}
			}
		}
	}
	w.assemble()
	return w
}

func onlySkipped(tokens []token) bool {
	return !slices.ContainsFunc(tokens, func(t token) bool { return t.class != "skip" })
}

// isFile reports whether a word is the name of a file.
func isFile(word string) bool {
	dot := strings.LastIndexByte(word, '.')
	return dot > 0 && slices.Contains([]string{"jpg", "jpeg", "png", "gif", "svg", "webp", "pdf", "mp4"},
		strings.ToLower(word[dot+1:]))
}

// ends returns the role of the part that a token begins after an unquoted text, or "".
func (w *wish) ends(now *part, t token) string {
	switch {
	case t.class != "mark" || now.text.quoted:
		if now.text.quoted {
			return t.class
		}
		return ""
	case w.verb == "add" || slices.Contains([]string{"with", "says", "called", "button", "leads"}, t.id):
		return t.id
	case slices.Contains(valued, w.verb) && now.role == "to" || w.verb == "make" || w.verb == "describe":
		return ""
	}
	return t.id
}

// extend adds a word to the text.
func (p *part) extend(sentence string, t token, free bool) {
	if p.text.text == "" {
		p.text.from = t.from
		if free && p.lead > 0 {
			p.text.from = p.lead - 1
		}
	}
	if p.text.quoted {
		p.before, p.text = p.text, phrase{from: t.from}
	}
	p.text.to = t.to
	p.text.text = strings.TrimSuffix(sentence[p.text.from:t.to], "'s")
}

// settle moves the words before a noun.
func (p *part) settle() {
	if p.before.text == "" {
		p.before, p.text = p.text, phrase{}
	}
}
