package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/examples/cms/internal/model"
)

// options are the program's arguments.
type options struct {
	prompt, mode, db, session, by string
	model                         string // what PAWL_MODEL is otherwise
	serverOptions
	yes, continues, verbose, json bool
	undo, openPage                bool
	expires                       time.Duration

	resume, decide, id, reason, input string

	approvals []string // what follows the command approvals; nil without it
}

// serverOptions are the command, besides approvals, and what its servers need.
type serverOptions struct {
	cmd                        string // one of the commands; empty: a flag says what to do
	addr, apiAddr, previewAddr string
	templates                  string
}

// decisions are the values of -decide.
var decisions = []string{"approve", "reject", "edit", "suggest", "always", "answer"}

func parseOptions(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("cms", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the caller prints the error
	f.StringVar(&o.prompt, "p", "", "run this `request` and exit")
	f.StringVar(&o.mode, "mode", "", "`mode`: cms-crud (the default), architect, debug or ask")
	f.StringVar(&o.db, "db", "cms.db", "`file` with the content and the runs")
	f.StringVar(&o.session, "session", "", "`name` of the session; a new one by default")
	f.BoolVar(&o.continues, "continue", false,
		"resume the interrupted run of the -session, or the run whose approval expired; without -session, all "+
			"interrupted runs")
	f.BoolVar(&o.yes, "yes", false, "approve every call that needs approval")
	f.DurationVar(&o.expires, "expires", 2*time.Minute, "how long an approval may take; 0 means no limit")
	f.BoolVar(&o.undo, "undo", false, "undo the changes of the last run of the -session")
	f.BoolVar(&o.json, "json", false, "print approvals, or the log of a session, as JSON")
	f.BoolVar(&o.openPage, "open", false, "open the page in a browser")
	f.StringVar(&o.resume, "resume", "", "decide the pending decision of this `session` as -decide says")
	f.StringVar(&o.decide, "decide", "",
		"`decision`: approve, reject, edit, suggest, always (approve, with a standing approval) or answer (for a "+
			"call that may have taken effect)")
	f.StringVar(&o.id, "id", "", "`id` of the decision; optional if there is only one")
	f.StringVar(&o.reason, "reason", "", "`text` for the agent: the reason of a rejection, or the suggestion")
	f.StringVar(&o.input, "input", "", "`JSON` for -decide edit (the new input) and answer (the call's result)")
	f.StringVar(&o.by, "by", "", "`name` of the person who asks or decides; the user's name by default")
	f.StringVar(&o.model, "model", "",
		"`choice` among the models of the environment: standin for the built-in one, openai, or openai/gpt-5 and the like; "+
			"by default what PAWL_MODEL says")
	f.BoolVar(&o.verbose, "v", false, "log to stderr")
	f.StringVar(&o.addr, "addr", "localhost:3000", "`address` of the page")
	f.StringVar(&o.apiAddr, "api", "localhost:8787", "`address` of the API")
	f.StringVar(&o.previewAddr, "preview", "localhost:4000", "`address` of the preview")
	f.StringVar(&o.templates, "templates", os.Getenv("TEMPLATE_DIR"),
		"`folder` with the templates of the preview; by default the built-in ones, or TEMPLATE_DIR")
	if err := o.parse(f, args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(f, stderr)
		} else {
			err = fmt.Errorf("%w; -h lists the flags", err)
		}
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q isn't a flag; a request goes after -p, in quotes", f.Arg(0))
	}
	if err := o.check(f); err != nil {
		return o, err
	}
	if o.session == "" && (o.prompt != "" || o.cmd == cmdChat) {
		o.session = "s-" + strings.ToLower(rand.Text()[:10])
	}
	if o.by == "" {
		o.by = cmp.Or(os.Getenv("USER"), os.Getenv("USERNAME"), "you")
	}
	return o, nil
}

// parse reads the flags. They may be before and after a command, and after approvals anywhere.
func (o *options) parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil {
		return err
	}
	if slices.Contains(commands, f.Arg(0)) {
		o.cmd = f.Arg(0)
		return f.Parse(f.Args()[1:])
	}
	if f.Arg(0) != "approvals" {
		return nil
	}
	o.approvals = []string{}
	for rest := f.Args()[1:]; len(rest) > 0; {
		if err := f.Parse(rest); err != nil {
			return err
		}
		if rest = f.Args(); len(rest) > 0 {
			o.approvals, rest = append(o.approvals, rest[0]), rest[1:]
		}
	}
	return f.Parse(nil)
}

