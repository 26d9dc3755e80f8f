package site

import (
	"fmt"
	"slices"
	"strings"
)

// This file measures how alike two names are, from 0 (nothing in common) to 1 (the same but for case, accents and
// punctuation). All of it is a pure function of its arguments.

// stopWords carry no meaning in a query such as "the team page".
var stopWords = map[string]bool{
	"a": true, "an": true, "the": true, "of": true, "on": true, "in": true, "for": true, "to": true, "with": true, "and": true, "my": true, "our": true,
	"page": true, "pages": true, "section": true, "sections": true, "collection": true, "collections": true, "entry": true, "entries": true, "called": true, "named": true,
	"der": true, "die": true, "das": true, "und": true, "seite": true,
}

// words returns the folded words of text in the singular, without stop words unless there is nothing else.
func words(text string) []string {
	all := strings.Fields(Fold(text))
	kept := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return stopWords[w] })
	if len(kept) == 0 {
		kept = all
	}
	for i, w := range kept {
		kept[i] = singular(w)
	}
	return kept
}

// singular undoes the regular English plural. It needn't be right, only the same for both sides.
func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		return w[:len(w)-1]
	}
	return w
}

// A target is a name prepared for comparisons.
type target struct {
	folded string
	words  []string
	joined string   // the words without spaces
	grams  []string // of joined
}

func newTarget(text string) target {
	w := words(text)
	joined := strings.Join(w, "")
	return target{folded: Fold(text), words: w, joined: joined, grams: trigrams(joined)}
}

// similarity compares a query with a name: the same text is 1, the same words are nearly 1, and otherwise the better of
// letters in common as a whole and words in common in any order counts.
func similarity(query, name target) float64 {
	if query.folded == "" || name.folded == "" {
		return 0
	}
	if query.folded == name.folded {
		return 1
	}
	whole := max(dice(query.grams, name.grams), closeness(query.joined, name.joined))
	// Words of the name that the query doesn't have count a little: "about" is nearer to "About" than to "About us".
	found := coverage(query.words, name.words)*0.85 + coverage(name.words, query.words)*0.15
	return 0.99 * max(whole, found)
}

// mentions compares a query with a longer text: how much of the query occurs in it. It stays below what a name gets.
func mentions(query, text target) float64 { return 0.85 * coverage(query.words, text.words) }

// coverage returns how well the words of a are found among those of b, longer words counting more.
func coverage(a, b []string) float64 {
	var sum, weight float64
	for _, w := range a {
		best := 0.0
		for _, other := range b {
			if w == other {
				best = 1
				break
			}
			c := closeness(w, other)
			if len(w) >= 3 && strings.HasPrefix(other, w) {
				c = max(c, 0.8)
			}
			best = max(best, c)
		}
		if best < 0.6 { // what is no typo is another word
			best = 0
		}
		length := float64(len([]rune(w)))
		sum += best * length
		weight += length
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// closeness is 1 minus the share of letters that have to change.
func closeness(a, b string) float64 {
	x, y := []rune(a), []rune(b)
	longest := max(len(x), len(y))
	if longest == 0 {
		return 0
	}
	return 1 - float64(distance(x, y))/float64(longest)
}

// distance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string
// alignment). Names are at most 200 letters; only the first 64 count.
func distance(a, b []rune) int {
	const most = 64
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	var rows [3][most + 1]int // the row before last, the last, this one
	for j := range len(b) + 1 {
		rows[1][j] = j
	}
	for i, x := range a {
		rows[2][0] = i + 1
		for j, y := range b {
			cost := 1
			if x == y {
				cost = 0
			}
			d := min(rows[1][j+1]+1, rows[2][j]+1, rows[1][j]+cost)
			if i > 0 && j > 0 && x == b[j-1] && a[i-1] == y {
				d = min(d, rows[0][j-1]+1)
			}
			rows[2][j+1] = d
		}
		rows[0], rows[1] = rows[1], rows[2]
	}
	return rows[1][len(b)]
}

// dice returns the share of its trigrams that two names have in common.
func dice(x, y []string) float64 {
	if len(x)+len(y) == 0 {
		return 0
	}
	shared := 0
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch c := strings.Compare(x[i], y[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			shared++
			i++
			j++
		}
	}
	return 2 * float64(shared) / float64(len(x)+len(y))
}

// trigrams returns the sorted character trigrams of s, with marks at both ends.
func trigrams(s string) []string {
	if s == "" {
		return nil
	}
	runes := []rune("  " + s + " ")
	grams := make([]string, 0, len(runes))
	for i := range len(runes) - 2 {
		grams = append(grams, string(runes[i:i+3]))
	}
	slices.Sort(grams)
	return grams
}

// didYouMean is a hint that names the nearest of the possibilities first, then up to twenty of them.
func didYouMean(got string, of []string) string {
	if len(of) == 0 {
		return ""
	}
	query := newTarget(got)
	best, nearest := 0.5, ""
	quoted := make([]string, 0, len(of))
	for _, name := range of {
		if s := similarity(query, newTarget(name)); s > best {
			best, nearest = s, name
		}
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if more := len(quoted) - 20; more > 0 {
		quoted = append(quoted[:20], fmt.Sprintf("%d more", more))
	}
	hint := "use one of " + strings.Join(quoted, ", ")
	if nearest != "" {
		hint = fmt.Sprintf("did you mean %q? ", nearest) + hint
	}
	return hint
}
