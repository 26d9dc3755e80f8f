package server

import (
	"bytes"
	"regexp"

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

// article returns the text of an artifact as HTML. Numbers of sources link to #source-N.
func article(a *portfolio.Artifact, sources []portfolio.Source) string {
	return HTML(contenttools.Cite(a, sources, "[\\[%d\\]](#source-%[1]d)"))
}
