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
	name, args, _ = strings.Cut(text, " ")
	rest, slash := strings.CutPrefix(name, "/")
	if text == "quit" || text == "exit" || text == "?" {
		return map[string]string{"?": "help"}[text] + strings.TrimPrefix(text, "?"), "", true
	}
	plain := strings.Trim(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
	return rest, strings.TrimSpace(args), slash && plain && rest != ""
}

// mostListed is how many sessions /sessions lists.
const mostListed = 20

// command carries out a command. Its errors are shown.
func (u *ui) command(ctx context.Context, name, args string) error {
	var b bytes.Buffer
	err := error(nil)
	switch i := slices.IndexFunc(u.cfg.Commands, func(c Command) bool { return c.Name == name }); {
	case i >= 0:
		err = u.cfg.Commands[i].Run(ctx, args, &b)
	case name == "quit" || name == "exit":
		return errQuit
	case name == "help":
		u.help(&b)
	case name == "sessions":
		err = u.sessions(ctx, &b)
	case name == "undo":
		err = u.undo(ctx, &b)
	case name == "mode":
		err = u.setMode(ctx, args, &b)
	case name == "cost":
		err = u.cost(ctx, &b)
	default:
		fmt.Fprintf(&b, "Unknown command /%s. /help lists the commands.\n", name)
	}
	if text := strings.TrimRight(clean(b.String()), "\n"); text != "" {
		u.out.line("%s", text)
	}
	return u.refused(err)
}

func (u *ui) help(w io.Writer) {
	fmt.Fprint(w, "Type a request, or while a run is in progress a message for it. Commands:\n")
	for _, c := range u.cfg.Commands {
		fmt.Fprintf(w, "  /%s %s\n", c.Name, c.Help)
	}
	modes := ""
	if all := u.hub.Agent().Modes(); len(all) > 0 {
		modes = "\n  /mode [" + strings.Join(all, "|") + "]  shows or sets the mode"
	}
	fmt.Fprintf(w, `  /undo  undoes what the last run has changed, as far as that is possible%s
  /cost  shows what the session has cost
  /sessions  lists the last sessions
  /quit  ends the program, and so does Ctrl-D
Ctrl-C stops a run. A paste of several lines is one message.
`, modes)
}

func (u *ui) sessions(ctx context.Context, w io.Writer) error {
	for info, err := range u.hub.Agent().Sessions(ctx, agent.SessionFilter{Limit: mostListed}) {
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
	if b, ok := w.(*bytes.Buffer); ok && b.Len() == 0 {
		fmt.Fprintln(w, "There are no sessions.")
	}
	return nil
}

// undo undoes the last run and says what came of it.
func (u *ui) undo(ctx context.Context, w io.Writer) error {
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
	switch {
	case len(all) == 0:
		fmt.Fprintln(w, "This agent has no modes.")
		return nil
	case name != "" && !slices.Contains(all, name):
		fmt.Fprintf(w, "Unknown mode %q.\n", name)
	case name != "":
		u.mode = name
		if u.running {
			return u.session.SetMode(ctx, name)
		}
	}
	mode := u.mode
	if info, err := u.session.Info(ctx); mode == "" && err == nil {
		mode = info.Mode
	}
	fmt.Fprintf(w, "mode: %s (of %s)\n", cmp.Or(mode, all[0]), strings.Join(all, ", "))
	return nil
}

func (u *ui) cost(ctx context.Context, w io.Writer) error {
	info, err := u.session.Info(ctx)
	if err != nil {
		fmt.Fprintln(w, "Nothing was spent yet.")
		return nil
	}
	text := fmt.Sprintf("model calls: %d, cost: %v", info.Steps, info.Cost)
	if info.Unpriced {
		text += ", without those whose price isn't known"
	}
	fmt.Fprintln(w, text)
	return nil
}
