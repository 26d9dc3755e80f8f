package humanity

import (
	"regexp"
	"strings"
)

// A Pattern is something that makes a text sound like a machine.
type Pattern struct {
	Name   string
	Advice string // what to write instead
	Count  func(text string) int
}

// A Report says how a text sounds.
type Report struct {
	// Score is from 0, a machine, to 99. It falls by 5 for each find in 100 words; a shorter text
	// counts as 100 words.
	Score int            `json:"score"`
	Words int            `json:"words"`
	Found map[string]int `json:"found"` // by the names of the patterns
}

// Checked is how many patterns there are.
var Checked = len(Patterns)

var (
	code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link = regexp.MustCompile(`\]\([^)\s]*\)`)
	word = regexp.MustCompile(`[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*`)
)

// plain returns a text without what nobody has phrased: code and addresses.
func plain(text string) string { return link.ReplaceAllString(code.ReplaceAllString(text, " "), "]") }

// Check looks for all patterns.
func Check(text string) Report {
	text = plain(text)
	r := Report{Words: len(word.FindAllString(text, -1)), Found: map[string]int{}}
	finds := 0
	for _, p := range Patterns {
		if n := p.Count(text); n > 0 {
			r.Found[p.Name] = n
			finds += n
		}
	}
	r.Score = min(max(100-500*finds/max(r.Words, 100), 0), 99)
	return r
}

// Total returns how many finds there are.
func (r Report) Total() (n int) {
	for _, v := range r.Found {
		n += v
	}
	return n
}

// phrases counts the matches of a regular expression, whatever the case.
func phrases(expr string) func(string) int {
	re := regexp.MustCompile(`(?i)` + expr)
	return func(text string) int { return len(re.FindAllStringIndex(text, -1)) }
}

// more counts what is more than allowed for each 100 words, if there are at least two.
func more(expr string, allowed int) func(string) int {
	re := regexp.MustCompile(expr)
	return func(text string) int {
		n := len(re.FindAllStringIndex(text, -1))
		words := len(word.FindAllString(text, -1))
		if n < 2 {
			return 0
		}
		return max(n-max(allowed*words/100, 1), 0)
	}
}

// beyond counts matches after the first ones.
func beyond(expr string, first int) func(string) int {
	count := phrases(expr)
	return func(text string) int { return max(count(text)-first, 0) }
}

// paragraphs returns the parts of a text between empty lines.
func paragraphs(text string) []string { return strings.Split(text, "\n\n") }
