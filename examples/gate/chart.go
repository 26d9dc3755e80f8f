package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"
)

// The sizes of the picture.
const (
	width, height            = 960, 420
	left, right, top, bottom = 64, 20, 88, 36

	step = 10 * time.Minute // between two points of a line
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

// bands are what goes on behind the lines.
var bands = [...]string{"flood of background calls", "provider fails", "half the rate", "runaway job"}

// A drawing is a picture under way.
type drawing struct {
	bytes.Buffer
	most time.Duration // the longest wait on the axis
}

func (d *drawing) f(format string, args ...any) { fmt.Fprintf(d, format, args...) }

// x and y are the places of a time of the day and of a wait, on a logarithmic axis.
func (d *drawing) x(at time.Duration) float64 {
	return left + float64(min(at, dayLength))/float64(dayLength)*(width-left-right)
}

func (d *drawing) y(wait time.Duration) float64 {
	const shortest = 500 * time.Millisecond
	share := math.Log(float64(max(wait, shortest))/float64(shortest)) / math.Log(float64(d.most)/float64(shortest))
	return height - bottom - share*(height-top-bottom)
}

// chart draws people's waits over the day as an SVG: in each step the longest, over an area down to
// the median.
func chart(p *plan, sides [2]*side) []byte {
	d := &drawing{most: max(time.Minute, sides[0].lanes[chat].waits.p(1), sides[1].lanes[chat].waits.p(1))}
	title := "How long people waited for the first word of an answer"
	subtitle := fmt.Sprintf("%d sessions at one rate-limited provider. Line: the longest wait in each %v; area: down to "+
		"the median. Logarithmic.", p.sessions, brief(step))
	d.f(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" `+
		`aria-label="%s">`+"\n", width, height, width, height, title)
	d.f("<title>%s</title>\n<desc>%s</desc>\n<style>%s</style>\n", title, subtitle, style)
	d.f(`<rect class="ground" width="%d" height="%d" rx="6"/>`+"\n", width, height)
	d.f(`<text class="title" x="16" y="28">%s</text><text x="16" y="48">%s</text>`+"\n", title, subtitle)
	for _, f := range p.floods {
		d.band(0, span{f.from, f.from + max(sides[0].clear(p, f), sides[1].clear(p, f))})
	}
	for i, s := range []span{p.outage, p.squeeze, p.runaway} {
		d.band(i+1, s)
	}
	d.grid()
	d.line(1, sides[1].lanes[chat].waits)
	d.line(0, sides[0].lanes[chat].waits)
	d.legend(sides)
	d.WriteString("</svg>\n")
	return d.Bytes()
}

func (d *drawing) band(shade int, s span) {
	from := d.x(s.from)
	d.f(`<rect class="band b%d" x="%.1f" y="%d" width="%.1f" height="%d"><title>%s</title></rect>`+"\n", shade, from, top,
		max(d.x(s.to)-from, 1), height-top-bottom, bands[shade])
}

func (d *drawing) grid() {
	for _, seconds := range []int{1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10800} {
		if wait := time.Duration(seconds) * time.Second; wait <= d.most {
			y := d.y(wait)
			d.f(`<path class="grid" d="M%d %.1fH%d"/><text class="end" x="%d" y="%.1f">%s</text>`+"\n", left, y,
				width-right, left-8, y+4, brief(wait))
		}
	}
	for hour := 0; hour <= 24; hour += 3 {
		d.f(`<text class="middle" x="%.1f" y="%d">%02d:00</text>`+"\n", d.x(time.Duration(hour)*time.Hour),
			height-bottom+20, hour)
	}
	d.f(`<path class="grid" d="M%d %dH%d"/>`+"\n", left, height-bottom, width-right)
}

// line draws the waits of a side, with a gap where nobody waited.
func (d *drawing) line(color int, all waits) {
	in := make([]waits, dayLength/step+1)
	for _, w := range all {
		in[w.at/step] = append(in[w.at/step], w)
	}
	over, under := "", "" // the piece under way
	for i, each := range in {
		if len(each) > 0 {
			x := d.x(step*time.Duration(i) + step/2)
			over += fmt.Sprintf("%.1f %.1f ", x, d.y(each.p(1)))
			under = fmt.Sprintf("%.1f %.1f ", x, d.y(each.p(.5))) + under
		} else if over != "" {
			d.f(`<polygon class="area a%d" points="%s"/>`+"\n", color, over+strings.TrimSpace(under))
			d.f(`<polyline class="longest l%d" points="%s"/>`+"\n", color, strings.TrimSpace(over))
			over, under = "", ""
		}
	}
}

func (d *drawing) legend(sides [2]*side) {
	const y, perLetter = 70, 6.5
	x := 16
	for i, s := range sides {
		d.f(`<path class="longest l%d" d="M%d %dh22"/><text class="name" x="%d" y="%d">%s</text>`+"\n", i, x, y-4, x+28, y,
			s.name)
		x += 28 + int(perLetter*float64(len(s.name))) + 22
	}
	for shade, name := range bands {
		d.f(`<rect class="band b%d" x="%d" y="%d" width="14" height="14"/><text x="%d" y="%d">%s</text>`+"\n", shade, x,
			y-11, x+20, y, name)
		x += 20 + int(perLetter*float64(len(name))) + 22
	}
}
