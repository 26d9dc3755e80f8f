package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
	"time"
)

// A Chart shows waits over time. Its zero value is an empty chart.
type Chart struct {
	Title    string
	Subtitle string        // what is drawn, and how
	Opens    time.Duration // the time of day at which it begins
	To       time.Duration // how long it is; less than a minute counts as one
	Bands    []Band        // behind the lines
	Lines    []Line        // at most as many as there are colors, which is 2: others are drawn in the last one
}

// A Band shades a time in which something went on. Bands of the same name have the same color and
// one entry in the legend.
type Band struct {
	Name     string
	From, To time.Duration
}

// A Line is the waits of one kind: a stroke for the longest, over an area that begins at the
// typical one.
type Line struct {
	Name   string
	Points []Point // by At
}

// A Point is what was waited around a time. Where nothing was, with a Longest of 0, the line has a
// gap.
type Point struct {
	At               time.Duration
	Typical, Longest time.Duration
}

// The sizes of the picture.
const (
	width, height            = 960, 420
	left, right, top, bottom = 64, 20, 88, 36
	colors                   = 2 // of lines
	shades                   = 4 // of bands
)

// The ends of the axis of waits, at least.
const (
	shortest = 500 * time.Millisecond
	longest  = time.Minute
)

// style has its colours twice, in full: viewers that know neither variables nor dark grounds show
// the first.
const style = `
text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#5c6470}
.title{font-size:16px;font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}
.title,.name{fill:#1f2430}.ground{fill:#fff}.grid{stroke:#e4e7ec;fill:none}
.longest{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}.area{stroke:none;opacity:.16}
.l0{stroke:#1565c0}.l1{stroke:#c2410c}.a0{fill:#1565c0}.a1{fill:#c2410c}
.band{opacity:.17}.b0{fill:#7c6fd6}.b1{fill:#d64545}.b2{fill:#c79a1b}.b3{fill:#2e8b72}
@media (prefers-color-scheme:dark){
text{fill:#a0a8b3}.title,.name{fill:#e8eaed}.ground{fill:#0f1419}.grid{stroke:#2b333d}
.l0{stroke:#6db3ff}.l1{stroke:#ff9e64}.a0{fill:#6db3ff}.a1{fill:#ff9e64}
.b0{fill:#9b8cff}.b1{fill:#ff6b6b}.b2{fill:#e6c04a}.b3{fill:#4fd1ac}}
`

