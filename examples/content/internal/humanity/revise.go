package humanity

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A rewriting replaces what a pattern finds.
type rewriting struct {
	find *regexp.Regexp
	with string
}

// rewritings are those of data/rewritings.txt.
var rewritings = func() (all []rewriting) {
	for line := range lines("rewritings") {
		with, find, _ := strings.Cut(line, "← ")
		all = append(all, rewriting{regexp.MustCompile("(?i)" + find), strings.TrimSpace(with)})
	}
	return all
}()

var (
	start = regexp.MustCompile(`(?m)(^|[.!?] )(\p{Ll})`)
	dash  = regexp.MustCompile(`\s*—\s*`)
	bold  = regexp.MustCompile(`\*\*([^*\n]+)\*\*`)
)

// Revise rewrites what can be rewritten without a model: it replaces words and punctuation, and
// leaves out empty phrases. Placeholders of images, links, code, quotes, other languages and what
// it doesn't know stay.
func Revise(text string) string {
	r := Check(text)
	if r.NotMeasured != "" {
		return text
	}
	dashes := r.Found["em dash overuse"] > 0
	var b strings.Builder
	last := 0
	for _, at := range keep.FindAllStringIndex(text, -1) {
		b.WriteString(revise(text[last:at[0]], dashes))
		b.WriteString(text[at[0]:at[1]])
		last = at[1]
	}
	b.WriteString(revise(text[last:], dashes))
	return b.String()
}

// keep finds what must stay as it is.
var keep = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|!?\\[[^\\]\n]*\\](?:\\([^)\\s]*\\))?|" + quoted.String())

func revise(text string, dashes bool) string {
	if dashes {
		text = dash.ReplaceAllString(text, ", ")
	}
	for _, r := range rewritings {
		changed := r.find.ReplaceAllString(text, r.with)
		if changed != text {
			text = start.ReplaceAllStringFunc(changed, upperLast)
		}
	}
	if strings.Count(text, "**") > 4 {
		text = bold.ReplaceAllString(text, "$1")
	}
	return heading.ReplaceAllStringFunc(text, func(h string) string {
		if len(titleCase(h)) == 0 {
			return h
		}
		words := strings.Fields(h)
		for i := 2; i < len(words); i++ {
			if w := []rune(words[i]); len(w) > 1 && !unicode.IsUpper(w[1]) {
				words[i] = strings.ToLower(words[i])
			}
		}
		return strings.Join(words, " ")
	})
}

// upperLast makes the last letter of s a capital.
func upperLast(s string) string {
	r, n := utf8.DecodeLastRuneInString(s)
	return s[:len(s)-n] + string(unicode.ToUpper(r))
}
