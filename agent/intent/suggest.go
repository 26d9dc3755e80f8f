package intent

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// mostSuggested is how many intents Suggest returns at most.
const mostSuggested = 3

// Suggest returns the names of the intents that a text is nearest to, at most 3 and the nearest
// first, as choices for a person whose request isn't understood. Near are those whose patterns,
// description or name share words with the text; a word counts the more, the fewer intents have it.
// There are none if no word is shared.
func (d *Detector) Suggest(text string) []string {
	dict := replacements()
	r := read(text).rewrite(d.spell)
	for i := range dict.things {
		r = r.rewrite(dict.things[i].in)
	}
	score := make([]float64, len(d.intents))
	seen := make(map[string]bool)
	for w := range strings.FieldsSeq(r.words) {
		if seen[w] {
			continue
		}
		seen[w] = true
		owners := d.owners[w]
		for _, i := range owners {
			score[i] += 1 / float64(len(owners))
		}
	}
	order := make([]int, 0, len(score))
	for i := range score {
		if score[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return 0
	})
	var names []string
	for _, i := range order[:min(len(order), mostSuggested)] {
		names = append(names, d.intents[i].Name)
	}
	return names
}

// own makes an intent the owner of the words of a text.
func (d *Detector) own(i int, text string) {
	for w := range strings.FieldsSeq(read(strings.ReplaceAll(text, "_", " ")).words) {
		if utf8.RuneCountInString(w) >= shortest-1 && !common[w] && !slices.Contains(d.owners[w], i) {
			d.owners[w] = append(d.owners[w], i)
		}
	}
}

// common are words that say nothing about an intent.
var common = set(`this that them with from what which have some more less make your says does into
	about give tell show need just then there where these those start next know eine einen einer diese
	dieser dieses alle mach mache noch oder wird haben sind meine sage`)

func set(list string) map[string]bool {
	words := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		words[w] = true
	}
	return words
}
