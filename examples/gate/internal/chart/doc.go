// Package chart draws waits over a day as an SVG file that stands by itself: no script, no font and no picture from elsewhere,
// readable on light and on dark ground, with a logarithmic axis of time waited.
//
//	c := chart.Chart{Title: "How long people waited", To: 24 * time.Hour}
//	c.Lines = append(c.Lines, chart.Line{Name: "Pawl", Points: points})
//	os.WriteFile("gate.svg", c.SVG(), 0o666)
package chart
