package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func main() {
	seed := flag.Uint64("seed", 1, "random seed, a `number`; the same seed gives the same day")
	sessions := flag.Int("sessions", 50, "`number` of sessions, 1 to 200; it doesn't change the providers")
	svg := flag.String("svg", "", "write a chart of people's waits to this `file`; without it none is written")
	flag.Parse()
	if flag.NArg() > 0 || *sessions < 1 || *sessions > 200 {
		fmt.Fprintln(os.Stderr, "gate: -sessions is from 1 to 200, and there are no other arguments; -h lists the flags")
		os.Exit(2)
	}
	inVirtualTime(func(b bubble) {
		if err := run(*seed, *sessions, *svg, os.Stdout, b); err != nil {
			fmt.Fprintln(os.Stderr, "gate:", err)
			os.Exit(1)
		}
		os.Exit(0)
	})
}

// run simulates the day, prints its summary, and writes a chart to the file svg, unless that is
// empty.
func run(seed uint64, sessions int, svg string, out io.Writer, virtual bubble) error {
	p := newPlan(seed, sessions)
	fmt.Fprintf(out, "A day: %d sessions, %d calls; floods of background calls, a provider that fails for %v, virtual "+
		"time.\n", p.sessions, len(p.calls), brief(p.outage.to-p.outage.from))
	began := time.Now()
	var sides [2]*side
	var err error
	virtual(func() { sides, err = p.run() })
	if err != nil {
		return err
	}
	took := time.Since(began)
	summarize(out, p, sides)
	if svg != "" {
		if err := os.WriteFile(svg, chart(p, sides), 0o666); err != nil {
			return fmt.Errorf("the chart couldn't be written: %w", err)
		}
		fmt.Fprintf(out, "\nThe chart is in %s.\n", svg)
	}
	_, err = fmt.Fprintf(out, "\nA day in %.1f s.\n", took.Seconds())
	return err
}

// A bubble runs a function in virtual time: clocks and timers jump to the next event as soon as
// every goroutine of the function waits for one. So a day takes only the time of its computations,
// and its figures don't depend on the machine.
//
// The bubble is that of testing/synctest, which needs a *testing.T. Tests have one; see
// inVirtualTime for the program.
type bubble func(func())

// inVirtualTime calls a program, which exits, with a bubble.
//
// Package testing gives a T only to tests, but any program can run some: [testing.Main] is for
// programs that do what "go test" does.
func inVirtualTime(program func(bubble)) {
	matchAll := func(_, _ string) (bool, error) { return true, nil }
	testing.Main(matchAll,
		[]testing.InternalTest{{Name: "gate", F: func(t *testing.T) { program(bubbleOf(t)) }}}, nil, nil)
}

func bubbleOf(t *testing.T) bubble {
	return func(fn func()) { synctest.Test(t, func(*testing.T) { fn() }) }
}
