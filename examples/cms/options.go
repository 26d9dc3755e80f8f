package main

import (
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
	"github.com/pawlkit/pawl/tools/web"
)

// The commands. Without one the program serves, unless -p is given.
const (
	cmdServe, cmdChat, cmdPrompt             = "serve", "chat", "-p"
	cmdHistory, cmdExport, cmdSeed, cmdReset = "history", "export", "seed", "reset"
)

// Options are what a person who starts the program says.
type options struct {
	command                        string
	addr, api, preview             string
	db, hosts, templates           string
	embeddings, embeddingModel     string
	prompt, mode, session, modelIs string
	yes, openPage, asLog           bool
	expires                        time.Duration

	chosen
}

// A chosen is what was made of the options and the environment.
type chosen struct {
	model     provider.Provider
	standIn   bool
	about     string   // one line about the model
	fetchFrom []string // hosts
	fetcher   *web.Fetcher
	finding   []site.Option // the embedder of a provider
}

func readOptions(args []string, getenv func(string) string, errs io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("cms", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the caller prints the error
	f.Usage = func() { usage(f, errs) }
	f.StringVar(&o.prompt, "p", "", "carry out this request, and end")
	f.StringVar(&o.session, "session", "", "the session; empty: a new one")
	f.StringVar(&o.mode, "mode", "", "the mode: Edit, Plan, Debug or Ask; empty: Edit")
	f.BoolVar(&o.yes, "yes", false, "approve every call that needs approval")
	f.DurationVar(&o.expires, "expires", 2*time.Minute, "how long an approval may take; 0: without limit")
	f.StringVar(&o.modelIs, "model", "", "what PAWL_MODEL is otherwise: standin, or a provider of the environment")
	f.BoolVar(&o.openPage, "open", false, "open the page in a browser")
	f.BoolVar(&o.asLog, "json", false, "with history: the whole log of the session, as lines of JSON")
	settings := o.settings(getenv)
	for _, s := range settings {
		f.StringVar(s.value, s.flag, s.otherwise, s.about+" ("+strings.Join(s.variables, ", ")+")")
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if slices.Contains([]string{cmdServe, cmdChat, cmdHistory, cmdExport, cmdSeed, cmdReset}, f.Arg(0)) {
		o.command = f.Arg(0)
		if err := f.Parse(f.Args()[1:]); err != nil {
			return nil, err
		}
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is no command and no flag; a request goes after -p, in quotes", f.Arg(0))
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return o, errors.Join(o.check(given), readSettings(settings, given, getenv), o.chooseModel(getenv))
}

// check finds the command, and says what doesn't fit it.
func (o *options) check(given map[string]bool) error {
	switch {
	case given["p"] && o.command != "":
		return fmt.Errorf("-p can't be combined with %s", o.command)
	case given["p"]:
		o.command = cmdPrompt
	case o.command == "":
		o.command = cmdServe
	}
	mode, known := cmstools.ModeNamed(o.mode)
	switch {
	case o.command == cmdPrompt && strings.TrimSpace(o.prompt) == "":
		return errors.New("the request of -p is empty")
	case o.mode != "" && !known:
		return fmt.Errorf("unknown mode %q; there are Edit, Plan, Debug and Ask", o.mode)
	case o.session == "" && o.command != cmdHistory:
		o.session = "s-" + strings.ToLower(rand.Text()[:10])
	}
	o.mode = mode.Name
	return nil
}

// chooseModel takes the model that the environment names, else the script.
func (o *options) chooseModel(getenv func(string) string) error {
	m, about, err := fromenv.From(func(name string) string {
		if name == fromenv.Variable && o.modelIs != "" {
			return o.modelIs
		}
		return getenv(name)
	})

	o.model, o.about = m, "The model is "+about+"."
	if o.standIn = errors.Is(err, fromenv.ErrNone); o.standIn {
		o.model, o.about, err = model.New(), model.About, nil
		if o.fetcher != nil { // one of its scenarios reads where nobody answers
			o.fetcher, err = web.NewFetcher(web.FetchConfig{Hosts: append(o.fetchFrom, model.NobodyAnswers),
				Private: []netip.Addr{netip.MustParseAddr("127.0.0.1")}})
		}
	}
	return err
}

func usage(f *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, `cms is an assistant that edits a small website by chat. Its commands are:

  serve     serves the page, the API and the preview; without a command, too
  chat      asks for requests in the terminal; /help lists its commands
  history   lists the sessions, or prints the -session
  export    prints all contents as JSON
  seed      replaces the contents by those of a new site
  reset     deletes the file, with the conversations, and the uploads

`)
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprintln(w, "\nExit codes: 0 done, 1 failed, 2 it can't start like this, 3 it waits for a decision.")
}
