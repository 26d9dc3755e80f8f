package wish

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/internal/lexicon"
)

// A target is the artifact that a sentence is about.
type target struct {
	id      string
	named   bool
	unknown string     // a name that no artifact has
	several []Artifact // that have the name
}

// target returns the artifact that a text names, or else the one of the conversation or the screen.
func (r *Reader) target(text string, at *Place) target {
	if id := at.fixed; id != "" {
		return target{id: id, named: true}
	}
	if id := r.find(text, "byID"); id != "" {
		return target{id: id, named: true}
	}
	best, unknown, hint := make([]int, len(at.Artifacts)), "", []string(nil)
	for _, q := range r.quotes(text) {
		for i, a := range at.Artifacts {
			if title := r.wordsOf(a.Title); 2*common(r.wordsOf(q), title) > len(title) {
				best[i] += 10
			}
		}
	}
	for _, c := range intent.Read(text) {
		name, loose, part := r.name(c)
		for i, a := range at.Artifacts {
			title := r.wordsOf(a.Title)
			n, l := common(name, title), common(loose, title)
			if best[i] += 2 * n; n == 0 && (l >= 2 || l > 0 && l == len(title)) {
				best[i] += l
			}
		}
		hint = append(hint, part...)
		if len(name) > 0 {
			unknown = strings.Join(name, " ")
		}
	}
	var found []Artifact
	here := r.here(text, at)
	for i, n := range best {
		if n > 0 && n == slices.Max(best) {
			found = append(found, at.Artifacts[i])
		}
	}
	switch {
	case len(found) == 1:
		return target{id: found[0].ID, named: true}
	case len(found) > 1:
		return target{several: found, named: true}
	case unknown != "" && !r.headed(at.of(here.id), strings.Fields(unknown)):
		return target{unknown: unknown, named: true}
	}
	a, hinted := at.of(here.id), func(a Artifact) bool { return common(hint, r.wordsOf(a.Title)) > 0 }
	if a != nil && (hinted(*a) || r.headed(a, hint)) {
		return here
	}
	here.several = slices.DeleteFunc(slices.Clone(at.Artifacts), func(a Artifact) bool { return !hinted(a) })
	if a != nil && len(here.several) > 0 {
		here.several = append(here.several, *a)
	}
	return here
}

// headed reports whether a heading of an artifact has one of the words.
func (r *Reader) headed(a *Artifact, words []string) bool {
	return a != nil && common(words, r.wordsOf(strings.Join(a.Sections, " "))) > 0
}

// here returns the artifact that is meant where a text has no name.
func (r *Reader) here(text string, at *Place) target {
	if at.About == "" && at.Open == "" {
		return r.only(text, at)
	}
	return target{id: cmp.Or(at.About, at.Open)}
}

// only returns the artifact of a type that the text names, if there is just one: "the showcase".
func (r *Reader) only(text string, at *Place) target {
	for _, c := range intent.Read(text) {
		tokens := r.lexicon.Tokens(c.Words)
		for i, t := range tokens {
			var found []Artifact
			for _, a := range at.Artifacts {
				if t.Means(a.Type) && r.before(c.Words, tokens, i, "definite") {
					found = append(found, a)
				}
			}
			if len(found) == 1 {
				return target{id: found[0].ID, named: true}
			}
		}
	}
	return target{}
}

// before reports whether a word of a set precedes a token, with nothing but words that describe it
// between them.
func (r *Reader) before(words []string, tokens []lexicon.Token, i int, set string) bool {
	for i--; i >= 0; i-- {
		word := words[tokens[i].Last]
		if r.is(set, word) || r.lexicon.Verb(tokens[i]) || r.is("determiners", word) {
			return r.is(set, word)
		}
	}
	return false
}

// name returns the words of a clause by which it names an artifact, such as "bank" in "the bank
// showcase" and "remote work" in "the one about remote work"; loose are those that have no meaning,
// and part those that describe a part of one, such as "bank" in "the bank outline".
func (r *Reader) name(c intent.Clause) (name, loose, part []string) {
	tokens := r.lexicon.Tokens(c.Words)
	var run []string // words between a determiner and the noun
	begun := false
	for i, t := range tokens {
		w, genitive := strings.CutSuffix(c.Words[t.First], "'s")
		if genitive {
			t.Meanings = r.lexicon.Tokens([]string{w})[0].Meanings
		}
		switch {
		case r.is("definite", w):
			run, begun = nil, true
		case t.Means("drafts") || t.Means(r.list("pieces")...):
			if begun = begun || w == "one"; begun && i+1 < len(tokens) {
				if next := tokens[i+1]; next.Means("topic") || c.Words[next.First] == "on" {
					run = append(run, c.Words[next.First+1:]...)
				}
			}
			if begun {
				name = append(name, r.significant(run)...)
			}
			run, begun = nil, false
		case t.Meanings == nil && !r.lexicon.Filler(w) && !r.is("states", w):
			run, loose = append(run, w), append(loose, w)
		case begun && t.Means(r.list("parts")...):
			part = append(part, r.significant(run)...)
		case t.Meanings != nil && !t.Means(r.list("describing")...):
			run, begun = nil, false
		}
	}
	return name, loose, part
}

// significant returns the words that can name something.
func (r *Reader) significant(words []string) (all []string) {
	for _, w := range words {
		if !r.is("small", w) && !strings.HasPrefix(w, `"`) {
			all = append(all, w)
		}
	}
	return all
}

func (r *Reader) wordsOf(title string) []string {
	return r.significant(r.re["word"].FindAllString(strings.ToLower(title), -1))
}

// common returns how many words of a title are among the words, in this form or nearly.
func common(words, title []string) (n int) {
	for _, t := range title {
		if slices.ContainsFunc(words, func(w string) bool { return lexicon.Alike(w, t) }) {
			n++
		}
	}
	return n
}

// of returns an artifact of a place; nil if it has none of this id.
func (at *Place) of(id string) *Artifact {
	if i := slices.IndexFunc(at.Artifacts, func(a Artifact) bool { return a.ID == id }); i >= 0 {
		return &at.Artifacts[i]
	}
	return nil
}
