package page

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var (
	markdown = goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList,
			extension.NewLinkify(extension.WithLinkifyURLRegexp(address))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(asText{}, 100))),
	)
	clean = policy()
)

// address is an address in a text. The usual expression leaves out hosts without a dot, such as
// localhost, those in digits, and paths in other letters than Latin ones.
var address = regexp.MustCompile(
	`^https?://(?:[a-zA-Z0-9]|\[[0-9a-fA-F:]{2,45}\])[-a-zA-Z0-9@:%._+~]{0,255}(?:[/#?][^\s<>"` + "`" + `]*)?`)

// policy returns what HTML may come out: what Markdown makes, and nothing that loads or runs
// anything.
func policy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "ul", "li", "blockquote", "pre", "code", "em",
		"strong", "del",
		"table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(regexp.MustCompile(`^[0-9]{1,9}$`)).OnElements("ol")
	p.AllowElements("ol")
	p.AllowAttrs("align").Matching(regexp.MustCompile(`^(left|center|right)$`)).OnElements("th", "td")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[A-Za-z0-9+#_.-]{1,30}$`)).OnElements("code")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true) // with rel="noopener"
	return p
}

// render returns Markdown as HTML that is safe to insert.
func render(source string) string {
	src := []byte(endLists(source))
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, src, markdown.Parser().Parse(text.NewReader(src))); err != nil {
		// a Buffer takes all
		return "<p>" + string(util.EscapeHTML(src)) + "</p>"
	}
	return clean.Sanitize(out.String())
}

var listItem = regexp.MustCompile(`^\s*(?:[-*+]|[0-9]{1,9}[.)])\s`)

// endLists ends each list before a line that isn't indented and isn't an item. Markdown adds such a
// line to the last item, but models write it as a new paragraph.
func endLists(source string) string {
	var out strings.Builder
	list, fenced := false, false
	for line := range strings.Lines(source) {
		start := strings.TrimLeft(line, " \t")
		switch {
		case strings.HasPrefix(start, "```"), strings.HasPrefix(start, "~~~"):
			fenced, list = !fenced, false
		case fenced:
		case listItem.MatchString(line):
			list = true
		case start == "" || start[0] == '\n':
			list = false
		case list && len(start) == len(line):
			out.WriteByte('\n')
			list = false
		}
		out.WriteString(line)
	}
	return out.String()
}

// pieces splits Markdown where a block begins after an empty line, so that each piece can be
// rendered alone.
func pieces(source string) (out []string) {
	src := []byte(source)
	begin := 0
	for n := markdown.Parser().Parse(text.NewReader(src)).FirstChild(); n != nil; n = n.NextSibling() {
		at := n.Pos()
		if at <= begin || at > len(src) {
			continue
		}
		at = bytes.LastIndexByte(src[:at], '\n') + 1 // a block may be indented
		if at <= begin || !afterEmptyLine(src[:at]) {
			continue
		}
		out = append(out, source[begin:at])
		begin = at
	}
	if begin < len(source) {
		out = append(out, source[begin:])
	}
	return out
}

// afterEmptyLine reports whether the last line before the end is empty.
func afterEmptyLine(before []byte) bool {
	line := before[:max(len(before)-1, 0)]
	return len(bytes.TrimSpace(line[bytes.LastIndexByte(line, '\n')+1:])) == 0
}

// asText renders what the page shows otherwise than usual: raw HTML as text, images as links, tasks
// as signs, and headings one level lower, because the page has headings of its own.
type asText struct{}

// RegisterFuncs sets the functions for these nodes.
func (asText) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock,
		func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			block := n.(*ast.HTMLBlock)
			if !entering {
				if block.HasClosure() {
					escape(w, block.ClosureLine.Value(source))
				}
				_, _ = w.WriteString("</code></pre>\n")
				return ast.WalkContinue, nil
			}
			_, _ = w.WriteString(`<pre><code class="language-html">`)
			escape(w, block.Lines().Value(source))
			return ast.WalkContinue, nil
		})
	r.Register(ast.KindRawHTML,
		func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering {
				_, _ = w.WriteString("<code>")
				escape(w, n.(*ast.RawHTML).Segments.Value(source))
				_, _ = w.WriteString("</code>")
			}
			return ast.WalkSkipChildren, nil
		})
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			_, _ = w.WriteString("</a>")
			return ast.WalkContinue, nil
		}
		_, _ = w.WriteString(`<a href="`)
		escape(w, util.URLEscape(n.(*ast.Image).Destination, true))
		_, _ = w.WriteString(`">`)
		if !n.HasChildren() {
			_, _ = w.WriteString("image")
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindHeading, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		tag := "h" + strconv.Itoa(min(n.(*ast.Heading).Level+1, 6)) + ">"
		if entering {
			_, _ = w.WriteString("<" + tag)
		} else {
			_, _ = w.WriteString("</" + tag + "\n")
		}
		return ast.WalkContinue, nil
	})
	r.Register(east.KindTaskCheckBox,
		func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering && n.(*east.TaskCheckBox).IsChecked {
				_, _ = w.WriteString("☑ ")
			} else if entering {
				_, _ = w.WriteString("☐ ")
			}
			return ast.WalkContinue, nil
		})
}

func escape(w util.BufWriter, b []byte) { _, _ = w.Write(util.EscapeHTML(b)) }
