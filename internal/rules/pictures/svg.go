package main

import (
	"fmt"
	"html"
	"strings"
)

// A canvas is an SVG of one width, that of a phone, with the colors of a light and a dark page.
type canvas struct {
	strings.Builder
}

// width is the width of a picture. Shown on a telephone, its text is still 11 pixels high.
const width = 480

func newCanvas(height int, title, desc string) *canvas {
	c := &canvas{}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-label="%[3]s">
<title>%[3]s</title>
<desc>%[4]s</desc>
<style>
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#5c6470}
.ground{fill:#fff;stroke:#e4e7ec}.title{font-size:16px;font-weight:600;fill:#1f2430}
.name{font-size:15px;font-weight:600;fill:#1f2430}.fact{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1565c0}
.small{font-size:12px}.middle{text-anchor:middle}.end{text-anchor:end}
.box{fill:#f6f8fa;stroke:#c9d0d9;stroke-width:1.2}.wait{fill:#fff6e5;stroke:#d9a441}.over{fill:#eaf6f0;stroke:#3d9970}
.frame{fill:none;stroke:#c9d0d9;stroke-dasharray:4 4}.edge{fill:none;stroke:#8a94a3;stroke-width:1.5}
.head{fill:#8a94a3}.person{fill:#1565c0}.work{fill:#b3bcc8}.halo{fill:#fff}
@media (prefers-color-scheme:dark){
text{fill:#a0a8b3}.ground{fill:#0f1419;stroke:#2b333d}.title,.name{fill:#e8eaed}.fact{fill:#6db3ff}
.box{fill:#1a212a;stroke:#3c4753}.wait{fill:#2b2416;stroke:#a8813a}.over{fill:#13261e;stroke:#3d9970}
.frame{stroke:#3c4753}.edge{stroke:#6b7684}.head{fill:#6b7684}.person{fill:#6db3ff}.work{fill:#4a5563}.halo{fill:#0f1419}}
</style>
<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="head" d="M0 0L8 4L0 8Z"/></marker></defs>
<rect class="ground" x=".5" y=".5" width="%[5]d" height="%[6]d" rx="8"/>
`, width, height, html.EscapeString(title), html.EscapeString(desc), width-1, height-1)
	c.text("title", 20, 32, title)
	return c
}

// text writes one line, whose baseline is at y.
func (c *canvas) text(class string, x, y int, text string) {
	fmt.Fprintf(c, "<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", class, x, y, html.EscapeString(text))
}

// lines writes lines below each other, centered at x, and returns where the next one would be.
func (c *canvas) lines(class string, x, y int, lines ...string) int {
	for _, line := range lines {
		c.text(class+" middle", x, y, line)
		y += 16
	}
	return y
}

// label writes facts beside an edge, on the color of the ground, so that a line behind it isn't
// read as a part of it.
func (c *canvas) label(x, y int, facts []string) {
	for i, fact := range facts {
		w := len(fact)*7 + 8
		fmt.Fprintf(c, "<rect class=\"halo\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"16\"/>\n", x-w/2, y-12+16*i, w)
		c.text("fact middle", x, y+16*i, fact)
	}
}

func (c *canvas) box(class string, x, y, w, h int) {
	fmt.Fprintf(c, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n", class, x, y, w, h)
}

// edge draws a path with an arrow at its end.
func (c *canvas) edge(path string) {
	fmt.Fprintf(c, "<path class=\"edge\" d=\"%s\" marker-end=\"url(#to)\"/>\n", path)
}

func (c *canvas) dot(class string, x, y int) {
	fmt.Fprintf(c, "<circle class=\"%s\" cx=\"%d\" cy=\"%d\" r=\"5\"/>\n", class, x, y)
}

// end returns the picture.
func (c *canvas) end() string { return c.String() + "</svg>\n" }

// wrap breaks a text into lines of at most n bytes.
func wrap(text string, n int) (lines []string) {
	for _, word := range strings.Fields(text) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= n {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
