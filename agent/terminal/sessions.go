package terminal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/agent"
)

// archived is the label of the sessions that are left out of the list.
var archived = agent.Label("archived", "yes")

const sessionsHelp = "[new|find WORD|open N|rename N TITLE|archive N|fork N|delete N]  the last sessions"

// sessions lists the last sessions, or does something with one of them.
func (u *ui) sessions(ctx context.Context, args string, w io.Writer) error {
	verb, rest, _ := strings.Cut(args, " ")
	if _, err := strconv.Atoi(verb); err == nil {
		verb, rest = "open", verb
	}
	rest = strings.TrimSpace(rest)
	number, title, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(number)
	switch {
	case verb == "" || verb == "find":
		return u.list(ctx, rest, w)
	case verb == "new":
		return u.open(ctx, newSession())
	case !slices.Contains([]string{"open", "rename", "archive", "fork", "delete"}, verb):
		return fmt.Errorf("there is no %q; use /sessions %s", verb, sessionsHelp)
	case err != nil || n < 1 || n > len(u.listed):
		fmt.Fprintf(w, "Say which one, by its number in this list: /sessions %s N\n", verb)
		return u.list(ctx, "", w)
	}
	info := u.listed[n-1]
	s := u.hub.Agent().Session(info.Session)
	if _, err := s.Info(ctx); errors.Is(err, agent.ErrNothingOpen) {
		return fmt.Errorf("session %d was deleted", n)
	}
	switch verb {
	case "open":
		return u.open(ctx, info.Session)
	case "rename":
		err = s.SetTitle(ctx, strings.TrimSpace(title))
	case "archive": // or back
		err = s.SetLabel(ctx, archived.Key, map[string]string{"": archived.Value}[info.Labels[archived.Key]])
	case "fork":
		name := newSession()
		title = "Copy of " + short(titleOf(&info), 100)
		if err = cmp.Or(s.Fork(ctx, name, 0), u.hub.Agent().Session(name).SetTitle(ctx, title)); err == nil {
			u.out.note("This is the copy. What the original has changed is undone there.")
			return u.open(ctx, name)
		}
	case "delete":
		u.out.line("Delete %q, for ever?", titleOf(&info))
		if i, _, err := u.choose(ctx, []choice{yes, no}, ""); err != nil || i > 0 {
			return err
		}
		err = s.Delete(ctx)
		if err == nil && info.Session == u.cfg.Session {
			return u.open(ctx, newSession())
		}
	}
	if err != nil {
		return err
	}
	return u.list(ctx, "", w)
}

// newSession returns a name for a session.
func newSession() string { return "s-" + strings.ToLower(rand.Text()[:10]) }

// titleOf returns what a person knows a session by.
func titleOf(info *agent.SessionInfo) string { return short(cmp.Or(info.Title, info.Session), 200) }

// list prints the last sessions, or with a word those whose titles have it, also of the archive.
func (u *ui) list(ctx context.Context, word string, w io.Writer) error {
	filter := agent.SessionFilter{Owner: u.cfg.Input.Owner, Without: archived}
	if word != "" {
		filter.Without.Key = ""
	}
	u.listed = nil
	for info, err := range u.hub.Agent().Sessions(ctx, filter) {
		here, status := ' ', string(info.Status)
		switch {
		case err != nil && info.Session == "":
			return err
		case err != nil || !strings.Contains(strings.ToLower(titleOf(&info)), strings.ToLower(word)):
			continue
		case info.Pending > 0:
			status = "waits"
		case info.Labels[archived.Key] == archived.Value:
			status = "archived"
		}
		if info.Session == u.cfg.Session {
			here = '*'
		}
		u.listed = append(u.listed, info)
		fmt.Fprintf(w, "%c%3d  %-9s  %-6s  %s\n", here, len(u.listed), status, money(info.Cost, info.Unpriced),
			short(titleOf(&info), max(u.out.width-32, 20)))
		if len(u.listed) == 20 {
			break
		}
	}
	if len(u.listed) == 0 {
		fmt.Fprintln(w, "There are no such sessions.")
	}
	return nil
}

// open continues the conversation in another session. A run in this one goes on.
func (u *ui) open(ctx context.Context, name string) error {
	if u.running {
		u.out.note("The run here goes on; /sessions finds it.")
	}
	u.leaveSession()
	u.cfg.Session, u.cfg.Input.Mode, u.out.calls = name, "", nil
	u.talk = talk{session: u.hub.Agent().Session(name)}
	res, err := u.session.Result(ctx)
	if err == nil && len(res.Messages) > 0 && res.Status != agent.Running { // what was said last
		u.heard(res.Messages[0].Text())
		u.out.say("text", "", res.Text())
	}
	return u.begin(ctx)
}
