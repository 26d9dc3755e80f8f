package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/examples/coder/internal/standin"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
)

// defaultAddr is where the page is, unless another program is there.
const defaultAddr = "127.0.0.1:8080"

// Options are what a person who starts the program says.
type options struct {
	dir, db, addr     string
	mode, prompt      string
	session           string
	model, rules, mcp string
	goOn, web, acp    bool
	jail              jail
	pace              time.Duration

	scripted provider.Provider // of tests, in place of all others
}

// A jail is what -jail says.
type jail string

func (j *jail) String() string   { return string(*j) }
func (j *jail) IsBoolFlag() bool { return true }

func (j *jail) Set(s string) error {
	switch s {
	case "true", coding.JailTry:
		*j = coding.JailTry
	case coding.JailMust:
		*j = coding.JailMust
	case "false":
		*j = ""
	default:
		return errors.New("give -jail or -jail=must")
	}
	return nil
}

var modes = []string{"plan", "ask", "edits", "auto"}

func readOptions(args []string, errs io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("coder", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&o.dir, "dir", "", "the folder to work in; empty: a small repository in a new temporary one")
	flags.StringVar(&o.mode, "mode", "", "what is permitted unasked: plan (nothing changes), ask, edits or auto; "+
		"empty: as the session was, and ask at first")
	flags.StringVar(&o.prompt, "p", "", "a request; what comes of it is printed, and nobody is asked")
	flags.StringVar(&o.session, "session", "", "the session to continue, or the name of a new one")
	flags.BoolVar(&o.goOn, "c", false, "continue the last session of the folder")
	flags.BoolVar(&o.web, "web", false, "show it on a page of this computer, too")
	flags.StringVar(&o.addr, "addr", defaultAddr, "with -web: where the page is; an address of this computer")
	flags.BoolVar(&o.acp, "acp", false, "speak the Agent Client Protocol, for editors, on standard input and output")
	flags.StringVar(&o.rules, "rules", "", "a file of rules instead of those that are built in")
	flags.StringVar(&o.mcp, "mcp", "", "a file with servers of MCP")
	flags.Var(&o.jail, "jail", "run programs in bubblewrap: they read no home, and have no network; where that doesn't "+
		"work, they ask, and with -jail=must it is an error")
	flags.StringVar(&o.db, "db", "", "the file for conversations, outside of -dir; empty: in the user's settings")
	flags.StringVar(&o.model, "model", "", "what PAWL_MODEL is otherwise: standin, or a provider of the environment")
	flags.DurationVar(&o.pace, "pace", 8*time.Millisecond, "how fast the stand-in types: the time for a word")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	empty := false
	flags.Visit(func(f *flag.Flag) { empty = empty || f.Name == "p" && strings.TrimSpace(o.prompt) == "" })
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("%q is no flag; a request is given with -p", flags.Arg(0))
	case empty:
		err = errors.New("the request of -p is empty")
	case o.mode != "" && !slices.Contains(modes, o.mode):
		err = fmt.Errorf("unknown mode %q; there are %s", o.mode, strings.Join(modes, ", "))
	case o.prompt != "" && (o.web || o.acp):
		err = errors.New("-p goes with neither -web nor -acp: it ends by itself")
	case o.goOn && o.session != "":
		err = errors.New("-c and -session both name a session")
	case o.acp && (o.goOn || o.session != "" || o.mode != "" || o.db != ""):
		err = errors.New("with -acp, the editor chooses sessions and modes, and each folder has its own file for " +
			"conversations: leave -c, -session, -mode and -db out")
	case o.addr != defaultAddr && !o.web:
		err = errors.New("-addr needs -web")
	case o.pace < 0:
		err = errors.New("-pace is negative")
	}
	if err != nil {
		fmt.Fprintln(errs, "coder:", err)
	}
	return o, err
}

// open opens a folder; "": that of -dir, or the small repository.
func (o *options) open(dir string, getenv func(string) string, out io.Writer) (*coding.Coder, error) {
	cfg := coding.Config{Dir: cmp.Or(dir, o.dir), DB: o.db, Rules: o.rules, Own: []string{o.rules, o.mcp},
		Jail: string(o.jail), Recover: o.web || o.acp}
	var err error
	if o.mcp != "" {
		if cfg.Servers, err = coding.ReadServers(o.mcp); err != nil {
			return nil, err
		}
	}
	about := ""
	if cfg.Model, about, err = o.provider(getenv); err != nil {
		return nil, err
	}
	if cfg.Dir == "" {
		if cfg.Dir, err = unpack(); err != nil {
			return nil, err
		}
		if cfg.DB == "" {
			o.db = filepath.Join(filepath.Dir(cfg.Dir), "conversations", "runs.db")
			cfg.DB = o.db
		}
	}
	if cfg.DB == "" {
		if cfg.DB, err = place(cfg.Dir); err != nil {
			return nil, err
		}
	}
	c, err := coding.Open(cfg)
	if err != nil {
		return nil, err
	}
	if c.NoJail != "" {
		fmt.Fprintln(out, c.NoJail)
	}
	fmt.Fprintf(out, "%s\nThe folder is %s\n", about, c.Dir)
	for _, note := range c.Notes {
		fmt.Fprintln(out, note)
	}
	return c, nil
}

// provider returns the model, and a line that says which one it is.
func (o *options) provider(getenv func(string) string) (p provider.Provider, about string, err error) {
	if o.scripted != nil {
		return o.scripted, "The model is a script.", nil
	}
	p, about, err = fromenv.From(func(name string) string {
		if name == fromenv.Variable && o.model != "" {
			return o.model
		}
		return getenv(name)
	})

	if errors.Is(err, fromenv.ErrNone) {
		return standin.New(o.pace), standin.About, nil
	}
	return p, "The model is " + about + ".", err
}

// unpack writes the small repository into a new folder.
func unpack() (string, error) {
	at, err := os.MkdirTemp("", "coder-")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(at, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	return dir, standin.Unpack(dir)
}

// place returns where the conversations of a folder are.
func place(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("%w; name a folder that exists with -dir", err)
	}
	at, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("%w; say with -db where conversations are kept", err)
	}
	name := fmt.Sprintf("%s-%x", filepath.Base(dir), sha256.Sum256([]byte(dir)))
	return filepath.Join(at, "pawl-coder", name[:len(filepath.Base(dir))+11], "runs.db"), nil
}
