package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

var (
	markdown = goldmark.New(goldmark.WithExtensions(extension.GFM))
	clean    = policy()
)

// policy returns what HTML may come out: what Markdown makes, and the images of this server.
func policy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code",
		"em", "strong", "del",
		"table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowRelativeURLs(true)
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	p.AllowAttrs("src").Matching(regexp.MustCompile(`^` + regexp.QuoteMeta(contenttools.ImagePath) + `[A-Za-z0-9-]+$`)).
		OnElements("img")
	p.AllowAttrs("alt").OnElements("img")
	return p
}

// HTML returns Markdown as HTML that is safe to insert: without code, styles, and images from
// elsewhere. Raw HTML is left out.
func HTML(text string) string {
	var out bytes.Buffer
	if err := markdown.Convert([]byte(text), &out); err != nil { // a Buffer takes all
		return ""
	}
	return clean.Sanitize(out.String())
}

// cited finds the numbers of sources in a text, and the code that they can't be in.
var cited = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|\\[(\\d{1,3})\\]")

// cite replaces the numbers of sources in a text by a form, which has a %d.
func cite(text string, sources []portfolio.Source, form string) string {
	return cited.ReplaceAllStringFunc(text, func(m string) string {
		n, err := strconv.Atoi(strings.Trim(m, "[]"))
		if err != nil || !slices.ContainsFunc(sources, func(s portfolio.Source) bool { return s.Number == n }) {
			return m
		}
		return fmt.Sprintf(form, n)
	})
}

// body returns the text of an artifact without its title, which a text may begin with.
func body(a *portfolio.Artifact) string {
	return strings.TrimPrefix(strings.TrimSpace(a.Content), "# "+a.Title+"\n")
}

// article returns the text of an artifact as HTML. Numbers of sources link to #source-N.
func article(a *portfolio.Artifact, sources []portfolio.Source) string {
	return HTML(cite(body(a), sources, "[\\[%d\\]](#source-%[1]d)"))
}

// export returns an artifact as a file of Markdown, with the sources that it cites as footnotes.
// Its pictures stay on the server, whose address at is.
func export(a *portfolio.Artifact, sources []portfolio.Source, at string) string {
	text := cite(strings.TrimSpace(body(a)), sources, "[^%d]")
	title, _ := json.Marshal(a.Title) // strings can be encoded
	tags, _ := json.Marshal(a.Tags)
	shown := strings.ReplaceAll(text, "]("+contenttools.ImagePath, "]("+at+contenttools.ImagePath)
	out := fmt.Sprintf("---\ntitle: %s\ntype: %s\ntone: %s\ntags: %s\ndate: %s\n---\n\n%s\n", title, a.Type, a.Tone,
		tags, a.UpdatedAt.Format("2006-01-02"), shown)
	for _, s := range sources {
		if strings.Contains(text, fmt.Sprintf("[^%d]", s.Number)) {
			out += fmt.Sprintf("\n[^%d]: %s\n", s.Number, strings.Join(strings.Fields(s.Name+". "+s.URL), " "))
		}
	}
	return out
}
