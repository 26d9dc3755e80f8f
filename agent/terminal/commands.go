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
	"time"

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

// commands returns the commands of the host, and those that every conversation has.
func (u *ui) commands() []Command {
	all := append(slices.Clip(u.cfg.Commands),
		Command{"undo", " undoes what the last run has changed, as far as that is possible", u.undo},
		Command{"cost", " shows what the session has cost", u.cost},
		Command{"sessions", " lists the last sessions", u.sessions},
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
	err := all[i].Run(ctx, args, &b)
	if text := strings.TrimRight(clean(b.String()), "\n"); text != "" {
		u.out.line("%s", text)
	}
	return u.refused(ctx, err)
}

func (u *ui) help(_ context.Context, _ string, w io.Writer) error {
	fmt.Fprintln(w, "Type a request, or while a run is in progress a message for it. Commands:")
	for _, c := range u.commands() {
		fmt.Fprintf(w, "  /%s %s\n", c.Name, c.Help)
	}
	fmt.Fprintln(w, "Ctrl-C stops a run. A paste of several lines is one message.")
	return nil
}

func (u *ui) sessions(ctx context.Context, _ string, w io.Writer) error {
	fmt.Fprintln(w, "The last sessions:")
	for info, err := range u.hub.Agent().Sessions(ctx, agent.SessionFilter{Limit: 20}) {
		if err != nil {
			return err
		}
		here := " "
		if info.Session == u.cfg.Session {
			here = "*"
		}
		fmt.Fprintf(w, "%s %s  %-9s  %s  %s\n", here, info.Updated.Local().Format(time.DateTime), info.Status,
			info.Session, info.Title)
	}
	return nil
}

// undo undoes the last run and says what came of it.
func (u *ui) undo(ctx context.Context, _ string, w io.Writer) error {
	var r *machine.UndoReceipt
	err := u.hub.WhenReleased(ctx, u.cfg.Session, func() (err error) {
		r, err = u.session.Undo(ctx, agent.Rollback{User: u.cfg.Input.User})
		return err
	})
	calls := ""
	if err == nil {
		_, calls, _ = strings.Cut(r.Text(nil), "\n") // after what the model is told
	} else if !errors.Is(err, agent.ErrNothingOpen) {
		return err
	}
	fmt.Fprintln(w, cmp.Or(calls, "The last run changed nothing, or all of it is undone already."))
	return nil
}

// setMode sets the mode of the run in progress and of the next ones; without a name it shows it.
func (u *ui) setMode(ctx context.Context, name string, w io.Writer) error {
	all := u.hub.Agent().Modes()
	if name != "" && !slices.Contains(all, name) {
		return fmt.Errorf("unknown mode %q; there are %s", name, strings.Join(all, ", "))
	}
	info, _ := u.session.Info(ctx) // a new session has none
	mode := &u.cfg.Input.Mode
	*mode = cmp.Or(name, *mode)
	fmt.Fprintf(w, "mode: %s (of %s)\n", cmp.Or(*mode, info.Mode, all[0]), strings.Join(all, ", "))
	if name != "" && u.running {
		return u.session.SetMode(ctx, name)
	}
	return nil
}

func (u *ui) cost(ctx context.Context, _ string, w io.Writer) error {
	info, _ := u.session.Info(ctx) // a new session has none
	text := fmt.Sprintf("model calls: %d, cost: %v", info.Steps, info.Cost)
	if info.Unpriced {
		text += ", without those whose price isn't known"
	}
	fmt.Fprintln(w, text)
	return nil
}
