package team

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// Run drives the work of the members, and tells the conversations of lead how it has ended and what
// it asks, until ctx ends. What was missed is done next time, in this or another process; several
// processes may call Run with the same journals. When it returns, runs that it has begun go on in
// the hubs of the members until these are closed. The error is an *[agent.ArgError]; nil when ctx
// has ended.
func (t *Team) Run(ctx context.Context, lead *live.Hub) error {
	if t == nil {
		return errNoTeam
	}
	if lead.Agent() == nil {
		return &agent.ArgError{Field: "lead", Problem: "it is nil; make one with live.New"}
	}
	loop := due.New(due.Config{List: t.due, Drive: t.drive, Interval: t.cfg.Every, Parallel: t.cfg.Parallel,
		Logger: t.cfg.Logger})
	loop.Start(ctx)
	defer loop.Stop()
	tick := time.NewTicker(t.cfg.Every)
	defer tick.Stop()
	for known := map[string]*conversation(nil); ctx.Err() == nil; {
		known = t.tendAll(ctx, lead, known)
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-t.wake:
			loop.Poke("")
		}
	}
	return nil
}

// look has Run look at once.
func (t *Team) look() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// due yields the work that waits for its turn, that was decided on, whose time to decide is over,
// or whose process has died.
func (t *Team) due(ctx context.Context) iter.Seq2[due.Item, error] {
	return func(yield func(due.Item, error) bool) {
		list, err := t.list(ctx, open)
		if err != nil {
			yield(due.Item{}, err)
		}
		for i := range list {
			at, isDue := due.Since(&list[i].head, time.Now())
			if isDue && !list[i].ended() && !yield(due.Item{Session: list[i].Session, Since: at}, nil) {
				return
			}
		}
	}
}

var open = journal.Filter{Label: journal.Label{Key: labelWork, Value: untold}}

// drive drives a piece of work until its run ends or pauses.
func (t *Team) drive(ctx context.Context, session string) error {
	m := t.cfg.Members[workOf(journal.Head{Session: session}, Member{}).Member]
	started, err := m.Hub.Start(ctx, agent.Continue(session))
	switch {
	case errors.Is(err, agent.ErrNothingOpen), errors.As(err, new(*agent.PausedError)):
		return nil
	case errors.Is(err, agent.ErrBusy), errors.Is(err, agent.ErrDraining), errors.Is(err, live.ErrClosed):
		return due.ErrLater
	case err != nil:
		return err
	}
	select {
	case <-started.Done:
		t.look()
	case <-ctx.Done():
	}
	return nil
}

// A conversation is what is known of a session of the lead.
type conversation struct {
	journal.Head
	agent   string
	run     string            // the newest
	cost    provider.Money    // of that
	limit   provider.Money    // for that; negative for none
	users   map[string]string // for whom runs work
	stopped map[string]bool   // runs that were stopped with their work, and those before them
}

// read reads what is known of a conversation. It returns nil if lead doesn't have it, because
// another team has the same members.
func read(ctx context.Context, lead *agent.Agent, session string, known *conversation) (*conversation, error) {
	head, err := lead.Journal().Head(ctx, session)
	if errors.Is(err, journal.ErrNoSession) {
		return nil, nil
	}
	if err != nil || known != nil && known.Seq == head.Seq && known.Created.Equal(head.Created) {
		if known != nil {
			known.Head = head
		}
		return known, err
	}
	c := &conversation{Head: head, users: make(map[string]string), stopped: make(map[string]bool)}
	facts, err := lead.Session(session).Facts(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		switch f := f.(type) {
		case *machine.Snapshot: // what came before may be pruned
			if r := f.State.Run; r != nil {
				c.run, c.agent, c.users[r.ID], c.limit = r.ID, r.Agent, r.User, r.Limits.Cost
				c.end(r.Status, r.Code, r.Reason)
			}
		case *agent.RunStarted:
			c.run, c.agent, c.users[f.Run()], c.limit = f.Run(), f.Agent(), f.User, f.Limits.Cost
		case *machine.ModeChanged:
			if f.Limits != nil {
				c.limit = f.Limits.Cost
			}
		case *agent.RunEnded:
			c.end(f.Status, f.Code, f.Reason)
		}
	}
	res, err := lead.Session(session).Result(ctx)
	if err == nil && c.agent == lead.Name() {
		c.cost = res.Cost
		return c, nil
	}
	return nil, err
}

// end notes how the newest run has ended. If a person has stopped it, or it has cost what it may,
// its work is stopped, too.
func (c *conversation) end(status agent.Status, code, reason string) {
	if status == agent.Stopped && (code == machine.CodeCanceled || code == machine.CodeHost ||
		code == machine.CodeLimit && strings.Contains(reason, "Limits."+machine.LimitCost+" ")) {
		for run := range c.users {
			c.stopped[run] = true
		}
	}
}

