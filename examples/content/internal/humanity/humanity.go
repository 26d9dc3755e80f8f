package humanity

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Pattern is something that makes a text sound like a machine.
type Pattern struct {
	Name   string
	Advice string                     // what to write instead
	Find   func(text string) []string // what it finds
}

// A Report says which patterns a text has. It says nothing about who wrote it.
type Report struct {
	// Summary is for people, such as "3 of 24 patterns found".
	Summary string `json:"summary"`
	// NotMeasured says why the patterns weren't looked for; empty: they were.
	NotMeasured string `json:"notMeasured,omitempty"`
	// Score is from 0 to 99. It falls by 5 for each find in 100 words; a shorter text counts as 100
	// words. It compares versions of one text.
	Score int            `json:"score"`
	Words int            `json:"words"`
	Found map[string]int `json:"found"` // how often, by the names of the patterns
	// Where has up to three finds of each pattern, of at most 60 characters.
	Where map[string][]string `json:"where,omitempty"`
}

// Checked is how many patterns there are.
var Checked = len(Patterns)

var (
	code   = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	link   = regexp.MustCompile(`\]\([^)\s]*\)`)
	quoted = regexp.MustCompile(`(?m)^>[^\n]*|"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»`)
	word   = regexp.MustCompile(`[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*`)
)

// plain returns a text without what its author hasn't phrased: code, addresses and quotes. Straight
// apostrophes stand for all.
func plain(text string) string {
	text = link.ReplaceAllString(code.ReplaceAllString(text, " "), "]")
	return strings.ReplaceAll(quoted.ReplaceAllString(text, "…"), "’", "'")
}

// checked has the reports of texts that were checked lately, at most 32.
var checked = struct {
	sync.Mutex
	reports map[string]Report
}{reports: map[string]Report{}}

// Check looks for all patterns. They are those of English: another language isn't measured. The
// report is shared, and must not be changed. It is safe for concurrent use.
func Check(text string) Report {
	checked.Lock()
	r, ok := checked.reports[text]
	checked.Unlock()
	if ok {
		return r
	}
	r = check(text)
	checked.Lock()
	defer checked.Unlock()
	if len(checked.reports) == 32 {
		clear(checked.reports)
	}
	checked.reports[text] = r
	return r
}

func check(text string) Report {
	text = plain(text)
	all := word.FindAllString(text, -1)
	r := Report{Words: len(all), Found: map[string]int{}, Where: map[string][]string{}, Score: 99}
	if len(all) == 0 {
		r.NotMeasured = "there is no text"
	} else if name := language(all); name != english {
		r.NotMeasured = "only English is, and this is " + name
	}
	if r.NotMeasured != "" {
		r.Summary = "Not measured: " + r.NotMeasured
		return r
	}
	finds := 0
	for _, p := range Patterns {
		found := p.Find(text)
		if finds += len(found); len(found) > 0 {
			r.Found[p.Name] = len(found)
		}
		for _, f := range found[:min(len(found), 3)] {
			f = strings.TrimSpace(f)
			r.Where[p.Name] = append(r.Where[p.Name], string([]rune(f)[:min(utf8.RuneCountInString(f), 60)]))
		}
	}
	r.Score = min(max(100-500*finds/max(r.Words, 100), 0), 99)
	r.Summary = fmt.Sprintf("%d of %d patterns found", len(r.Found), Checked)
	return r
}

// Total returns how many finds there are.
func (r Report) Total() (n int) {
	for _, v := range r.Found {
		n += v
	}
	return n
}
