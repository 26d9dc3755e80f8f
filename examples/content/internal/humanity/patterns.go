package humanity

import (
	"embed"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

//go:embed data
var data embed.FS

// lines yields the lines of a file of data without its comments.
func lines(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		text, _ := data.ReadFile("data/" + name + ".txt") // it is embedded
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "#") && !yield(strings.TrimRight(line, "\n")) {
				return
			}
		}
	}
}

// Patterns are all patterns, in the order of the catalog, which is data/patterns.txt.
var Patterns = readPatterns()

// finders are the patterns that functions find.
var finders = map[string]func(text string) []string{"elegant variation": variation, "title case heading": titleCase,
	"staccato": staccato, "repetition": repetition, "excessive hedging": hedging}

func readPatterns() (all []Pattern) {
	phrases := map[string][]string{}
	every, free := map[string]int{}, map[string]int{}
	for line := range lines("patterns") {
		if phrase, ok := strings.CutPrefix(line, "\t"); ok {
			name := all[len(all)-1].Name
			phrases[name] = append(phrases[name], phrase)
			continue
		}
		line, allowed, _ := strings.Cut(line, " | ")
		name, advice, _ := strings.Cut(line, ": ")
		var e, f int
		_, _ = fmt.Sscan(allowed, &e, &f) // it may be empty
		every[name], free[name] = e, f
		all = append(all, Pattern{name, advice, finders[name]})
	}
	for i, p := range all {
		if p.Find == nil {
			all[i].Find = matches(phrases[p.Name], every[p.Name], free[p.Name])
		}
	}
	return all
}

// matches finds the matches of expressions, whatever the case. One for each so many words doesn't
// count if every isn't 0, nor do the first free ones.
func matches(expressions []string, every, free int) func(text string) []string {
	re := regexp.MustCompile("(?i)" + strings.Join(expressions, "|"))
	return func(text string) []string {
		all := re.FindAllString(text, -1)
		if every > 0 {
			all = all[min(max(len(word.FindAllString(text, -1))/every, free), len(all)):]
		}
		return all
	}
}

// variation finds the paragraphs with at least three words for one thing, as these words.
func variation(text string) (found []string) {
	for p := range strings.SplitSeq(strings.ToLower(text), "\n\n") {
		words := word.FindAllString(p, -1)
		for set := range lines("synonyms") {
			used := slices.DeleteFunc(strings.Fields(set), func(w string) bool { return !slices.Contains(words, w) })
			if len(used) >= 3 {
				found = append(found, strings.Join(used, ", "))
			}
		}
	}
	return found
}

var heading = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)

// titleCase finds headings of at least three words of which all long ones begin with capitals. The
// title of the text is left out.
func titleCase(text string) (found []string) {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		words := word.FindAllString(m[1], -1)
		if len(words) < 3 || strings.HasPrefix(m[0], "# ") {
			continue
		}
		long, upper := 0, 0
		for _, w := range words[1:] {
			if len(w) > 3 {
				long++
				if unicode.IsUpper([]rune(w)[0]) {
					upper++
				}
			}
		}
		if long > 0 && upper == long {
			found = append(found, m[1])
		}
	}
	return found
}

var (
	sentence = regexp.MustCompile(`[^.!?\n]+`)
	hedge    = regexp.MustCompile(
		`(?i)\b(?:may|might|could|perhaps|possibly|potentially|somewhat|arguably|seemingly|generally|likely)\b`)
)

// hedging finds sentences with three hedges, and two in a row.
func hedging(text string) (found []string) {
	for _, s := range sentence.FindAllString(text, -1) {
		at := hedge.FindAllStringIndex(s, -1)
		if len(at) >= 3 || len(at) == 2 && strings.TrimSpace(s[at[0][1]:at[1][0]]) == "" {
			found = append(found, s)
		}
	}
	return found
}