// tendAll tends all conversations that have work of whose end they haven't been told. It takes and
// returns what is known of them.
func (t *Team) tendAll(ctx context.Context, lead *live.Hub, known map[string]*conversation) map[string]*conversation {
	list, err := t.list(ctx, open)
	all, now := make(map[string][]Work), make(map[string]*conversation)
	for _, w := range list {
		all[w.head.Parent] = append(all[w.head.Parent], w)
	}
	for session, list := range all {
		var c *conversation
		if c, err = read(ctx, lead.Agent(), session, known[session]); c != nil && err == nil {
			now[session] = c
			err = t.tend(ctx, lead, c, list)
		}
		if err != nil && ctx.Err() == nil {
			t.cfg.Logger.WarnContext(ctx, "team: work of a conversation", "session", session, "error", err)
		}
	}
	return now
}

// tend stops the work of a conversation, or tells the lead how it has ended or what it asks.
func (t *Team) tend(ctx context.Context, lead *live.Hub, c *conversation, list []Work) error {
	over, err := over(ctx, c, list)
	for i := 0; i < len(list) && err == nil; i++ {
		if w := &list[i]; !w.ended() && (over || c.stopped[w.head.Labels[labelRun]]) {
			err = w.hub.Cancel(ctx, w.Session)
		}
		if errors.Is(err, agent.ErrNothingOpen) {
			err = nil
		}
	}
	status := agent.Status(c.Status)
	if err != nil || status == agent.Paused || status == agent.Queued || status == agent.Running && c.Inbox > 0 ||
		status != agent.Running && c.stopped[c.run] {
		return err // it is told later
	}
	for i := range list {
		if w := &list[i]; w.ended() {
			if err := t.report(ctx, lead, c, w); err != nil {
				return err
			}
			status = agent.Running
		}
	}
	if i := slices.IndexFunc(list, func(w Work) bool { return w.asks() }); i >= 0 && status != agent.Running {
		ask := agent.CallTool(c.Session, toolStatus, input{ID: list[i].ID})
		ask.User = c.users[list[i].head.Labels[labelRun]]
		_, err = lead.Start(ctx, ask)
	}
	return later(err)
}

// over reports whether the newest run of a conversation and its work have cost what that run may.
func over(ctx context.Context, c *conversation, list []Work) (bool, error) {
	sum := c.cost
	for i := range list {
		w := &list[i]
		if w.Status == agent.Running { // the head doesn't have what it has cost since it started
			res, err := w.session().Result(ctx)
			if err != nil {
				return false, err
			}
			w.Cost = max(w.Cost, res.Cost)
		}
		sum += w.Cost
	}
	return c.limit >= 0 && sum >= c.limit, nil
}

// later leaves out errors that say that a conversation is in use or paused.
func later(err error) error {
	if errors.Is(err, agent.ErrBusy) || errors.Is(err, agent.ErrNothingOpen) ||
		errors.As(err, new(*agent.PausedError)) {
		return nil
	}
	return err
}

// report tells the lead how work has ended. The key of the report makes sure that the log of the
// conversation has it once, whoever sends it how often; then the work is marked as told. A run in
// progress gets it as a message. If it ends without having read that, it is sent again.
func (t *Team) report(ctx context.Context, lead *live.Hub, c *conversation, w *Work) error {
	res, err := w.session().Result(ctx)
	if err != nil {
		return err
	}
	in := agent.Input{Session: c.Session, User: c.users[w.head.Labels[labelRun]], Key: "team.report/" + w.ID}
	in.Prompt = fmt.Sprintf("The program says, not a person: the work %s has ended. Its task was: %s\n%s", w.ID, w.Task,
		w.report(res))
	if _, err = lead.Start(ctx, in); errors.Is(err, agent.ErrBusy) {
		if _, err = lead.Agent().Session(c.Session).Steer(ctx, in.Prompt, in.Key); err == nil {
			return nil // once it was read, its key is a duplicate
		}
	}
	switch {
	case errors.Is(err, agent.ErrRefused):
		t.cfg.Logger.WarnContext(ctx, "team: a hook refuses a report", "work", w.Session, "error", err)
	case err != nil && !errors.Is(err, agent.ErrDuplicate):
		return later(err)
	}
	return w.session().SetLabel(ctx, labelWork, told)
}

// mostReport is how many bytes of what a member has said a report has.
const mostReport = 16 << 10

// line says in a line how work stands.
func (w *Work) line() string { return fmt.Sprintf("%s is %s: %s", w.ID, w.Status, w.Task) }

// report says how work has ended, and what the member has said.
func (w *Work) report(res *agent.Result) string {
	text := res.Text()
	if len(text) > mostReport {
		text = strings.ToValidUTF8(text[:mostReport], "") + " […]"
	}
	how := fmt.Sprintf("It is %s. %s", res.Status, res.Reason)
	if text == "" {
		return how
	}
	return how + "\n" + tools.Untrusted(w.ID, text)
}
