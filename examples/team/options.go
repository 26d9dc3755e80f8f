package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/pawlkit/pawl/examples/team/internal/crew"
	"github.com/pawlkit/pawl/examples/team/internal/standin"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
)

// defaultAddr is where the page is, unless another program is there.
const defaultAddr = "127.0.0.1:8080"

// Options are what a person who starts the program says.
type options struct {
	dir, db, addr string
	request       string
	yes           bool
	model         string
	pace          time.Duration
}

func readOptions(args []string, errs io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("team", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&o.dir, "dir", "", "the directory in which programs are built; empty: a new temporary one")
	flags.StringVar(&o.db, "db", "", "the file for conversations and plans, outside of -dir; empty: .pawl beside -dir")
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8080",
		"where to listen; keep it on this machine: nobody has to sign in")
	flags.StringVar(&o.request, "t", "", "a request; the terminal alone shows what comes of it, without a page")
	flags.BoolVar(&o.yes, "yes", false,
		"with -t: approve the plan, take the first answer to each question, allow what is asked once, give up if a "+
			"step is stuck")
	flags.StringVar(&o.model, "model", "", "what PAWL_MODEL is otherwise: standin, or a provider of the environment")
	flags.DurationVar(&o.pace, "pace", 8*time.Millisecond, "how fast the stand-in types: the time for a few letters")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("%q is no flag; a request is given with -t", flags.Arg(0))
	case o.yes && o.request == "":
		err = errors.New("-yes needs a request, which -t gives")
	case o.pace < 0:
		err = errors.New("-pace is negative")
	}
	if err != nil {
		fmt.Fprintln(errs, "team:", err)
	}
	return o, err
}

// place opens the directory, and says where things are.
func (o *options) place(out io.Writer) (*crew.Place, error) {
	if o.dir == "" {
		at, err := os.MkdirTemp("", "team-")
		if err != nil {
			return nil, err
		}
		o.dir = filepath.Join(at, "programs")
	}
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return nil, err
	}
	if o.db == "" {
		o.db = filepath.Join(filepath.Dir(dir), ".pawl", filepath.Base(dir)+".db")
	}
	if err := os.MkdirAll(filepath.Dir(o.db), 0o755); err != nil {
		return nil, fmt.Errorf("%w; choose another file with -db", err)
	}
	p, err := crew.Open(dir, o.db+"-work")
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "The programs are in     %s\nConversations are in    %s\n", p.Dir, o.db)
	if p.Notes != "" {
		fmt.Fprintln(out, "About the skills:        "+p.Notes)
	}
	if p.Goless != "" {
		fmt.Fprintln(out, "Nothing can be built: "+p.Goless)
	}
	return p, nil
}

// models sets the models of a team, and returns what to say about them.
func (o *options) models(getenv func(string) string, cfg *crew.Config) (about string, err error) {
	choose := getenv
	if o.model != "" {
		choose = func(name string) string {
			if name == fromenv.Variable {
				return o.model
			}
			return getenv(name)
		}
	}
	var p provider.Provider
	p, about, err = fromenv.From(choose)
	if errors.Is(err, fromenv.ErrNone) {
		cfg.Guide, cfg.Librarian, cfg.Engineer, cfg.Tester = standin.Models(o.pace)
		return standin.About, nil
	}
	cfg.Guide, cfg.Librarian, cfg.Engineer, cfg.Tester = p, p, p, p
	return "The model is " + about + ". The files, go build and go test are real.", err
}
