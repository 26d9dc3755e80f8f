package erase

import (
	"cmp"
	"slices"
	"strings"
)

// Found returns a Walk that changes nothing and adds the words that match finds in texts to words,
// and the members whose names have some to members: see [Sorted].
func Found(match func(text string) []string, words, members *[]string) *Walk {
	in := func(text string) (found []string) {
		for _, word := range match(text) {
			if word != "" && strings.Contains(text, word) {
				found = append(found, word)
			}
		}
		return found
	}
	return &Walk{
		Text: func(text string) string { *words = append(*words, in(text)...); return text },
		Name: func(member, name string) {
			if len(in(name)) > 0 {
				*members = append(*members, member)
			}
		},
	}
}

// Replaced returns a Walk that replaces words, the longest first.
func Replaced(words []string, with string) *Walk {
	words = Sorted(words)
	slices.SortStableFunc(words, func(x, y string) int { return cmp.Compare(len(y), len(x)) })
	var pairs []string
	for _, word := range words {
		pairs = append(pairs, word, with)
	}
	r := strings.NewReplacer(pairs...)
	return &Walk{Text: r.Replace}
}

// Sorted returns a copy in which each element is once.
func Sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
