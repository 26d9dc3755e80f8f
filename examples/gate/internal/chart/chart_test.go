package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// busy returns a chart as large as a day's.
func busy() Chart {
	r := rand.New(rand.NewPCG(1, 2))
	c := Chart{Title: "How long people waited", Subtitle: "Line: the longest.", To: 24 * time.Hour}
	for i := range 20 {
		at := time.Duration(i) * time.Hour
		c.Bands = append(c.Bands, Band{Name: []string{"flood", "outage", "squeeze", "runaway"}[i%4], From: at, To: at +
			time.Duration(r.Int64N(int64(time.Hour)))})
	}
	for _, name := range []string{"Pawl", "first-in first-out"} {
		l := Line{Name: name}
		for i := range 144 {
			longest := time.Duration(r.ExpFloat64() * float64(5*time.Minute))
			l.Points = append(l.Points,
				Point{At: time.Duration(i) * 10 * time.Minute, Typical: longest / 3, Longest: longest})
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// elements parses an SVG to its end, and returns its elements by name.
func elements(t *testing.T, svg []byte) map[string][]xml.StartElement {
	t.Helper()
	found := make(map[string][]xml.StartElement)
	for dec := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err, "%s", svg)
		if e, ok := token.(xml.StartElement); ok {
			found[e.Name.Local] = append(found[e.Name.Local], e.Copy())
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func TestAChartIsASmallFileThatNeedsNothingElse(t *testing.T) {
	c := busy()
	svg := c.SVG()
	require.Less(t, len(svg), 60_000)
	found := elements(t, svg)
	for _, foreign := range []string{"script", "image", "use", "a", "foreignObject", "link"} {
		require.Empty(t, found[foreign], foreign)
	}
	require.Equal(t, 1, strings.Count(string(svg), "http"), "the namespace, and nothing to fetch")
	require.NotRegexp(t, `href|@import|url\(`, string(svg))
	require.Contains(t, string(svg), "prefers-color-scheme:dark")
}

func TestAChartShowsEveryLineBandAndName(t *testing.T) {
	c := busy()
	svg := c.SVG()
	found := elements(t, svg)
	require.Len(t, found["polyline"], 2)
	require.Len(t, found["polygon"], 2)
	bands := 0
	for _, e := range found["rect"] {
		if strings.HasPrefix(attribute(e, "class"), "band") {
			bands++
		}
	}
	require.Equal(t, 20+4, bands, "and four in the legend")
	for _, color := range []string{"b0", "b1", "b2", "b3"} {
		require.Equal(t, 5+1, strings.Count(string(svg), `class="band `+color+`"`), "a name has a color of its own")
	}
	for _, name := range []string{"Pawl", "first-in first-out", "flood", "outage", "squeeze", "runaway"} {
		require.Contains(t, string(svg), ">"+name+"</text>")
	}
}

var number = regexp.MustCompile(`-?\d+(\.\d+)?`)

func TestNothingIsDrawnOutsideThePicture(t *testing.T) {
	c := busy()
	c.Lines[0].Points[0] = Point{At: -time.Hour, Typical: -time.Second, Longest: 1}
	c.Lines[0].Points[143] = Point{At: 50 * time.Hour, Typical: time.Hour, Longest: 1000 * time.Hour}
	c.Bands = append(c.Bands, Band{Name: "late", From: 23 * time.Hour, To: 90 * time.Hour})
	for _, e := range append(elements(t, c.SVG())["polyline"], elements(t, c.SVG())["polygon"]...) {
		for i, text := range number.FindAllString(attribute(e, "points"), -1) {
			n, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			if i%2 == 0 {
				require.True(t, n >= left && n <= width-right, text)
			} else {
				require.True(t, n >= top && n <= height-bottom, text)
			}
		}
	}
}

func TestALongerWaitIsHigherUp(t *testing.T) {
	d := drawing{Chart: &Chart{}, most: time.Hour, to: time.Hour}
	last := float64(height)
	for _, wait := range []time.Duration{time.Second, 2 * time.Second, 10 * time.Second, time.Minute,
		30 * time.Minute} {
		require.Less(t, d.y(wait), last, "%v", wait)
		last = d.y(wait)
	}
	require.InDelta(t, d.y(time.Second)-d.y(10*time.Second), d.y(10*time.Second)-d.y(100*time.Second), .001,
		"ten times as long is as far everywhere")
}

func TestALineHasAGapWhereNobodyWaited(t *testing.T) {
	at := func(n int, longest time.Duration) Point {
		return Point{At: time.Duration(n) * time.Minute, Typical: longest, Longest: longest}
	}
	c := Chart{To: time.Hour, Lines: []Line{{Name: "x", Points: []Point{
		at(0, 0), at(1, time.Second), at(2, time.Second), at(3, 0), at(4, 0), at(5, time.Second), at(6, time.Second),
		at(7, 0), at(8, time.Second),
	}}}}
	require.Len(t, elements(t, c.SVG())["polyline"], 2)
	require.Len(t, elements(t, c.SVG())["circle"], 1, "one that stands alone is a dot")
}

func TestNamesAreText(t *testing.T) {
	c := Chart{Title: `<script>"&'`, Subtitle: "]]>\x00", Lines: []Line{{Name: "</text><a/>"}},
		Bands: []Band{{Name: `"><b`}}}
	found := elements(t, c.SVG())
	require.Empty(t, found["script"])
	require.Empty(t, found["a"])
	require.Equal(t, `<script>"&'`, attribute(found["svg"][0], "aria-label"))
}

func TestAnEmptyChartIsAPicture(t *testing.T) {
	var c Chart
	require.Len(t, elements(t, c.SVG())["svg"], 1)
}

func TestMoreLinesThanColorsAreDrawnInTheLastOne(t *testing.T) {
	c := busy()
	c.Lines = append(c.Lines, c.Lines[0])
	c.Bands = append(c.Bands, Band{Name: "fifth"})
	svg := string(c.SVG())
	require.NotContains(t, svg, `l2"`)
	require.NotContains(t, svg, `b4"`)
}

func TestAWaitIsWrittenShortly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 4 * time.Millisecond: "0ms", 824 * time.Millisecond: "820ms", 949 * time.Millisecond: "950ms",
		960 * time.Millisecond: "1s", 1270 * time.Millisecond: "1.3s", 9940 * time.Millisecond: "9.9s",
		9960 * time.Millisecond: "10s", 31 * time.Second: "31s", time.Minute - 1: "1m", 200 * time.Second: "3m20s",
		time.Hour - 1: "1h", 65 * time.Minute: "1h5m", 2*time.Hour + 29*time.Second: "2h", -3 * time.Second: "-3s",
		26 * time.Hour: "26h",
	} {
		require.Equal(t, want, Brief(d), "%d", d)
	}
}

func BenchmarkSVG(b *testing.B) {
	c := busy()
	b.ReportAllocs()
	for b.Loop() {
		c.SVG()
	}
}
