package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent"
)

//go:embed help.txt
var helpText string

// A program is one run of the program: what all commands have.
type program struct {
	journal, schema, as string

	store store
	agent *agent.Agent // that stands in for all
	out   printer
	warn  func(error) // of what a command goes on without
}

// An action is what a command does, after its flags were parsed.
type action func(ctx context.Context, p *program, args []string) error

// A command has its flags, and how many arguments it takes.
type command struct {
	least, most int
	set         func(*flag.FlagSet) action
}

var commands map[string]command

func init() { // completion reads it
	commands = map[string]command{
		"sessions": {0, 0, sessions}, "show": {1, 1, show}, "pending": {0, 0, pending},
		"approve": {1, 2, decide(func(id, _ string) agent.Decision { return agent.Approve(id) })},
		"reject":  {1, 2, decide(agent.Reject)},
		"cancel":  {0, 1, change(canceling)},
		"retry":   {0, 1, change(retrying)},
		"delete":  {0, 1, change(deleting)},
		"queue":   {0, 0, queue}, "dead": {0, 0, dead},
		"export": {1, 1, export}, "retain": {0, 0, retain}, "doctor": {0, 0, doctor},
		"migrate": {0, 0, migrate}, "completion": {1, 1, completion},
	}
}

var errUsage = errors.New(`run "pawl help"`)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program. What it finds goes to stdout, everything else to stderr. It returns the exit
// status.
func run(args []string, stdout, stderr io.Writer) (status int) {
	p := &program{out: printer{w: bufio.NewWriter(stdout)}}
	p.warn = func(err error) {
		fmt.Fprintln(stderr, "pawl:", err)
		if status = 1; errors.Is(err, errUsage) {
			status = 2
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := p.run(ctx, args)
	p.out.flush()
	if err = errors.Join(err, p.out.w.Flush()); err != nil { // it keeps the first error of writing
		p.warn(err)
	}
	return status
}

func (p *program) run(ctx context.Context, args []string) error {
	args = append(args, "help")[:max(len(args), 1)]
	name, args := args[0], args[1:]
	if name == "help" || name == "-h" || name == "-help" || name == "--help" {
		return p.help(strings.Join(args, " "))
	}
	c, ok := commands[name]
	if !ok {
		return fmt.Errorf("there is no command %q; %w", name, errUsage)
	}
	f := p.flags(name)
	do := c.set(f)
	rest, err := parse(f, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return p.help(name)
	case err != nil:
		return fmt.Errorf("%w; %w %s", err, errUsage, name)
	case len(rest) < c.least || len(rest) > c.most:
		return fmt.Errorf("%s has %d arguments, which is wrong; %w %s", name, len(rest), errUsage, name)
	}
	if name == "completion" {
		return do(ctx, p, rest)
	}
	if err := p.open(ctx, name == "migrate"); err != nil {
		return err
	}
	return errors.Join(do(ctx, p, rest), p.store.Close())
}

// flags returns the flags that all commands have.
func (p *program) flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // run prints the error
	f.StringVar(&p.journal, "journal", "", "the SQLite `file`, or a postgres:// address; else it is in PAWL_JOURNAL")
	f.StringVar(&p.schema, "schema", "pawl", "the `schema` in PostgreSQL")
	f.StringVar(&p.as, "as", whoami(), "the `name` of who decides")
	f.BoolVar(&p.out.json, "json", false, "print JSON lines instead of tables")
	return f
}

// whoami returns the name of the person at the system: also of one who has become another by sudo.
func whoami() string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return cmp.Or(os.Getenv("SUDO_USER"), name, os.Getenv("USER"), strconv.Itoa(os.Getuid()))
}

// parse parses flags before, between and after arguments.
func parse(f *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := f.Parse(args); err != nil || f.NArg() == 0 {
			return rest, err
		}
		rest, args = append(rest, f.Arg(0)), f.Args()[1:]
	}
}

// help prints the help on a command, or the program's.
func (p *program) help(name string) error {
	_, about, ok := strings.Cut(helpText, "== "+name+"\n")
	if !ok {
		return fmt.Errorf("there is no command %q; %w", name, errUsage)
	}
	about, _, _ = strings.Cut(about, "== ")
	fmt.Fprint(p.out.w, about)
	if c, ok := commands[name]; ok {
		fmt.Fprintf(p.out.w, "\nFlags of %s:\n", name)
		f := p.flags(name)
		c.set(f)
		f.SetOutput(p.out.w)
		f.PrintDefaults()
	}
	return nil
}
