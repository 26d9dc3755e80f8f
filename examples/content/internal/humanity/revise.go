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

func rewrite(find, with string) rewriting {
	return rewriting{regexp.MustCompile(`(?i)` + find), with}
}

// rewritings are replacements that leave the sense and the grammar intact, as far as that can be
// done without a model.
var rewritings = []rewriting{
	rewrite(
		`\b(?:it is|it's) (?:important|worth|crucial|essential) (?:to note|to remember|noting|mentioning)(?: that)?,? ?`, ""),
	rewrite(`\b(?:in conclusion|in summary|to sum up|to conclude|all in all|needless to say|at the end of the day), ?`,
		""),
	rewrite(`\bin today's [\pL -]+?(?:world|landscape|age|environment|market), ?`, ""),
	rewrite(`\bin order to\b`, "to"),
	rewrite(`\bdue to the fact that\b`, "because"),
	rewrite(`\bat this point in time\b`, "now"),
	rewrite(`\bhas the ability to\b`, "can"),
	rewrite(`\bwhen it comes to\b`, "with"),
	rewrite(`\bplays an? (?:vital|crucial|pivotal|significant) role in\b`, "matters for"),
	rewrite(`\b(?:stands|serves) as a testament to\b`, "shows"),
	rewrite(`\b(?:serves|functions|acts|stands) as (a|an|the)\b`, "is $1"),
	rewrite(`\bboasts (a|an|over|more)\b`, "has $1"),
	rewrite(
		`, (?:thereby |thus )?(?:highlighting|underscoring|emphasizing|reflecting|showcasing|symbolizing|fostering|demonstrating|illustrating) [^.!?\n]+`, ""),
	rewrite(`\b(may|might|could) (?:potentially|possibly|perhaps|arguably)\b`, "$1"),
	rewrite(`\bdelve into\b`, "look at"), rewrite(`\bdelv(?:e|ing) deeper into\b`, "look closely at"),
	rewrite(`\bleverag(?:e|ing)\b`, "use"), rewrite(`\bleverages\b`, "uses"), rewrite(`\bseamlessly ?`, ""),
	rewrite(`\bseamless\b`, "smooth"),
	rewrite(`\brobust\b`, "solid"), rewrite(`\bholistic\b`, "whole"), rewrite(`\bintricate\b`, "detailed"),
	rewrite(`\bmultifaceted\b`, "mixed"),
	rewrite(`\bunlock(s?)\b`, "open$1"), rewrite(`\bharness\b`, "use"), rewrite(`\belevate\b`, "raise"),
	rewrite(`\bever-(?:evolving|changing) `, ""),
	rewrite(`\b(?:groundbreaking|cutting-edge|state-of-the-art|world-class|revolutionary|stunning|unparalleled) `,
		"new "),
	rewrite(`\bgame-changer\b`, "change"),
	rewrite(`\b(?:experts|observers|analysts|critics) (?:agree|say|argue|believe|note) that `, ""),
	rewrite(`[\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}]\x{FE0F}? ?`, ""),
	rewrite(`(?m)^(\s*(?:[-*+]|\d+[.)]) +)\*\*([^*\n]+)\*\*`, "$1$2"),
	rewrite(`(?m)^(?:i hope this helps|let me know if)[^\n]*\n?`, ""),
}

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
		if titleCase(h) == 0 {
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
