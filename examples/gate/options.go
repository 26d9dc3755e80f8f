package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/pawlkit/pawl/examples/gate/internal/day"
)

// options are the program's arguments.
type options struct {
	day   day.Config
	svg   string
	speed float64
	quiet bool
}

const (
	defaultSpeed = 2    // hours per second, on a terminal
	mostSpeed    = 1000 // faster ones don't differ from 0
)

func parseOptions(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("gate", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the caller prints the error
	f.Uint64Var(&o.day.Seed, "seed", 1, "random seed, a `number`; the same seed gives the same day")
	f.IntVar(&o.day.Sessions, "sessions", 50, "`number` of sessions, 1 to 200; it doesn't change the providers")
	f.IntVar(&o.day.Hours, "hours", 24, "`number` of hours, 1 to 24, with noon in the middle")
	f.StringVar(&o.svg, "svg", "", "write a chart of people's waits to this `file`; without it none is written")
	f.Float64Var(&o.speed, "speed", defaultSpeed,
		"simulated `hours` per second on a terminal; 0: as fast as possible, as without a terminal")
	f.BoolVar(&o.quiet, "quiet", false, "show only the summary")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(f, stderr)
		} else {
			err = fmt.Errorf("%w; -h lists the flags", err)
		}
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("%q isn't a flag; -h lists the flags", f.Arg(0))
	case o.day.Sessions < 1 || o.day.Sessions > day.MostSessions:
		return o, fmt.Errorf("-sessions can't be %d; use 1 to %d", o.day.Sessions, day.MostSessions)
	case o.day.Hours < 1 || o.day.Hours > day.MostHours:
		return o, fmt.Errorf("-hours can't be %d; use 1 to %d", o.day.Hours, day.MostHours)
	case !(o.speed >= 0 && o.speed <= mostSpeed):
		return o, fmt.Errorf("-speed can't be %v; use up to %d hours per second, or 0 for as fast as possible", o.speed,
			mostSpeed)
	}
	return o, nil
}

// pause returns how long a tick is shown on a terminal.
func (o *options) pause(terminal bool) time.Duration {
	if !terminal || o.quiet || o.speed == 0 {
		return 0
	}
	return time.Duration(day.Every.Hours() / o.speed * float64(time.Second))
}

func usage(f *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w,
		`gate simulates a day at a rate-limited provider of models, twice at the same time: behind Pawl's gate, guard, breaker
and budget, and behind a first-in first-out limiter of the same size. It needs no key, and takes a second or two.

  gate                        the day, as a table that is updated, and a summary
  gate -svg gate.svg          also a chart of people's waits
  gate -sessions 20 -hours 4  a shorter day with fewer sessions

`)
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprint(w, `
Exit status: 0 the day is over, 1 the output or the chart couldn't be written, or a call was lost, 2 a flag is invalid.
`)
}
