package erase

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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

// Replaced returns a Walk that replaces words, the longest first. match is the function that found
// them: within a longer word ("Ann" in "planned") one is only replaced if match finds it there,
// too. Without a match it is replaced everywhere.
func Replaced(words []string, with string, match func(text string) []string) *Walk {
	words = Sorted(words)
	slices.SortStableFunc(words, func(x, y string) int { return cmp.Compare(len(y), len(x)) })
	if match == nil {
		var pairs []string
		for _, word := range words {
			pairs = append(pairs, word, with)
		}
		return &Walk{Text: strings.NewReplacer(pairs...).Replace}
	}
	return &Walk{Text: func(text string) string {
		for _, word := range words {
			text = replaceWhole(text, word, with)
		}
		for _, word := range match(text) {
			if slices.Contains(words, word) {
				text = strings.ReplaceAll(text, word, with)
			}
		}
		return text
	}}
}

// replaceWhole replaces a word where it isn't within a longer one.
func replaceWhole(text, word, with string) string {
	var out strings.Builder
	rest := text
	for at := strings.Index(rest, word); at >= 0; at = strings.Index(rest, word) {
		end := at + len(word)
		put := with
		if joined(text[:len(text)-len(rest)+at], word) || joined(word, rest[end:]) {
			put = word
		}
		out.WriteString(rest[:at])
		out.WriteString(put)
		rest = rest[end:]
	}
	if out.Len() == 0 {
		return text
	}
	out.WriteString(rest)
	return out.String()
}

// joined reports whether the last character of a text and the first one of the next are in one
// word.
func joined(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	return inWord(last) && inWord(first)
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// Sorted returns a copy in which each element is once.
func Sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
