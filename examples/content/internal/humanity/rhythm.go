package humanity

import (
	"regexp"
	"slices"
	"strings"
)

var (
	stop     = regexp.MustCompile(`[.!?]+(?:\s+|$)`)
	itemLine = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)]|#{1,6}) `)
)

// prose calls f with the sentences of each line of a text, in lower case. Lines of lists and
// headings are left out.
func prose(text string, f func(sentences [][]string)) {
	for line := range strings.Lines(text) {
		if itemLine.MatchString(line) {
			continue
		}
		var all [][]string
		for _, s := range stop.Split(strings.ToLower(line), -1) {
			if words := word.FindAllString(s, -1); len(words) > 0 {
				if strings.Contains(s, "…") {
					words = nil // it has a quote in it
				}
				all = append(all, words)
			}
		}
		f(all)
	}
}

// fragment is how many words a sentence may have to count as one of a staccato.
const fragment = 4

// staccato finds runs of three and more short sentences.
func staccato(text string) (found []string) {
	prose(text, func(all [][]string) {
		run := 0
		for i, s := range all {
			if len(s) == 0 || len(s) > fragment {
				run = 0
				continue
			}
			if run++; run == 3 {
				found = append(found, strings.Join(slices.Concat(all[i-2:i+1]...), " "))
			}
		}
	})
	return found
}

// repetition finds runs of three and more sentences that begin with the same two words, sentences
// that occur again, and, once, phrases of five words that occur three times.
func repetition(text string) (found []string) {
	seen, phrases, often := map[string]bool{}, map[string]int{}, ""
	prose(text, func(all [][]string) {
		run, last := 0, ""
		for _, s := range all {
			begin := strings.Join(s[:min(2, len(s))], " ")
			if begin != last || len(s) < 2 {
				run, last = 0, begin
			}
			if run++; run == 3 {
				found = append(found, begin+" …")
			}
			for i := 0; i+5 <= len(s); i++ {
				p := strings.Join(s[i:i+5], " ")
				if phrases[p]++; phrases[p] == 3 {
					often = p
				}
			}
			if whole := strings.Join(s, " "); len(s) >= 5 {
				if seen[whole] {
					found = append(found, whole)
				}
				seen[whole] = true
			}
		}
	})
	if often != "" {
		found = append(found, often)
	}
	return found
}
