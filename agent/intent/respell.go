package intent

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// inOtherWords returns the best match of each intent in the text as it is with other words and in
// the spelling of the patterns. Such a match is never more than confirmed.
func (d *Detector) inOtherWords(r *reading) []found {
	best := make([]found, len(d.intents))
	dict := replacements()
	spelled := r.rewrite(d.spell)
	for i := range dict.things {
		spelled = spelled.rewrite(dict.things[i].in)
	}
	d.improve(best, r, spelled, false)
	if about := spelled.resolved(d); about != nil {
		d.improve(best, r, about, false)
		spelled = about
	}
	for i := range dict.doings {
		s := &dict.doings[i]
		if version := spelled.rewrite(s.in); version.words != spelled.words {
			d.improve(best, r, version, s.asks)
		}
	}
	return best
}

// improve puts the matches in a version of r into best where they are better. asks says that a
// question of r is what the version has other words for.
func (d *Detector) improve(best []found, r, version *reading, asks bool) {
	for i, f := range d.find(version) {
		if f.weight == 0 {
			continue
		}
		if n := version.clauseAt(f.begin); !asks && n < len(r.clauses) {
			if c := r.clauses[n]; r.asks(c, r.plain[c.begin:c.end], r.plain[c.begin:c.end], "", "") {
				f.mood = "questions" // the original is a question, even if other words hide that
			}
		}
		if f.bounded = min(f.mood.bound(f.weight), preferred); f.bounded > best[i].bounded {
			best[i] = f
		}
	}
}

// pronoun stands for a thing that was named before.
var pronoun = phrases(`it one some them those another eine einen eins welche sie ihn es`)

// resolved returns r with the thing that was named last in place of a pronoun, in clauses that name
// none themselves: "We have no FAQ page. Could you add one?" It is nil if there is none.
func (r *reading) resolved(d *Detector) *reading {
	last, changed := "", false
	out := r.rewrite(func(clause string) string {
		named := ""
		for w := range strings.FieldsSeq(clause) {
			if d.things[w] {
				named = w
			}
		}
		if at := pronoun.FindStringIndex(clause); named == "" && last != "" && at != nil {
			changed = true
			return clause[:at[0]] + " " + last + " " + clause[at[1]:]
		}
		if named != "" {
			last = named
		}
		return clause
	})
	if !changed {
		return nil
	}
	return out
}

// rewrite returns r with other clauses. What is quoted isn't part of them.
func (r *reading) rewrite(other func(clause string) string) *reading {
	out := &reading{clauses: make([]clause, len(r.clauses))}
	var b strings.Builder
	b.WriteByte(' ')
	for i, c := range r.clauses {
		out.clauses[i] = clause{begin: b.Len() - 1, sentence: c.sentence, asked: c.asked}
		b.WriteString(strings.TrimLeft(other(r.plain[c.begin:c.end]), " "))
		out.clauses[i].end = b.Len()
	}
	out.words = b.String()
	out.plain = out.words
	return out
}

// spell replaces words that are no words of the patterns by those that were probably meant: one
// letter is different, missing, too many or in the place of its neighbor; or the word is a compound
// that ends with it.
func (d *Detector) spell(clause string) string {
	fields := strings.Fields(clause)
	for i, w := range fields {
		fields[i] = d.nearest(w)
	}
	return " " + strings.Join(fields, " ") + " "
}

// The shortest words, in runes, that are corrected, and that are parts of compounds.
const (
	shortest     = 5
	shortestHead = 5
	shortestBody = 3 // what precedes the head
)

// correct are frequent words that differ by one letter from words of requests.
var correct = set(`wrote craft drift reading leading heating listen schreibt macht leiten weite saiten`)

// prefixes change the meaning of a word, and make no compound.
var prefixes = set(`super over under inter counter trans anti non mis pre ver über unter zurück`)

// nearest returns the word of the patterns that w is meant to be, or w.
func (d *Detector) nearest(w string) string {
	n := utf8.RuneCountInString(w)
	if n < shortest || d.vocabulary[w] || correct[w] || replacements().words[w] ||
		strings.HasSuffix(w, "ed") || strings.Contains(w, `"`) {
		return w
	}
	compound := ""
	for _, known := range d.known { // sorted, so that the result is always the same
		size := utf8.RuneCountInString(known)
		if size-n <= 1 && n-size <= 1 && oneOff(w, known) && (size >= shortest || doubles(w, known)) {
			return known
		}
		if size >= shortestHead && n-size >= shortestBody && size > utf8.RuneCountInString(compound) &&
			strings.HasSuffix(w, known) && !prefixes[strings.TrimSuffix(w, known)] {
			compound = known
		}
	}
	if compound != "" {
		return compound
	}
	return w
}

// doubles reports whether w is known with one of its letters twice in a row.
func doubles(w, known string) bool {
	for i := range len(w) - 1 {
		if w[i] == w[i+1] && w[:i]+w[i+1:] == known {
			return true
		}
	}
	return false
}

// oneOff reports whether a and b differ by one letter, or by two neighbors that changed places.
func oneOff(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) < len(y) {
		x, y = y, x
	}
	if len(x)-len(y) > 1 {
		return false
	}
	i := 0
	for i < len(y) && x[i] == y[i] {
		i++
	}
	switch {
	case len(x) > len(y):
		return string(x[i+1:]) == string(y[i:])
	case i == len(y):
		return false
	case string(x[i+1:]) == string(y[i+1:]):
		return true
	}
	return i+1 < len(x) && x[i] == y[i+1] && x[i+1] == y[i] && string(x[i+2:]) == string(y[i+2:])
}

// gap stands for what a pattern leaves open.
const gap = "\x00"

// learn adds the words that a pattern names to the vocabulary, and those that it names beside
// others, unless they come first, to the things.
func (d *Detector) learn(pattern string) {
	for _, text := range expandText(pattern) {
		words := strings.Fields(strings.ReplaceAll(text, gap, " "))
		for i, w := range words {
			if utf8.RuneCountInString(w) < shortest-1 {
				continue
			}
			d.vocabulary[w] = true
			if i > 0 {
				d.things[w] = true
			}
		}
	}
}

// most is how many texts a pattern, or a part of it, is expanded to.
const most = 2000

// expandText is expand of an expression in text.
func expandText(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return expand(re)
}

// expand returns the texts that an expression matches, with a gap for what isn't named.
func expand(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCapture:
		return expand(re.Sub[0])
	case syntax.OpQuest:
		return append(expand(re.Sub[0]), "")
	case syntax.OpCharClass:
		var list []string
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i+1]-re.Rune[i] > 3 {
				return []string{gap}
			}
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				list = append(list, string(c))
			}
		}
		return list
	case syntax.OpAlternate:
		var list []string
		for _, sub := range re.Sub {
			list = append(list, expand(sub)...)
		}
		return bounded(list)
	case syntax.OpConcat:
		list := []string{""}
		for _, sub := range re.Sub {
			var longer []string
			for _, end := range expand(sub) {
				for _, begin := range list {
					longer = append(longer, begin+end)
				}
			}
			list = bounded(longer)
		}
		return list
	}
	return []string{gap}
}

func bounded(list []string) []string { return list[:min(len(list), most)] }

func set(list string) map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		words[w] = true
	}
	return words
}
