package terminal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// command splits a command. What begins with a slash may be a sentence, about a path for example.
func command(text string) (name, args string, ok bool) {
	switch text {
	case "quit", "exit", "/exit":
		text = "/quit"
	case "?":
		text = "/help"
	}
	name, args, _ = strings.Cut(text, " ")
	name, slash := strings.CutPrefix(name, "/")
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
	return name, strings.TrimSpace(args), slash && plain && name != ""
}

// inSession is the key of the context's value for [SessionOf].
type inSession struct{}

// SessionOf returns the session in which a [Command] was given, from the context of its Run; a
// conversation may go on in another session. It is empty for other contexts.
func SessionOf(ctx context.Context) string {
	name, _ := ctx.Value(inSession{}).(string)
	return name
}

// commands returns the commands of the host, and those that every conversation has.
func (u *ui) commands() []Command {
	all := append(slices.Clip(u.cfg.Commands),
		Command{"undo", " undoes the last changes, those of one run, after a question", u.undo},
		Command{"output", outputHelp, u.output},
		Command{"sessions", sessionsHelp, u.sessions},
		Command{"help", " lists the commands", u.help},
		Command{"quit", " ends the program, and so does Ctrl-D",
			func(context.Context, string, io.Writer) error { return errQuit }})
	if modes := u.hub.Agent().Modes(); len(modes) > 0 {
		all = append(all, Command{"mode", "[" + strings.Join(modes, "|") + "]  shows or sets the mode", u.setMode})
	}
	return all
}

// command carries out a command. Its errors are shown.
func (u *ui) command(ctx context.Context, name, args string) error {
	all := u.commands()
	i := slices.IndexFunc(all, func(c Command) bool { return c.Name == name })
	if i < 0 {
		u.out.line("Unknown command /%s. /help lists the commands.", name)
		return nil
	}
	var b bytes.Buffer
	err := all[i].Run(context.WithValue(ctx, inSession{}, u.cfg.Session), args, &b)
	if text := strings.TrimRight(clean(b.String()), "\n"); text != "" {
		u.out.line("%s", text)
	}
	if errors.Is(err, errInterrupt) || errors.Is(err, io.EOF) && u.keys.ended == nil { // at a question of a command
		u.out.note("Nothing was done.")
		return nil
	}
	return u.refused(ctx, err)
}

func (u *ui) help(_ context.Context, _ string, w io.Writer) error {
	fmt.Fprintln(w, "Type a request, or while a run is in progress a message for it. Commands:")
	for _, c := range u.commands() {
		fmt.Fprintf(w, "  /%s %s\n", c.Name, c.Help)
	}
	fmt.Fprintln(w, "Esc or Ctrl-C stops a run. Alt-Enter or Ctrl-J begins a new line.")
	fmt.Fprintln(w, "A paste of several lines is one message.")
	return nil
}

// undo says what it would undo of the last run that has something to undo, and what stays of that
// and of later ones, asks, and says what came of it.
func (u *ui) undo(ctx context.Context, _ string, _ io.Writer) error {
	facts, err := u.session.Facts(ctx)
	would, stays := new(machine.UndoReceipt), []machine.UndoneCall(nil)
	for i := len(facts) - 1; i >= 0 && len(would.Undone) == 0 && err == nil; i-- {
		run, ok := facts[i].(*agent.RunStarted)
		if ok && len(machine.EffectsOf(facts, run.Run(), 0).Calls) > 0 {
			would, err = u.rollback(ctx, run.Run(), true)
			stays = append(stays, would.Stays()...)
		}
	}
	if err != nil {
		return err
	} else if len(would.Undone) == 0 {
		u.calls("Nothing is left that can be undone.", stays)
		return nil
	}
	u.calls("To undo, the newest first:", append(would.Undone, stays...))
	if i, _, err := u.choose(ctx, []choice{yes, no}, ""); err != nil || i > 0 {
		return err
	}
	done, err := u.rollback(ctx, would.Run, false)
	if err == nil {
		u.calls("Undone:", append(done.Undone, done.Stays()...))
	}
	return err
}

// rollback undoes a run, or says what it would undo. What it returns isn't nil.
func (u *ui) rollback(ctx context.Context, run string, dry bool) (*machine.UndoReceipt, error) {
	var r *machine.UndoReceipt
	_, err := u.free(ctx, func() (err error) {
		r, err = u.session.Undo(ctx, agent.Rollback{Run: run, User: u.cfg.Input.User, DryRun: dry})
		return err
	})
	return cmp.Or(r, new(machine.UndoReceipt)), err
}

func (u *ui) calls(title string, list []machine.UndoneCall) {
	u.out.line("%s", title)
	for _, c := range list {
		u.out.line("  %s%s", u.out.title(c.Call), strings.TrimSuffix(" stays: "+clean(c.Why), " stays: "))
	}
}

// setMode sets the mode of the run in progress and of the next ones; without a name it shows it.
func (u *ui) setMode(ctx context.Context, name string, w io.Writer) error {
	all := u.hub.Agent().Modes()
	if name != "" && !slices.Contains(all, name) {
		return fmt.Errorf("unknown mode %q; there are %s", name, strings.Join(all, ", "))
	}
	if name != "" {
		u.cfg.Input.Mode = name
		if err := u.session.SetMode(ctx, name); err != nil && !errors.Is(err, agent.ErrNothingOpen) {
			return err
		}
	}
	fmt.Fprintf(w, "mode: %s (of %s)\n", u.inMode(), strings.Join(all, ", "))
	return nil
}
