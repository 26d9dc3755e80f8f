package durable

import (
	"bytes"
	"fmt"
	"time"
)

// The sizes of a chart: of one panel, and what is around it.
const (
	panelWide, panelHigh = 560.0, 110.0
	panelLeft, panelTop  = 60.0, 64.0
	panelGap             = 44.0
)

// drawSoak draws what soak tests have measured, as SVG: a panel for each measure and kind of time.
func drawSoak(all []*series, chats int) []byte {
	var b bytes.Buffer
	high := panelTop + float64(len(measures))*(panelHigh+panelGap)
	wide := float64(len(all)) * (panelLeft + panelWide + 20)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" `, wide, high)
	b.WriteString(`font-family="sans-serif" font-size="12">`)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" fill="white"/>`+"\n", wide, high)
	for i, s := range all {
		left := float64(i)*(panelLeft+panelWide+20) + panelLeft
		fmt.Fprintf(&b, `<text x="%.0f" y="20" font-size="14">%d chats and a worker for %s of %s time</text>`,
			left, chats, plainly(s.length), s.kind)
		fmt.Fprintf(&b, `<text x="%.0f" y="38" fill="#555">%d answers, %d jobs; the first tenth is dashed</text>`,
			left, s.counts.answers.Load(), s.counts.jobs.Load())
		for j, m := range measures {
			s.draw(&b, m, left, panelTop+float64(j)*(panelHigh+panelGap))
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// draw draws one panel.
func (s *series) draw(b *bytes.Buffer, m measure, left, top float64) {
	most := 0.0
	for _, one := range s.samples {
		most = max(most, m.of(one)*1.15)
	}
	most = max(most, 1)
	x := func(at time.Duration) float64 { return left + panelWide*float64(at)/float64(s.length) }
	y := func(v float64) float64 { return top + panelHigh*(1-v/most) }
	fmt.Fprintf(b, `<text x="%.0f" y="%.0f">%s</text>`, left, top-6, m.name)
	fmt.Fprintf(b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" fill="none" stroke="#bbb"/>`, left, top,
		panelWide, panelHigh)
	for _, v := range []float64{0, most / 2, most} {
		fmt.Fprintf(b, `<text x="%.0f" y="%.1f" fill="#555" text-anchor="end">%.4g</text>`, left-6, y(v)+4, round(v))
	}
	for _, at := range []time.Duration{0, s.length / 2, s.length} {
		fmt.Fprintf(b, `<text x="%.0f" y="%.0f" fill="#555" text-anchor="middle">%s</text>`, x(at), top+panelHigh+15,
			plainly(at))
	}
	fmt.Fprintf(b, `<line x1="%.1f" x2="%[1]f" y1="%.0f" y2="%.0f" stroke="#999" stroke-dasharray="4 3"/>`,
		x(s.length/10), top, top+panelHigh)
	b.WriteString(`<polyline fill="none" stroke="#1f6feb" stroke-width="1.5" points="`)
	for _, one := range s.samples {
		fmt.Fprintf(b, "%.1f,%.1f ", x(one.at), y(m.of(one)))
	}
	b.WriteString(`"/>` + "\n")
}

// round leaves out what no reader looks at.
func round(v float64) float64 { return float64(int(v*10+.5)) / 10 }

// plainly returns a time with its unit, such as 24 h.
func plainly(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d >= time.Hour:
		return fmt.Sprintf("%.3g h", d.Hours())
	}
	return fmt.Sprintf("%.3g min", d.Minutes())
}
