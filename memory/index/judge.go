package index

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// relevance is how well an item matches a query, before freshness and trust.
type relevance struct {
	score float64
	exact bool
	all   bool // each word of the query matches a word of the item
}

// The weights of words by field.
const (
	nameWorth  = 1.0
	aliasWorth = .97
	textWorth  = .9
	kindWorth  = .85
	stopWorth  = .12 // weight of a stop word
	wordFloor  = .55 // words with a lower similarity count as different
	echo       = .25 // share of the lower of the two scores that is added
	coverShare = .15 // share of a score by words that depends on how much of the name the query covers
)

// judge scores the matches of an index in two ways, by the query's words and by similarity: the
// higher score counts, and the lower one adds a little. A word that occurs in most matches counts
// less than one that occurs in few.
func (f *Finder) judge(whole string, asked []string, matches []Match) []relevance {
	grid := make([][]float64, len(matches)) // by match, then by word of the query
	cover := make([]float64, len(matches))
	held := make([]float64, len(asked))
	for m := range matches {
		grid[m], cover[m] = compare(asked, &matches[m].Item, nil)
		for w, s := range grid[m] {
			held[w] += s
		}
	}
	weights, sum := make([]float64, len(asked)), 0.0
	for w, word := range asked {
		weights[w] = .35 + math.Log1p(float64(len(matches))/(1+held[w]))/math.Log1p(float64(len(matches)))
		if stopWords[word] {
			weights[w] *= stopWorth
		}
		sum += weights[w]
	}
	out := make([]relevance, len(matches))
	for m := range matches {
		item := &matches[m].Item
		if score, _ := verbatim(whole, item); score > 0 {
			out[m] = relevance{score, true, true}
			continue
		}
		byWords := 0.0
		out[m].all = true
		for w, s := range grid[m] {
			byWords += weights[w] * s / sum
			out[m].all = out[m].all && (s > 0 || stopWords[asked[w]])
		}
		byWords *= 1 - coverShare + coverShare*cover[m]
		near := share((matches[m].Similarity - f.cfg.Low) / (f.cfg.High - f.cfg.Low))
		high, low := max(byWords, near), min(byWords, near)
		out[m].score = min(high+(1-high)*echo*low, .97)
	}
	return out
}

// verbatim returns the score and the field of an item whose name, id or alias is the whole query,
// else 0.
func verbatim(whole string, item *Item) (score float64, field string) {
	switch whole {
	case key(item.Name):
		return 1, inName
	case key(item.ID):
		return .99, "id"
	}
	if slices.ContainsFunc(item.Aliases, func(a string) bool { return key(a) == whole }) {
		return .98, inAlias
	}
	return 0, ""
}

// The fields of an item in which a word may occur.
const (
	inName  = "name"
	inAlias = "alias"
	inText  = "text"
	inKind  = "kind"
)

// evidence is the word of an item that matches a word of the query best, and its field.
type evidence struct{ word, field string }

// compare returns how well each word of a query matches an item, and how much of the item's name
// the query covers. If seen isn't nil, compare stores the matching words in it.
func compare(asked []string, item *Item, seen []evidence) (met []float64, cover float64) {
	met = make([]float64, len(asked))
	fields := []struct {
		text  string
		worth float64
		name  string
	}{{item.Name, nameWorth, inName}, {strings.Join(item.Aliases, "\n"), aliasWorth, inAlias},
		{item.Text, textWorth, inText}, {item.Kind, kindWorth, inKind}}
	meet := func(w int, score float64, held, field string) {
		if score > met[w] {
			if met[w] = score; seen != nil {
				seen[w] = evidence{held, field}
			}
		}
	}
	for _, field := range fields {
		held := words(field.text, maxWords)
		for at, h := range held {
			for w, a := range asked {
				meet(w, alike(a, h)*field.worth, h, field.name)
				if at+1 < len(held) && len(a) > len(h) && compound(a, h, held[at+1]) > .8 {
					// "homepage" for "home page"
					meet(w, .97*field.worth, h, field.name)
				}
			}
		}
	}
	name := words(item.Name, 32)
	total := 0.0
	for _, h := range name {
		best, weight := 0.0, 1.0
		if stopWords[h] {
			weight = stopWorth
		}
		for w, a := range asked {
			best = max(best, alike(a, h))
			if w+1 < len(asked) && len(h) > len(a) { // "home page" for "homepage"
				if both := compound(h, a, asked[w+1]); both > .8 {
					best = max(best, .97*both)
					meet(w, .97*both, h, inName)
					meet(w+1, .97*both, h, inName)
				}
			}
		}
		cover += weight * best
		total += weight
	}
	if total > 0 {
		cover /= total
	}
	return met, cover
}

// meansAnother reports whether a word of the query that an item has only with another spelling is
// in another match as it is: then it may be no mistake in spelling.
func meansAnother(asked []string, item *Item, matches []Match) bool {
	seen := make([]evidence, len(asked))
	compare(asked, item, seen)
	for w, a := range asked {
		have := seen[w].word
		if have == "" || stem(have) == stem(a) || strings.Contains(have, a) || strings.Contains(a, have) {
			continue
		}
		if slices.ContainsFunc(matches, func(m Match) bool { return has(&m.Item, a) }) {
			return true
		}
	}
	return false
}

// has reports whether a word, or its plural or singular, is in an item.
func has(item *Item, word string) bool {
	text := strings.Join(append([]string{item.Name, item.Text, item.Kind}, item.Aliases...), "\n")
	return slices.ContainsFunc(words(text, 4*maxWords), func(h string) bool { return stem(h) == stem(word) })
}

// alike returns the similarity of two folded words, from 0 to 1: equal, equal except for a plural,
// a prefix, a part of a compound, or a few edits apart. Numbers are similar only if they are equal.
func alike(a, b string) float64 {
	if a == b {
		return 1
	}
	if len(a) > 64 || len(b) > 64 || hasDigit(a) || hasDigit(b) {
		return 0
	}
	sa, sb := stem(a), stem(b)
	if sa == sb {
		return .98
	}
	short, long := sa, sb
	if len(short) > len(long) {
		short, long = long, short
	}
	part := float64(len(short)) / float64(len(long))
	score := 0.0
	switch {
	case len(short) >= 3 && strings.HasPrefix(long, short):
		score = .6 + .35*part
	case len(short) >= 4 && strings.Contains(long, short):
		score = .55 + .35*part
	}
	if len(short) >= 3 && part > .5 {
		ra, rb := []rune(strings.TrimSuffix(a, "s")), []rune(strings.TrimSuffix(b, "s"))
		n := max(len(ra), len(rb))
		allowed := 1
		if n >= 6 {
			allowed = 2
		}
		if n >= 10 {
			allowed = 3
		}
		if d := edits(ra, rb); d <= allowed {
			typo := 1 - 1.15*float64(d)/float64(n)
			if ra[0] != rb[0] {
				typo -= .06 // the first letter is seldom wrong
			}
			score = max(score, typo)
		}
	}
	if score < wordFloor {
		return 0
	}
	return min(score, .95)
}

// compound returns the similarity of a word to two others written as one.
func compound(word, first, second string) float64 {
	if extra := len(first) + len(second) - len(word); len(word) <= 5 || extra < -2 || extra > 2 {
		return 0
	}
	return alike(word, first+second)
}

func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

// edits returns the number of letters inserted, deleted, replaced or swapped with their neighbor
// between two words (optimal string alignment, a restricted Damerau-Levenshtein distance).
func edits(a, b []rune) int {
	var rows [3][66]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
