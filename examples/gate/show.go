package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/gate/internal/chart"
	"github.com/pawlkit/pawl/examples/gate/internal/day"
	"github.com/pawlkit/pawl/provider"
)

// A display shows the day during the simulation.
type display interface{ show(day.Tick) }

// watch simulates the day in virtual time and shows it in real time: while a tick is shown, virtual
// time stands still.
func watch(plan *day.Plan, d display, pause time.Duration, virtual bubble) (report *day.Report, err error) {
	// made outside of the bubble: waiting for them stops the virtual clock
	ticks, shown := make(chan day.Tick), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for t := range ticks {
			d.show(t)
			time.Sleep(pause)
			shown <- struct{}{}
		}
	}()
	defer func() { close(ticks); <-done }()
	var onTick func(day.Tick)
	if d != nil {
		onTick = func(t day.Tick) { ticks <- t; <-shown }
	}
	virtual(func() { report, err = plan.Run(onTick) })
	return report, err
}

// lines is the display without a terminal: a line for each hour, or for each quarter of an hour in
// a short day.
type lines struct {
	out    io.Writer
	plan   *day.Plan
	headed bool
	last   time.Duration
}

func (l *lines) show(t day.Tick) {
	every := time.Hour
	if l.plan.Length <= 6*time.Hour {
		every = 15 * time.Minute
	}
	if t.At-l.last < every {
		return
	}
	l.last = t.At
	if !l.headed {
		l.headed = true
		fmt.Fprintf(l.out, "       %-45s   %s\n", t.Sides[0].Name, t.Sides[1].Name)
		columns := fmt.Sprintf("%7s %7s %7s %7s %13s", "people", "p50", "p99", "longest", "background")
		fmt.Fprintf(l.out, "%-5s  %s   %s\n", "", columns, columns)
	}
	line := t.Clock + "  "
	for _, s := range t.Sides {
		line += fmt.Sprintf("%7d %7s %7s %7s %5d + %5d   ", s.Done, brief(s.P50), brief(s.P99), brief(s.Longest),
			s.WorkDone, s.WorkLeft)
	}
	fmt.Fprintln(l.out, strings.TrimSpace(line+strings.Join(t.Goes, ", ")))
}

// screen is the display on a terminal: a table that changes in place.
type screen struct {
	out   io.Writer
	plan  *day.Plan
	drawn int // number of lines
}

func (s *screen) show(t day.Tick) {
	table := []string{
		fmt.Sprintf("%s  %s", t.Clock, strings.Join(t.Goes, ", ")),
		"",
		fmt.Sprintf("%-19s %-40s %-30s", "", "people (of the last hour)", "background"),
		fmt.Sprintf("%-19s %6s %7s %7s %7s %8s  %7s %7s %9s  %s", "", "done", "waiting", "p50", "p99", "longest",
			"ended", "left", "preempted", "charged"),
	}
	for _, side := range t.Sides {
		table = append(table,
			fmt.Sprintf("%-19s %6d %7d %7s %7s %8s  %7d %7d %9d  %s", side.Name, side.Done, side.Waiting,
				brief(side.P50), brief(side.P99), brief(side.Longest), side.WorkDone, side.WorkLeft, side.Preempted,
				charged(side)))
	}
	table = append(table, "", state(t))
	var b strings.Builder
	b.WriteString("\x1b[?7l") // cut lines that are too long, or the next table would be in the wrong place
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn)
	}
	for _, line := range table {
		b.WriteString("\x1b[2K" + line + "\n")
	}
	b.WriteString("\x1b[?7h")
	s.drawn = len(table)
	io.WriteString(s.out, b.String()) // the writer stores the error
}

// state describes the state of Pawl's side.
func state(t day.Tick) string {
	if t.Sides[0].State == "" {
		return ""
	}
	return t.Sides[0].Name + ": " + t.Sides[0].State
}

func charged(s day.SideTick) string {
	if s.Limit == 0 {
		return dollars(s.Spent)
	}
	return dollars(s.Spent) + " of " + dollars(s.Limit)
}

func dollars(m provider.Money) string { return fmt.Sprintf("$%.2f", float64(m)/float64(provider.USD)) }

// brief formats a wait; "-" if there was none.
func brief(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return chart.Brief(d)
}