// check returns an error for invalid flags and combinations.
func (o *options) check(f *flag.FlagSet) error {
	given := func(name string) (ok bool) {
		f.Visit(func(f *flag.Flag) { ok = ok || f.Name == name })
		return ok
	}
	flags := count(given("p"), given("resume"), o.continues, o.undo)
	if o.cmd == "" && o.approvals == nil && flags == 0 {
		if given("session") || given("decide") || given("id") || given("input") || given("reason") {
			return errors.New(
				"-session needs a command, -p, -continue or -undo; -decide, -id, -reason and -input need -resume " +
					"with a session")
		}
		o.cmd = cmdServe
	}
	switch {
	case given("p") && strings.TrimSpace(o.prompt) == "":
		return errors.New("-p needs a request")
	case o.mode != "" && !slices.Contains(modeNames(), o.mode):
		return fmt.Errorf("unknown mode %q; the modes are %s", o.mode, strings.Join(modeNames(), ", "))
	case o.expires < 0:
		return errors.New("-expires can't be negative; 0 means no limit")
	case given("session") && o.session == "":
		return errors.New("-session needs a name")
	case o.cmd != "" && flags > 0:
		return fmt.Errorf("%s can't be combined with -p, -resume, -continue and -undo", o.cmd)
	case o.cmd != "" && o.cmd != cmdChat && o.cmd != cmdHistory && given("session"):
		return fmt.Errorf("%s takes no -session", o.cmd)
	case o.cmd != cmdServe && (given("addr") || given("api") || o.openPage) || o.cmd != cmdServe &&
		o.cmd != cmdPreview && given("preview"):
		return errors.New("-addr, -api, -preview and -open are for serve and preview")
	case o.approvals != nil:
		return o.checkApprovals(given)
	case flags > 1:
		return errors.New("only one of -p, -resume, -continue and -undo can be given")
	case o.undo && o.session == "":
		return errors.New("-undo needs a -session")
	case o.json && (o.cmd != cmdHistory || o.session == ""):
		return errors.New("-json is for approvals, and for history with a -session")
	case o.mode != "" && (o.continues || o.resume != ""):
		return errors.New("-mode is for new requests; a resumed run keeps its mode")
	case given("resume") && o.resume == "":
		return errors.New("-resume needs a session")
	case o.resume != "" && o.session != "" && o.session != o.resume:
		return errors.New("-session and -resume name different sessions")
	case o.resume == "" && (o.decide != "" || o.id != "" || o.input != "" || o.reason != ""):
		return errors.New("-decide, -id, -reason and -input need -resume with a session")
	case o.resume != "" && !slices.Contains(decisions, o.decide):
		return fmt.Errorf("-resume needs -decide with one of %s", strings.Join(decisions, ", "))
	}
	if o.resume != "" {
		o.session = o.resume
	}
	return o.checkDecision()
}

// checkDecision returns an error if a decision is incomplete.
func (o *options) checkDecision() error {
	switch {
	case (o.decide == "edit" || o.decide == "answer") && o.input == "":
		return fmt.Errorf("%s needs -input", o.decide)
	case o.decide == "edit" || o.decide == "answer":
		return checkJSON(o.input)
	case o.decide == "suggest" && o.reason == "":
		return errors.New("suggest needs -reason: what to do instead")
	}
	return nil
}

// count returns how many of the claims are true.
func count(claims ...bool) (n int) {
	for _, c := range claims {
		if c {
			n++
		}
	}
	return n
}

// checkJSON returns an error that shows where the value of -input stops being JSON.
func checkJSON(input string) error {
	var value any
	err := json.Unmarshal([]byte(input), &value)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		read := []rune(strings.ToValidUTF8(input[:min(int(syntax.Offset), len(input))], "\uFFFD"))
		return fmt.Errorf("-input isn't valid JSON: %w, after %s", err, string(read[max(0, len(read)-30):]))
	}
	if err != nil {
		return fmt.Errorf("-input isn't valid JSON: %w", err)
	}
	return nil
}

func usage(f *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, `cms is an agent that maintains a small website in a SQLite file.

  cms [serve] [-open] [-addr ADDRESS] [-api ADDRESS] [-preview ADDRESS]
                          serves the page, the REST API and the preview
  cms -p "Create an About page with a hero section titled Hello"
  cms chat [-session SESSION]
                          asks for requests in the terminal; /help lists the commands
  cms -resume SESSION -decide approve|reject|edit|suggest|always|answer [-id ID] [-reason TEXT] [-input JSON]
  cms -continue [-session SESSION]
  cms -undo -session SESSION
  cms history             lists the sessions
  cms history -session SESSION [-json]
                          prints the conversation, or with -json the whole log
  cms preview [-preview ADDRESS] [-templates FOLDER]
                          serves the preview alone
  cms seed                replaces the contents by those of a new site
  cms reset               deletes the file, with the conversations, and the uploads
  cms export              prints all contents as JSON
  cms approvals [-json]   lists the pending decisions of all sessions
  cms approvals approve|reject|edit|suggest|always|answer ID [-reason TEXT] [-input JSON]
  cms approvals rules     lists the standing approvals
  cms approvals revoke TOOL [-session SESSION]

`)
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprintf(w, `
The model is %s.
%s

Exit status: 0 the run completed, 1 it failed, 2 invalid arguments (a flag, or a decision that is unknown, used or too
late), 3 it waits for a decision, 4 it was stopped by a limit, or interrupted by Ctrl-C or SIGTERM.
`, model.Label, model.Help())
}

// self returns the command that runs the program.
func self() string {
	if strings.Contains(os.Args[0], "go-build") {
		return "go run ./examples/cms"
	}
	return quoted(os.Args[0])
}

// quoted quotes an argument for a shell.
func quoted(arg string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:=@", r)
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !plain(r) }) < 0 {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
