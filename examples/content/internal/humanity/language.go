package humanity

import (
	"strings"
	"unicode"
)

const english = "English"

// languages has the languages of each frequent word.
var languages = func() map[string][]string {
	all := map[string][]string{}
	for line := range lines("languages") {
		name, words, _ := strings.Cut(line, ": ")
		for w := range strings.FieldsSeq(words) {
			all[w] = append(all[w], name)
		}
	}
	return all
}()

// language returns the language of a text's words. A text that is too short to tell is English.
func language(all []string) string {
	n, foreign := map[string]int{}, 0
	for _, w := range all {
		for _, name := range languages[strings.ToLower(w)] {
			n[name]++
		}
		if r := []rune(w)[0]; r > unicode.MaxLatin1 && !unicode.Is(unicode.Latin, r) {
			foreign++
		}
	}
	best := english
	for name, count := range n {
		if count > n[best] && count > 1 {
			best = name
		}
	}
	if 2*foreign > len(all) || best == english && len(all) >= 30 && 20*n[english] < len(all) {
		return "another language"
	}
	return best
}
