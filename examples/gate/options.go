package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/pawlkit/pawl/examples/gate/internal/day"
)

// options are what the program was called with.
type options struct {
	day   day.Config
	svg   string
	speed float64
	quiet bool
}

const (
	defaultSpeed = 2    // hours a second, on a terminal
	mostSpeed    = 1000 // anything faster is no slower than 0
)

func parseOptions(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("gate", flag.ContinueOnError)
	f.SetOutput(io.Discard) // what is wrong is said once, by the caller
	f.Uint64Var(&o.day.Seed, "seed", 1, "`number` that the day is made of: the same one makes the same day")
	f.IntVar(&o.day.Sessions, "sessions", 50, "`number` of sessions, 1 to 200; the providers don't grow with it")
	f.IntVar(&o.day.Hours, "hours", 24, "`number` of hours, 1 to 24, with noon in the middle")
	f.StringVar(&o.svg, "svg", "", "write a chart of people's waits to this `file`; without it none is written")
	f.Float64Var(&o.speed, "speed", defaultSpeed, "`hours` of the day a second, on a terminal; 0: as fast as it goes, which is how it goes elsewhere")
	f.BoolVar(&o.quiet, "quiet", false, "show nothing but the summary")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(f, stderr)
		} else {
			err = fmt.Errorf("%w; -h says what there is", err)
		}
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("%q is no flag; -h says what there is", f.Arg(0))
	case o.day.Sessions < 1 || o.day.Sessions > day.MostSessions:
		return o, fmt.Errorf("-sessions can't be %d; use 1 to %d", o.day.Sessions, day.MostSessions)
	case o.day.Hours < 1 || o.day.Hours > day.MostHours:
		return o, fmt.Errorf("-hours can't be %d; use 1 to %d", o.day.Hours, day.MostHours)
	case !(o.speed >= 0 && o.speed <= mostSpeed):
		return o, fmt.Errorf("-speed can't be %v; use up to %d hours a second, or 0 for as fast as it goes", o.speed, mostSpeed)
	}
	return o, nil
}

// pause returns how long a tick of the day stays on a terminal.
func (o *options) pause(terminal bool) time.Duration {
	if !terminal || o.quiet || o.speed == 0 {
		return 0
	}
	return time.Duration(day.Every.Hours() / o.speed * float64(time.Second))
}

func usage(f *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, `gate lives through a day at a rate-limited provider of models, twice at the same time: behind Pawl's gate, guard, breaker
and budget, and behind a first-in first-out limiter of the same size. It needs no key, and takes a second or two.

  gate                        the day, as a table that changes, and how it went
  gate -svg gate.svg          and a chart of people's waits
  gate -sessions 20 -hours 4  a shorter and quieter one

`)
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprint(w, `
Exit status: 0 the day is over, 1 the output or the chart couldn't be written, or a call was lost, 2 a flag can't be taken.
`)
}
