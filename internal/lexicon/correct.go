package lexicon

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The shortest words, in runes, that Correct corrects, and those with more than one mistake.
const (
	shortestMisspelled = 4 // if its letters are right
	shortest           = 5
	shortestTwice      = 8
)

// spelled finds words, what is in quotation marks, and what ends a clause.
var spelled = regexp.MustCompile(`"[^"]*"|“[^”]*”|„[^“”]*[“”]|[\p{L}\p{M}]+(?:[’'][\p{L}]+)*|[.!?;,\n]`)

// Correct returns a text with the words of the lexicon in their right spelling: a word that it
// doesn't know and that is one mistake away from one that it knows, or two if it is long. Names are
// spelled as they are, as is what is in quotation marks, and what a text is about.
func (l *Lexicon) Correct(text string, names ...string) string {
	right, topic := make(map[string]bool), false
	for _, name := range names {
		for _, w := range wordsOf(name) {
			right[w] = true
		}
	}
	return spelled.ReplaceAllStringFunc(text, func(w string) string {
		first, _ := utf8.DecodeRuneInString(w)
		if !unicode.IsLetter(first) {
			topic = topic && strings.ContainsAny(w[:1], `"“„`)
			return w
		}
		lower := strings.ReplaceAll(strings.ToLower(w), "’", "'")
		if topic || right[lower] {
			return w
		}
		is := l.nearest(lower, unicode.IsUpper(first))
		topic = l.sets["topic"][is]
		if is == lower {
			return w
		}
		return is
	})
}

var anyWord = regexp.MustCompile(`[\p{L}\p{M}\p{N}]+(?:'[\p{L}]+)*`)

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	return anyWord.FindAllString(strings.ReplaceAll(strings.ToLower(text), "’", "'"), -1)
}

// nearest returns the known word that w is a misspelling of, or w.
func (l *Lexicon) nearest(w string, capital bool) string {
	n := utf8.RuneCountInString(w)
	switch {
	case l.mistakes[w] != "":
		return l.mistakes[w]
	case n < shortestMisspelled || l.known[w] || strings.Contains(w, "'") || capital && n < shortest+1:
		return w
	}
	best, least := w, 3
	for _, known := range l.targets {
		size := utf8.RuneCountInString(known)
		if size > n+2 || n > size+2 {
			continue
		}
		d := distance([]rune(w), []rune(known), 2)
		if d >= least || d == 2 && min(n, size) < shortestTwice || size < shortestMisspelled ||
			size < shortest && (size != n || !sameLetters(w, known)) || inflected(w, known) {
			continue
		}
		best, least = known, d
	}
	return best
}

// inflected reports whether w is a form of a known word, and no misspelling of it.
func inflected(w, known string) bool {
	end, longer := strings.CutPrefix(w, known)
	start, shorter := strings.CutPrefix(known, w)
	return longer && strings.Contains("s d n r e", end) || shorter && strings.Contains("s d n r", start)
}

func sameLetters(a, b string) bool { return strings.Trim(a, b) == "" && strings.Trim(b, a) == "" }

// Alike reports whether two words are the same, apart from an ending or a misspelling.
func Alike(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	most := 0
	if len(a) >= shortest {
		most = 1 + len(a)/shortestTwice
	}
	return a == b || len(a) >= shortestMisspelled && strings.HasPrefix(b, a) && len(b)-len(a) <= 3 ||
		most > 0 && distance([]rune(a), []rune(b), min(most, 2)) <= most
}

// distance returns how many letters are wrong, missing, too many, or swapped with the next one;
// most+1 if there are more than most.
func distance(a, b []rune, most int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	switch {
	case len(a) == 0 || len(b) == 0:
		return min(len(a)+len(b), most+1)
	case most == 0:
		return 1
	}
	d := min(distance(a[1:], b, most-1), distance(a, b[1:], most-1), distance(a[1:], b[1:], most-1))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		d = min(d, distance(a[2:], b[2:], most-1))
	}
	return min(1+d, most+1)
}
