package web

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/pawlkit/pawl/internal/visible"
)

// Limits that keep a small page from becoming a huge text.
const (
	mostNested   = 8       // lists and quotes within each other: each indents all lines within it
	mostCells    = 50_000  // of all tables, rows × columns
	mostLinks    = 1 << 20 // bytes of all links, which become longer because they become absolute
	longestTitle = 300
)

var errHTML = errors.New("its HTML can't be converted: it is nested too deeply, or broken")

var newConverter = sync.OnceValue(func() *converter.Converter {
	return converter.NewConverter(
		// Text isn't escaped: it is for a model, and finding out what must be escaped takes
		// quadratic time.
		converter.WithEscapeMode(converter.EscapeModeDisabled),
		converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
			table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))),
	)
})

// markdown converts HTML. Relative links become absolute. What HTML hides, scripts, the fields of
// forms and data URLs are left out.
func markdown(u *url.URL, text string) (title, out string, err error) {
	defer func() {
		if recover() != nil { // of the library: what it can't convert is no reason to end a host's process
			title, out, err = "", "", errHTML
		}
	}()
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return "", "", errHTML
	}
	p := &preparation{base: u}
	p.prepare(doc, 0)
	raw, err := newConverter().ConvertNode(doc)
	if err != nil {
		return "", "", errHTML
	}
	return line(p.title, longestTitle), strings.TrimSpace(visible.Text(string(raw))), nil
}

// A preparation changes a document before it is converted.
type preparation struct {
	base    *url.URL
	hasBase bool
	title   string
	cells   int // of the tables so far
	links   int // bytes of the links so far
}

// dropped are elements that show nothing to a reader, or nothing that is text.
var dropped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Iframe: true, atom.Object: true,
	atom.Embed:  true,
	atom.Applet: true, atom.Svg: true, atom.Math: true, atom.Canvas: true, atom.Audio: true, atom.Video: true,
	atom.Input:    true,
	atom.Textarea: true, atom.Select: true, atom.Datalist: true, atom.Dialog: true, atom.Frameset: true,
	atom.Noframes: true,
}

// prepare removes what isn't shown from a node and all below it. nested is the number of lists and
// quotes around it. The parser limits the depth to 512.
func (p *preparation) prepare(n *html.Node, nested int) {
	if n.Type == html.ElementNode {
		p.element(n)
		switch n.DataAtom {
		case atom.Ul, atom.Ol, atom.Blockquote, atom.Dl:
			if nested++; nested > mostNested {
				rename(n, atom.Div)
			}
		case atom.Li, atom.Dd, atom.Dt:
			if nested > mostNested {
				rename(n, atom.Div)
			}
		case atom.Table:
			if own := cells(n); p.cells+own > mostCells {
				flatten(n)
			} else {
				p.cells += own
			}
		}
	}
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if c.Type == html.CommentNode || c.Type == html.ElementNode && (dropped[c.DataAtom] || hidden(c)) {
			n.RemoveChild(c)
		} else {
			p.prepare(c, nested)
		}
		c = next
	}
}

// element changes the attributes of an element, and takes the title and the base.
func (p *preparation) element(n *html.Node) {
	switch n.DataAtom {
	case atom.Title:
		if p.title == "" && n.FirstChild != nil {
			p.title = n.FirstChild.Data
		}
	case atom.Base:
		if ref, err := p.base.Parse(attr(n, "href")); err == nil && !p.hasBase && web(ref) {
			p.base, p.hasBase = ref, true
		}
	}
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool {
		// A cell that spans a million columns would become a million cells.
		return a.Key == "colspan" || a.Key == "rowspan" || a.Key == "srcset"
	})
	for i := range n.Attr {
		if a := &n.Attr[i]; a.Key == "href" || a.Key == "src" {
			ref, err := p.base.Parse(strings.TrimSpace(a.Val))
			if a.Val = ""; err == nil && web(ref) {
				ref.User = nil
				if link := ref.String(); len(link) <= longestURL && p.links+len(link) <= mostLinks {
					p.links += len(link)
					a.Val = link
				}
			}
		}
	}
	switch {
	case n.DataAtom == atom.A && attr(n, "href") == "":
		rename(n, atom.Span)
	case n.DataAtom == atom.Img && attr(n, "src") == "":
		n.FirstChild, n.LastChild = nil, nil
		alt := &html.Node{Type: html.TextNode, Data: attr(n, "alt")}
		rename(n, atom.Span)
		n.AppendChild(alt)
	}
}

// web reports whether a URL is one that a reader can follow.
func web(u *url.URL) bool { return u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto" }

// hidden reports whether HTML itself, without style sheets, says that an element isn't shown.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "style":
			for rule := range strings.SplitSeq(strings.ToLower(a.Val), ";") {
				name, value, _ := strings.Cut(rule, ":")
				value, _, _ = strings.Cut(value, "!")
				if hides[strings.TrimSpace(name)+":"+strings.Join(strings.Fields(value), "")] {
					return true
				}
			}
		}
	}
	return false
}

// hides are the declarations with which a page hides a text from its readers.
var hides = map[string]bool{"display:none": true, "visibility:hidden": true, "visibility:collapse": true,
	"font-size:0": true, "font-size:0px": true, "font-size:0em": true, "font-size:0pt": true,
	"content-visibility:hidden": true}

// cells returns the rows of a table times its columns, with those of tables in it.
func cells(n *html.Node) int {
	rows, columns := 0, 0
	for d := range n.Descendants() {
		if d.DataAtom != atom.Tr {
			continue
		}
		rows++
		own := 0
		for range d.ChildNodes() {
			own++
		}
		columns = max(columns, own)
	}
	return rows * columns
}

// flatten makes plain blocks of a table.
func flatten(n *html.Node) {
	rename(n, atom.Div)
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Table, atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption:
			rename(d, atom.Div)
		case atom.Td, atom.Th:
			rename(d, atom.Span)
		}
	}
}

func rename(n *html.Node, to atom.Atom) { n.DataAtom, n.Data, n.Attr = to, to.String(), nil }

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
