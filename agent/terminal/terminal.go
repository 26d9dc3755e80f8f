package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// The exit codes that [Run] returns.
const (
	CodeDone   = 0 // the run completed, or the person has quit
	CodeFailed = 1 // it failed, or was stopped: the error says why
	CodeWaits  = 3 // the session waits for a decision
)

// ErrInterrupted is the error after SIGTERM or SIGHUP, and after a second Ctrl-C while a run is in
// progress. The run is left as it is: live.Hub.Close pauses it, and the next process goes on.
var ErrInterrupted = fault.New(fault.Transient, "terminal: interrupted")

// A Config configures a conversation. The zero value is a new session at the process's terminal.
type Config struct {
	// Session names the conversation; empty: a new one, whose name begins with "s-".
	Session string
	// Prompt, if it isn't empty, is run, and that is all: Once is true.
	Prompt string
	// Once ends Run with the run, and asks nobody. Without a Prompt, it is the open run of the
	// session that goes on, for example after agent.Session.Decide.
	Once bool

	// Input is what all inputs have besides the session and the prompt: User, Mode, Labels, Limits.
	// Its User is who decides, too.
	Input agent.Input
	// Provider is that of the agent. The state line names its model before the first call, and says
	// how much of the model's window is used. nil: it says only what replies say.
	Provider provider.Provider
	// Commands are commands of the host, in addition to /help, /sessions, /undo, /output,
	// /mode and /quit.
	Commands []Command
	// Decide, if it isn't nil, is asked about each pause before the person is. The person decides
	// if ok is false, and from then on if a decision is refused.
	Decide func(p agent.Pause) (d agent.Decision, ok bool)
	// Plain is for people who don't know the tools: questions have no name, risk and input of a
	// tool, and the input can't be edited.
	Plain bool
	// Hidden are tools whose calls aren't shown, such as one that ends a turn with its answer.
	Hidden []string
	// In and Out replace the process's. They are used as a terminal if both are an *os.File that is
	// one; otherwise a line of In is a prompt, an answer, or the word or letter of a decision. Run
	// reads ahead. A read that is in progress when Run returns is ended if In has a SetReadDeadline
	// that works, and else takes what comes next.
	In  io.Reader
	Out io.Writer
}

// A Command is a command of the host.
type Command struct {
	Name string // what is typed after the slash: letters, digits, '-' and '_'
	Help string // what /help shows: "PAGE  shows a page"
	// Run carries it out. args is what follows the name. What it writes to w is shown as text,
	// without control characters, and so is its error. It must respect ctx, or be short.
	Run func(ctx context.Context, args string, w io.Writer) error
}

// Run leads a conversation with the agent of a hub until the person quits, and returns an exit code
// for the program. The error is nil unless the code is [CodeFailed]; then it isn't shown yet. A run
// that fails in the middle of a conversation is shown, and the conversation goes on.
//
// The end of ctx, SIGTERM and the end of the hub end Run, but not the run of the session. Run takes
// the process's SIGINT and SIGTERM, and makes a terminal raw. When it returns, the terminal is as
// it was. Only one Run may use a terminal at a time.
func Run(ctx context.Context, hub *live.Hub, cfg Config) (code int, err error) {
	if hub.Agent() == nil {
		return CodeFailed, &agent.ArgError{Func: "terminal.Run", Field: "hub",
			Problem: "it is nil; make one with live.New"}
	}
	for _, c := range cfg.Commands {
		if name, _, ok := command("/" + c.Name); !ok || name != c.Name || c.Run == nil {
			return CodeFailed, &agent.ArgError{Func: "terminal.Run", Field: "Config.Commands",
				Problem: fmt.Sprintf("a command %q can't be typed, or has no Run; a name has letters, digits, '-' and '_'",
					c.Name)}
		}
	}
	cfg.Session = cmp.Or(cfg.Session, newSession())
	cfg.Once = cfg.Once || cfg.Prompt != ""
	cfg.In, cfg.Out = cmp.Or(cfg.In, io.Reader(os.Stdin)), cmp.Or(cfg.Out, io.Writer(os.Stdout))
	u := &ui{cfg: cfg, hub: hub, keys: newKeyboard(cfg.In, cfg.Out), signals: make(chan os.Signal, 4),
		talk: talk{session: hub.Agent().Session(cfg.Session)}}
	u.out = newScreen(cfg.Out, u.keys.file != nil, hub.Agent().Tools())
	u.out.plain, u.out.hidden = cfg.Plain, cfg.Hidden
	signal.Notify(u.signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		signal.Notify(u.signals, syscall.SIGHUP)
	}
	defer signal.Stop(u.signals)
	defer func() { err = errors.Join(err, u.close()) }()
	if err := u.keys.hold(); err != nil {
		return CodeFailed, fmt.Errorf("terminal: %w", err)
	}
	u.out.raw(u.keys.file != nil)
	if !cfg.Once {
		u.keys.ready()
	}
	return u.main(ctx)
}

// close ends what Run has started, and gives the terminal back.
func (u *ui) close() error {
	u.out.endLine()
	u.out.draw("")
	u.out.raw(false)
	u.leaveSession()
	return u.keys.close()
}

// Reasons why a wait has ended.
var (
	errChanged   = errors.New("the session has changed")
	errInterrupt = errors.New("Ctrl-C")
	errQuit      = errors.New("quit")
)

// main does what comes next until the conversation is over.
func (u *ui) main(ctx context.Context) (int, error) {
	err := u.begin(ctx)
	for err == nil && u.out.failed == nil {
		switch {
		case len(u.unsent) > 0 && len(u.pending) == 0:
			text := u.unsent[0]
			u.unsent = u.unsent[1:]
			err = u.say(ctx, text)
		case u.running:
			err = u.follow(ctx)
			if errors.Is(err, errChanged) {
				err = u.look(ctx)
			}
		case len(u.pending) > 0:
			err = u.decide(ctx)
		case u.cfg.Once:
			var res *agent.Result
			if res, err = u.session.Result(ctx); err == nil {
				err = cmp.Or(res.Err(), errQuit)
			}
		default:
			u.stands(ctx)
			err = u.prompt(ctx, "> ")
		}
		switch {
		case errors.Is(err, errInterrupt):
			err = u.interrupted(ctx)
		case errors.Is(err, io.EOF) && u.running && u.keys.ended == nil, // Ctrl-D in a line that was begun
			errors.Is(err, errChanged):
			err = nil
		case errors.Is(err, io.EOF) && !u.running:
			err = errQuit
		}
	}
	if paused, ok := errors.AsType[*agent.PausedError](err); ok && len(paused.Pending) > 0 {
		u.out.note("The session waits for a decision, which comes first.")
		u.pending, err = paused.Pending, errQuit
	}
	switch {
	case u.out.failed != nil:
		return CodeFailed, fmt.Errorf("terminal: the output couldn't be written: %w", u.out.failed)
	case ctx.Err() != nil: // what it has interrupted may have said it in other words
		return CodeFailed, context.Cause(ctx)
	case !errors.Is(err, errQuit):
		return CodeFailed, err
	case len(u.pending) > 0:
		for i := range u.pending {
			u.describe(&u.pending[i])
		}
		u.out.line("The session %s waits for a decision.", u.cfg.Session)
		return CodeWaits, nil
	}
	return CodeDone, nil
}
