package chart_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/gate/internal/chart"
)

func Example() {
	c := chart.Chart{
		Title: "Waits", Opens: 9 * time.Hour, To: 8 * time.Hour,
		Bands: []chart.Band{{Name: "outage", From: time.Hour, To: 2 * time.Hour}},
		Lines: []chart.Line{{Name: "Pawl", Points: []chart.Point{
			{At: time.Hour, Typical: 800 * time.Millisecond, Longest: 2 * time.Second},
			{At: 2 * time.Hour, Typical: 900 * time.Millisecond, Longest: time.Minute},
		}}},
	}
	svg := string(c.SVG())
	for _, line := range strings.Split(svg, "\n") {
		if strings.HasPrefix(line, "<polyline") {
			fmt.Println(line)
		}
	}
	fmt.Println(strings.Contains(svg, ">10:00</text>"), chart.Brief(83*time.Second))
	// Output:
	// <polyline class="longest l0" points="173.5 298.3 283.0 88.0"/>
	// true 1m23s
}
