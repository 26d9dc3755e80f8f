// Package chart draws waits over a day as a self-contained SVG file: without scripts, external
// fonts or images, readable on light and dark backgrounds, with a logarithmic axis of waiting time.
//
//	c := chart.Chart{Title: "How long people waited", To: 24 * time.Hour}
//	c.Lines = append(c.Lines, chart.Line{Name: "Pawl", Points: points})
//	os.WriteFile("gate.svg", c.SVG(), 0o666)
package chart
