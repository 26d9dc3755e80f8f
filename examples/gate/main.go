package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/pawlkit/pawl/examples/gate/internal/day"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	inVirtualTime(func(b bubble) int { return run(os.Args[1:], os.Stdout, os.Stderr, b) })
}

// run is the program. The simulation goes to stdout, everything else to stderr.
func run(args []string, stdout, stderr io.Writer, virtual bubble) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, "gate:", err)
		return exitUsage
	}
	out := &checked{w: stdout}
	if err := live(o, out, isTerminal(stdout), virtual); err != nil {
		fmt.Fprintln(stderr, "gate:", err)
		return exitFailed
	}
	if out.err != nil {
		fmt.Fprintln(stderr, "gate: the output couldn't be written:", out.err)
		return exitFailed
	}
	return exitOK
}

// live simulates the day and shows it.
func live(o options, out io.Writer, terminal bool, virtual bubble) error {
	plan := day.NewPlan(o.day)
	fmt.Fprintf(out,
		"%s from %s to %s: %d sessions, %d calls; floods of background calls, a provider that fails for %v, virtual "+
			"time.\n",
		hours(plan), plan.Clock(0), plan.Clock(plan.Length), plan.Sessions, len(plan.Calls),
		brief(plan.Outage.To-plan.Outage.From))
	var show display
	switch {
	case o.quiet:
	case terminal:
		show = &screen{out: out, plan: plan}
	default:
		show = &lines{out: out, plan: plan}
	}
	if show != nil {
		fmt.Fprintln(out)
	}
	began := time.Now()
	report, err := watch(plan, show, o.pause(terminal), virtual)
	if err != nil {
		return err
	}
	took := time.Since(began)
	summarize(out, report)
	if o.svg != "" {
		c := picture(report)
		if err := os.WriteFile(o.svg, c.SVG(), 0o666); err != nil {
			return fmt.Errorf("the chart couldn't be written: %w", err)
		}
		fmt.Fprintf(out, "\nThe chart is in %s.\n", o.svg)
	}
	fmt.Fprintf(out, "\n%s in %.1f s.\n", hours(plan), took.Seconds())
	return broken(report)
}

// broken returns an error if the simulation has violated a guarantee of the gate.
func broken(r *day.Report) error {
	for _, s := range r.Sides {
		for task, l := range s.Lanes {
			if left := l.Asked - l.Done - l.NoAnswer(); left != 0 {
				return fmt.Errorf("%s: %d calls of %s were lost", s.Name, left, task)
			}
			if n := l.Refused[day.Untyped]; n > 0 {
				return fmt.Errorf("%s: %d calls of %s failed without a reason", s.Name, n, task)
			}
		}
	}
	return nil
}

// hours returns the length of a plan in words.
func hours(p *day.Plan) string {
	switch p.Hours {
	case 24:
		return "A day"
	case 1:
		return "1 hour"
	}
	return fmt.Sprintf("%d hours", p.Hours)
}

// A checked is a writer that stores the first error, and writes nothing after it.
type checked struct {
	w   io.Writer
	err error
}

func (c *checked) Write(b []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.w.Write(b)
	c.err = err
	return n, err
}

// isTerminal reports whether a file may be a terminal: it is a character device, and not the null
// device.
func isTerminal(file any) bool {
	f, ok := file.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