// SVG returns the picture, a file of some 10 to 40 KB for a day in steps of ten minutes.
func (c *Chart) SVG() []byte {
	d := drawing{Chart: c, most: longest, to: max(c.To, time.Minute)}
	for _, l := range c.Lines {
		for _, p := range l.Points {
			d.most = max(d.most, p.Longest)
		}
	}
	d.f(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`+"\n", width, height, width, height, c.Title)
	d.f("<title>%s</title>\n<desc>%s</desc>\n", c.Title, c.Subtitle)
	d.WriteString("<style>" + style + "</style>\n")
	d.f(`<rect class="ground" width="%d" height="%d" rx="6"/>`+"\n", width, height)
	d.f(`<text class="title" x="16" y="28">%s</text><text x="16" y="48">%s</text>`+"\n", c.Title, c.Subtitle)
	d.bands()
	d.grid()
	for i := len(c.Lines) - 1; i >= 0; i-- { // the first on top
		d.line(min(i, colors-1), c.Lines[i].Points)
	}
	d.legend()
	d.WriteString("</svg>\n")
	return d.Bytes()
}

// A drawing is a picture under way.
type drawing struct {
	*Chart
	bytes.Buffer
	to, most time.Duration
}

// f writes, with strings escaped.
func (d *drawing) f(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = escape(s)
		}
	}
	fmt.Fprintf(d, format, args...)
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a strings.Builder doesn't fail
	return b.String()
}

// x and y are the places of a time of the chart and of a wait.
func (d *drawing) x(at time.Duration) float64 {
	at = min(max(at, 0), d.to)
	return left + float64(at)/float64(d.to)*(width-left-right)
}

func (d *drawing) y(wait time.Duration) float64 {
	wait = min(max(wait, shortest), d.most)
	share := math.Log(float64(wait)/float64(shortest)) / math.Log(float64(d.most)/float64(shortest))
	return height - bottom - share*(height-top-bottom)
}

func (d *drawing) bands() {
	for _, b := range d.Bands {
		from, to := d.x(b.From), d.x(b.To)
		d.f(`<rect class="band b%d" x="%.1f" y="%d" width="%.1f" height="%d"><title>%s</title></rect>`+"\n",
			d.shade(b.Name), from, top, max(to-from, 1), height-top-bottom, b.Name)
	}
}

// shade returns the color of the bands of that name.
func (d *drawing) shade(name string) int { return min(index(d.bandNames(), name), shades-1) }

func (d *drawing) bandNames() (names []string) {
	for _, b := range d.Bands {
		if index(names, b.Name) == len(names) {
			names = append(names, b.Name)
		}
	}
	return names
}

// index returns where name is in names, or their number.
func index(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return len(names)
}

func (d *drawing) grid() {
	for _, wait := range []time.Duration{time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute,
		3 * time.Minute,
		10 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 10 * time.Hour} {
		if wait <= d.most {
			y := d.y(wait)
			d.f(`<path class="grid" d="M%d %.1fH%d"/><text class="end" x="%d" y="%.1f">%s</text>`+"\n", left, y,
				width-right, left-8, y+4, Brief(wait))
		}
	}
	step := time.Hour
	for d.to/step > 8 {
		step += time.Hour
	}
	if d.to < 3*time.Hour {
		step = 15 * time.Minute
	}
	for at := (step - d.Opens%step) % step; at <= d.to; at += step {
		clock := d.Opens + at
		d.f(`<text class="middle" x="%.1f" y="%d">%s</text>`+"\n", d.x(at), height-bottom+20,
			fmt.Sprintf("%02d:%02d", int(clock.Hours()), int(clock.Minutes())%60))
	}
	d.f(`<path class="grid" d="M%d %dH%d"/>`+"\n", left, height-bottom, width-right)
}

// line draws the points of a line, a piece for each stretch without a gap.
func (d *drawing) line(color int, points []Point) {
	for len(points) > 0 {
		n := 0
		for n < len(points) && points[n].Longest > 0 {
			n++
		}
		if n > 0 {
			d.piece(color, points[:n])
		}
		points = points[min(n+1, len(points)):]
	}
}

func (d *drawing) piece(color int, points []Point) {
	if len(points) == 1 {
		d.f(`<circle class="a%d" cx="%.1f" cy="%.1f" r="2"/>`+"\n", color, d.x(points[0].At), d.y(points[0].Longest))
		return
	}
	var over, under strings.Builder
	for _, p := range points {
		fmt.Fprintf(&over, "%.1f %.1f ", d.x(p.At), d.y(p.Longest))
	}
	for i := len(points) - 1; i >= 0; i-- {
		fmt.Fprintf(&under, "%.1f %.1f ", d.x(points[i].At), d.y(points[i].Typical))
	}
	d.f(`<polygon class="area a%d" points="%s"/>`+"\n", color, over.String()+strings.TrimSpace(under.String()))
	d.f(`<polyline class="longest l%d" points="%s"/>`+"\n", color, strings.TrimSpace(over.String()))
}

func (d *drawing) legend() {
	const y, perLetter = 70, 6.5
	x := 16
	for i, l := range d.Lines {
		d.f(`<path class="longest l%d" d="M%d %dh22"/><text class="name" x="%d" y="%d">%s</text>`+"\n",
			min(i, colors-1), x, y-4, x+28, y, l.Name)
		x += 28 + int(perLetter*float64(len(l.Name))) + 22
	}
	for _, name := range d.bandNames() {
		d.f(`<rect class="band b%d" x="%d" y="%d" width="14" height="14"/><text x="%d" y="%d">%s</text>`+"\n",
			d.shade(name), x, y-11, x+20, y, name)
		x += 20 + int(perLetter*float64(len(name))) + 22
	}
}

// Brief writes a wait shortly, with about two digits: "820ms", "1.3s", "42s", "3m20s", "1h5m".
func Brief(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Brief(-d)
	case d == 0:
		return "0s"
	case d < 950*time.Millisecond:
		return fmt.Sprintf("%dms", d.Round(10*time.Millisecond).Milliseconds())
	case d < 9950*time.Millisecond:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	}
	d = d.Round(time.Second)
	if d >= time.Hour {
		d = d.Round(time.Minute)
	}
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h > 0 && m > 0:
		return fmt.Sprintf("%dh%dm", h, m)
	case h > 0:
		return fmt.Sprintf("%dh", h)
	case m > 0 && s > 0:
		return fmt.Sprintf("%dm%ds", m, s)
	case m > 0:
		return fmt.Sprintf("%dm", m)
	}
	return fmt.Sprintf("%ds", s)
}
