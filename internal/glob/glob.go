package glob

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match reports whether name matches pattern, element by element: *, ? and [a-z] within an element
// as in [path.Match], and ** for any number of elements. "." has no elements. It takes at most
// len(pattern) × len(name) steps.
func Match(pattern, name string) bool {
	ns := elements(name)
	match := make([]bool, len(ns)+1) // match[j]: the elements of the pattern up to here match ns[:j]
	match[0] = true
	for _, p := range elements(pattern) {
		if p == "**" {
			for j := 1; j <= len(ns); j++ {
				match[j] = match[j] || match[j-1]
			}
			continue
		}
		for j := len(ns); j > 0; j-- {
			if match[j] = false; match[j-1] {
				match[j], _ = path.Match(p, ns[j-1])
			}
		}
		match[0] = false
	}
	return match[len(ns)]
}

func elements(name string) []string {
	if name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

// Fold returns an element of a name as file systems treat it that ignore case, invisible
// characters, dots at the end or everything after a colon: ".GIT", ".g\u200cit", ".git." and
// ".git::$INDEX_ALLOCATION" all become ".git".
func Fold(element string) string {
	if i := strings.IndexByte(element, ':'); i > 0 {
		element = element[:i]
	}
	return FoldWord(element)
}

// FoldWord is Fold for what isn't a name, where a colon has no meaning.
func FoldWord(word string) string {
	plain := true
	for i := range len(word) {
		c := word[i]
		plain = plain && c < utf8.RuneSelf && !('A' <= c && c <= 'Z')
	}
	if !plain {
		word = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
				return -1
			}
			// both, because some file systems treat ſ as s, and the Kelvin sign as k
			return unicode.ToLower(unicode.ToUpper(r))
		}, word)
	}
	if short := strings.TrimRight(word, ". "); short != "" {
		return short
	}
	return word
}
