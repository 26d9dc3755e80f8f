package main

import (
	"fmt"
	"slices"
	"strings"
)

// A place is where a stage is drawn: the middle of its box, and the top.
type place struct{ x, y int }

const (
	boxWidth  = 144
	boxHeight = 84
)

// places has the stages of a run in progress.
var places = map[string]place{
	"ready":   {240, 104},
	"calling": {240, 232},
	"acting":  {92, 362},
	"replied": {388, 362},
	"failed":  {240, 362},
}

// An arrow is an edge, and where its facts are written.
type arrow struct {
	from, to string
	path     string
	x, y     int
}

// arrows are drawn if the table has facts for them, and each that the table has is here.
var arrows = []arrow{
	{"ready", "calling", "M240 188V230", 240, 213},
	{"calling", "acting", "M168 274C112 284 92 310 92 360", 108, 322},
	{"calling", "failed", "M240 316V360", 240, 342},
	{"calling", "replied", "M312 270C372 278 396 310 396 360", 386, 318},
	{"acting", "ready", "M60 362C36 258 56 146 166 146", 62, 230},
	{"replied", "ready", "M428 362C446 258 424 146 314 146", 420, 214},
	{"replied", "calling", "M352 362C350 326 336 302 314 296", 336, 350},
}

// drawRun draws the stages of a run.
func drawRun(root string) (string, error) {
	t, err := readTable(root)
	if err != nil {
		return "", err
	}
	comments, err := stageComments(root)
	if err != nil {
		return "", err
	}
	c := newCanvas(760, "The life of a run",
		"Boxes are stages; facts lead from one to the next. Each fact is stored before anything happens because of it.")
	c.text("small", 20, 52, "Boxes are stages; blue are the facts that lead from one to the next.")
	c.box("frame", 8, 78, 464, 420)
	if err := checkArrows(t); err != nil {
		return "", err
	}
	for _, a := range arrows {
		c.edge(a.path)
	}
	for _, a := range arrows {
		c.label(a.x, a.y, t.between(a.from, a.to))
	}
	for _, stage := range t.stages {
		p, ok := places[stage]
		if !ok {
			continue
		}
		c.box("box", p.x-boxWidth/2, p.y, boxWidth, boxHeight)
		c.text("name middle", p.x, p.y+22, stage)
		c.lines("small", p.x, p.y+40, wrap(comments[stage], 21)...)
	}
	// While calls are acting, each of them has facts of its own.
	calls := slices.DeleteFunc(t.between("acting", "="),
		func(fact string) bool { return t.cells[fact]["ready"] != "-" })
	c.lines("small", 240, 466, "while it acts, each call has its own, beside those of others:")
	c.text("fact middle", 240, 484, strings.Join(calls, " "))
	c.drawEnds(t)
	return c.end(), nil
}

// drawEnds draws what is around a run in progress: its beginning, its pause and its end.
func (c *canvas) drawEnds(t *table) {
	c.edge("M240 66V102")
	c.label(240, 92, t.between("no_run", "starts"))

	c.box("wait", 40, 576, 168, boxHeight)
	c.lines("name", 124, 600, "paused")
	c.lines("small", 124, 618, "only in the store: for a", "person, or a next process")
	c.box("over", 272, 576, 168, boxHeight)
	c.lines("name", 356, 600, "ended")
	c.lines("small", 356, 618, "completed, stopped,", "or failed")
	c.edge("M84 498V574")
	c.edge("M164 576V500")
	c.edge("M356 498V574")
	c.edge("M208 618H270")
	c.label(84, 540, t.between("acting", "paused"))
	c.label(164, 532, t.between("paused", "back"))
	c.label(356, 540, t.between("calling", "ended"))
	c.label(240, 611, t.between("paused", "ended"))
	c.text("small", 20, 688, "Recorded at any stage, without a change of it:")
	always := slices.DeleteFunc(t.between("calling", "="),
		func(fact string) bool { return t.cells[fact]["ready"] != "=" })
	for i, line := range wrap(strings.Join(always, " "), 60) {
		c.text("fact", 20, 708+16*i, line)
	}
}

// checkArrows returns an error if the table has an edge that the picture lacks, or the other way
// round.
func checkArrows(t *table) error {
	for _, from := range t.stages {
		for _, to := range t.stages {
			if places[from] == (place{}) || places[to] == (place{}) {
				continue
			}
			drawn := slices.ContainsFunc(arrows, func(a arrow) bool { return a.from == from && a.to == to })
			if facts := t.between(from, to); drawn != (len(facts) > 0) {
				return fmt.Errorf("the table has %d facts from %s to %s: change arrows", len(facts), from, to)
			}
		}
	}
	for _, stage := range []string{"no_run", "paused", "ended"} {
		if !slices.Contains(t.stages, stage) {
			return fmt.Errorf("the table has no stage %s", stage)
		}
	}
	return nil
}
