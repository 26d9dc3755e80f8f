package wish

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/internal/lexicon"
)

// titleIn returns the title that a request to rename gives; empty if it gives none.
func (r *Reader) titleIn(text string) string {
	if q := r.quotes(text); len(q) > 0 {
		return q[len(q)-1]
	}
	t := r.find(r.trim(text), "calledIt", "newTitle", "afterIt")
	if r.re["vagueTitle"].MatchString(t) {
		return ""
	}
	return r.clean(t)
}

// retitle sets the title that a change of single words makes, and returns it; empty if it isn't
// clear.
func (p *pending) retitle(w *Wish, a *Artifact, c *part) string {
	q := p.quotes(p.given)
	if a == nil || len(q) == 0 || len(q) > 2 || strings.EqualFold(q[0], a.Title) {
		return w.Title
	}
	i := strings.Index(strings.ToLower(a.Title), strings.ToLower(q[0]))
	switch {
	case i < 0 && !p.re["within"].MatchString(p.text):
	case i >= 0 && (len(q) == 2 || c.means("cut", "use")):
		w.Title = p.clean(strings.Join(strings.Fields(a.Title[:i]+strings.Join(q[1:], "")+a.Title[i+len(q[0]):]), " "))
	default:
		w.Title = ""
	}
	return w.Title
}

// own returns a text in the spelling of the writer.
func (p *pending) own(text string) string {
	is, was := p.re["wordAt"].FindAllStringIndex(p.right, -1), p.re["wordAt"].FindAllStringIndex(p.given, -1)
	words := p.re["wordAt"].FindAllStringIndex(text, -1)
	if len(words) == 0 || len(is) != len(was) {
		return text
	}
next:
	for i := range len(is) - len(words) + 1 {
		for n, at := range words {
			if !strings.EqualFold(p.right[is[i+n][0]:is[i+n][1]], text[at[0]:at[1]]) {
				continue next
			}
		}
		last := len(words) - 1
		return text[:words[0][0]] + p.given[was[i][0]:was[i+last][1]] + text[words[last][1]:]
	}
	return text
}

// subject returns the title of a new artifact, from a name or a topic; empty if there is none.
func (r *Reader) subject(text string) string {
	if q := r.quotes(text); len(q) > 0 {
		return q[0]
	}
	t := r.find(text, "called", "topicOf")
	if t == "" {
		t = r.find(r.trim(text), "afterIt", "topicOn")
	}
	if r.re["typeOnly"].MatchString(t) || r.is("pronouns", strings.ToLower(r.clean(t))) {
		return ""
	}
	return r.clean(t)
}

// fill sets the details that a text has.
func (r *pending) fill(w *Wish, text string, c *part, a *Artifact) {
	for _, t := range c.tokens {
		word := c.words[t.First]
		switch {
		case t.Means(r.list("pieces")[1:]...):
			w.Type = t.Meanings[len(t.Meanings)-1]
		case t.Means("toneword"):
			if w.Tone = r.Pairs["tones"][word]; w.Tone == "" {
				w.Tone = word
			}
		case t.Means("format"):
			w.Format = r.Pairs["formats"][word]
		}
	}
	switch w.Intent {
	case GenerateTopics:
		w.Count = r.number(strings.ToLower(r.find(text, "number")))
		if f := r.find(r.trim(text), "something", "topicOf", "topicOn"); !r.re["typeOnly"].MatchString(f) {
			f, _, _ = strings.Cut(f, "? ")
			w.Focus = r.own(r.trim(f))
		}
	case ListArtifacts:
		for _, m := range []string{"published", "archived", "ready", "drafts"} {
			if c.means(m) {
				w.Focus = strings.TrimSuffix(m, "s")
			}
		}
	case Rename:
		w.Title = r.clean(r.own(r.titleIn(text)))
	case Restore:
		if w.Version = r.number(r.find(text, "version")); w.Version == 0 && c.means("humanize") {
			w.Before = portfolio.Humanizer
		}
	case SetTags:
		list := r.find(r.trim(text), "afterIt", "tagsWith", "tagsAfter")
		list = strings.NewReplacer(" and ", ",", " und ", ",").Replace(list)
		if all := r.re["hashtag"].FindAllString(text, -1); all != nil {
			list = strings.Join(all, ",")
		}
		for tag := range strings.SplitSeq(list, ",") {
			if tag = strings.Trim(tag, ` "“”#`); tag != "" {
				w.Tags = append(w.Tags, r.own(tag))
			}
		}
	case Export:
		if w.Format == "" {
			w.Format = "markdown"
		}
	case ReplacePicture, RemovePicture:
		w.Picture = r.ordinal(c.words)
	case ModifyContent, WriteContent:
		w.Section, w.Instruction = r.section(text, c, a), r.own(r.trim(text))
	}
}

func (r *Reader) number(word string) int {
	if n := r.Pairs["numbers"][word]; n != "" {
		word = n
	}
	n, _ := strconv.Atoi(word) // 0: it is none
	return n
}

// ordinal returns the number of the first ordinal among words; -1 for the last, 0 for none.
func (r *Reader) ordinal(words []string) int {
	for _, w := range words {
		for _, end := range []string{"", "n", "s", "r"} {
			if n := r.number(strings.TrimSuffix(w, end)); n != 0 && strings.TrimSuffix(w, end) != "one" {
				return n
			}
		}
	}
	return 0
}

// section returns the section that a text names; empty if it names none, or only says where a new
// one is to be.
func (r *Reader) section(text string, c *part, a *Artifact) string {
	if r.re["newSection"].MatchString(text) {
		return ""
	}
	var sections []string
	if a != nil {
		sections = a.Sections
	}
	for _, s := range sections {
		if name := r.wordsOf(s); len(name) > 0 && common(r.wordsOf(text), name) == len(name) {
			return s
		}
	}
	var found []string // by a word of their heading
	for _, s := range sections {
		words := slices.DeleteFunc(r.wordsOf(s), func(w string) bool {
			t := r.lexicon.Tokens([]string{w})[0]
			return t.Meanings != nil && !t.Means("opinion")
		})
		if common(r.wordsOf(text), words) > 0 {
			found = append(found, s)
		}
	}
	if len(found) == 1 && (c.means("section") || !c.means("topic")) {
		return found[0]
	}
	for _, t := range c.tokens {
		for _, m := range t.Meanings {
			if s := r.Pairs["sections"][m]; s != "" {
				return s
			}
		}
	}
	n := r.ordinal(c.words)
	if n < 0 {
		n = len(sections)
	}
	switch {
	case n == 0 || !c.means("section"):
		return ""
	case n <= len(sections):
		return sections[n-1]
	}
	return strconv.Itoa(n)
}

// means reports whether a word of the clause has one of these meanings.
func (c *part) means(any ...string) bool {
	return slices.ContainsFunc(c.tokens, func(t lexicon.Token) bool { return t.Means(any...) })
}
