package contenttools

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// cited finds the numbers of sources in a text, and the code that they can't be in.
var cited = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|\\[(\\d{1,3})\\]")

// Cite returns the text of an artifact without its title, which it may begin with. The numbers of
// its sources are replaced by a form, which has a %d.
func Cite(a *portfolio.Artifact, sources []portfolio.Source, form string) string {
	body := strings.TrimPrefix(strings.TrimSpace(a.Content), "# "+a.Title+"\n")
	return cited.ReplaceAllStringFunc(body, func(m string) string {
		n, err := strconv.Atoi(strings.Trim(m, "[]"))
		if err != nil || !slices.ContainsFunc(sources, func(s portfolio.Source) bool { return s.Number == n }) {
			return m
		}
		return fmt.Sprintf(form, n)
	})
}

// Markdown returns an artifact as a file, with the sources that it cites as footnotes. Its pictures
// stay on the server, whose address at is.
func Markdown(a *portfolio.Artifact, sources []portfolio.Source, at string) string {
	text := strings.TrimSpace(Cite(a, sources, "[^%d]"))
	title, _ := json.Marshal(a.Title) // strings can be encoded
	tags, _ := json.Marshal(a.Tags)
	shown := strings.ReplaceAll(text, "]("+ImagePath, "]("+at+ImagePath)
	out := fmt.Sprintf("---\ntitle: %s\ntype: %s\ntone: %s\ntags: %s\ndate: %s\n---\n\n%s\n", title, a.Type, a.Tone,
		tags, a.UpdatedAt.Format("2006-01-02"), shown)
	for _, s := range sources {
		if strings.Contains(text, fmt.Sprintf("[^%d]", s.Number)) {
			out += fmt.Sprintf("\n[^%d]: %s\n", s.Number, strings.Join(strings.Fields(s.Name+". "+s.URL), " "))
		}
	}
	return out
}

// numbers finds numbers in brackets, such as [1], [^2] and [1, 3], with the space before them, and
// the code and the links that they can't be in.
var numbers = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|[ \t]*\\[\\^?\\d{1,3}(?:\\s*[,;]\\s*\\d{1,3})*\\](?:[(:])?")

var number = regexp.MustCompile(`\d+`)

// Sourced returns what a model has written without the numbers in brackets that stand for no
// source: those that it wasn't given, and that the text didn't have before.
func Sourced(text, before string, given []portfolio.Source) string {
	known := map[int]bool{}
	for _, s := range given {
		known[s.Number] = true
	}
	for _, m := range numbers.FindAllString(before, -1) {
		for _, digits := range number.FindAllString(m, -1) {
			n, _ := strconv.Atoi(digits)
			known[n] = true
		}
	}
	return numbers.ReplaceAllStringFunc(text, func(m string) string {
		if strings.HasPrefix(m, "`") || strings.HasSuffix(m, "(") || strings.HasSuffix(m, ":") {
			return m
		}
		var kept []string
		all := number.FindAllString(m, -1)
		for _, digits := range all {
			if n, _ := strconv.Atoi(digits); known[n] {
				kept = append(kept, digits)
			}
		}
		switch {
		case len(kept) == len(all):
			return m
		case len(kept) == 0:
			return ""
		}
		return m[:strings.IndexByte(m, '[')] + "[" + strings.Join(kept, "][") + "]"
	})
}
