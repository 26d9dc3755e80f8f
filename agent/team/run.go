package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// Run drives the work of the members, and reports its ends and its questions to the conversations
// of lead, until ctx ends. The next Run, in this or another process, does what this one has missed;
// several processes may call Run with the same journals. When it returns, runs that it has begun go
// on in the hubs until these are closed. Close the hub of the lead before those of the members. The
// error is an *[agent.ArgError]; nil when ctx has ended.
func (t *Team) Run(ctx context.Context, lead *live.Hub) error {
	if t == nil || ctx == nil || lead.Agent() == nil {
		return errNoTeam
	}
	loop := due.New(due.Config{List: t.due, Drive: t.drive, Interval: t.cfg.Every, Parallel: t.cfg.Parallel,
		Logger: t.cfg.Logger})
	loop.Start(ctx)
	defer loop.Stop()
	for known := map[string]*conversation(nil); ctx.Err() == nil; {
		known = t.tendAll(ctx, lead, known)
		select {
		case <-ctx.Done():
		case <-time.After(t.cfg.Every):
		}
	}
	return nil
}

// open selects the work whose end isn't reported yet.
var open = journal.Filter{Label: journal.Label{Key: labelWork, Value: unreported}}

// due yields the work that waits for its turn or has got a decision, whose time to decide is over,
// or whose process has died.
func (t *Team) due(ctx context.Context) iter.Seq2[due.Item, error] {
	return func(yield func(due.Item, error) bool) {
		list, err := t.list(ctx, open)
		for i := range list {
			at, isDue := due.Since(&list[i].head, time.Now())
			if isDue && !list[i].ended() && !yield(due.Item{Session: list[i].Session, Since: at}, nil) {
				return
			}
		}
		if err != nil {
			yield(due.Item{}, err)
		}
	}
}

// drive drives a piece of work until its run ends or pauses, or ctx ends, which doesn't stop it.
func (t *Team) drive(ctx context.Context, session string) error {
	hub := t.workOf(journal.Head{Session: session}).hub
	started, err := hub.Start(context.WithoutCancel(ctx), agent.Continue(session))
	if err != nil {
		return cmp.Or(later(err), due.ErrLater)
	}
	select {
	case <-started.Done:
	case <-ctx.Done():
	}
	return nil
}

// later leaves out errors that say that a session is in use, or waits, or that its process ends.
func later(err error) error {
	if errors.Is(err, agent.ErrBusy) || errors.Is(err, agent.ErrNothingOpen) || errors.Is(err, agent.ErrDraining) ||
		errors.Is(err, live.ErrClosed) || errors.As(err, new(*agent.PausedError)) {
		return nil
	}
	return err
}

// A conversation is what the log of a session of the lead says.
type conversation struct {
	seq   uint64            // its newest fact
	run   *machine.RunState // the newest
	since map[string]bool   // the runs that began after the newest stop; nil: none was stopped
	asked map[string]bool   // what was asked after the newest input, by the keys of the calls
}

// stops reports whether work is to be stopped, by the run that has started it.
func (c *conversation) stops(run string) bool { return c.since != nil && !c.since[run] }

func read(ctx context.Context, lead *agent.Agent, session string, seq uint64) (*conversation, error) {
	facts, err := lead.Session(session).Facts(ctx)
	if err != nil {
		return nil, err
	}
	c := &conversation{seq: seq, asked: make(map[string]bool)}
	for _, f := range facts {
		switch f := f.(type) {
		case *agent.RunStarted:
			if c.since != nil {
				c.since[f.Run()] = true
			}
			if f.CallKey == "" {
				clear(c.asked)
			}
			c.asked[f.CallKey] = true
		case *agent.RunEnded:
			if stopsWork(f) {
				c.since = make(map[string]bool)
			}
		}
	}
	m, err := machine.Replay(session, facts...)
	if err == nil {
		c.run = m.State().Run
	}
	return c, err
}

// stopsWork reports whether a run has ended because a person has stopped it, or because it has cost
// what it may: then its work is stopped, too.
func stopsWork(end *agent.RunEnded) bool {
	return end.Status == agent.Stopped && (end.Code == machine.CodeCanceled || end.Code == machine.CodeHost ||
		end.Code == machine.CodeLimit && strings.Contains(end.Reason, "Limits."+machine.LimitCost+" "))
}

// tendAll tends the conversations that have work whose end isn't reported yet. It takes and returns
// what it has read of them, so that it reads a log only if that has grown. Conversations that lead
// doesn't have, or that another agent has, belong to another lead of the same members.
func (t *Team) tendAll(ctx context.Context, lead *live.Hub, known map[string]*conversation) map[string]*conversation {
	list, err := t.list(ctx, open)
	all, now := make(map[string][]Work), make(map[string]*conversation)
	for _, w := range list {
		all[w.head.Parent] = append(all[w.head.Parent], w)
	}
	for session, list := range all {
		head, failed := lead.Agent().Journal().Head(ctx, session)
		c := known[session]
		if failed == nil && (c == nil || c.seq != head.Seq) {
			c, failed = read(ctx, lead.Agent(), session, head.Seq)
		}
		if now[session] = c; failed == nil && c.run != nil && c.run.Agent == lead.Agent().Name() {
			failed = t.tend(ctx, lead, c, head, list)
		}
		if !errors.Is(failed, journal.ErrNoSession) {
			err = errors.Join(err, failed)
		}
	}
	if err != nil && ctx.Err() == nil {
		t.cfg.Logger.WarnContext(ctx, "team: looking after work", "error", err)
	}
	return now
}

// tend stops the work of a conversation if it has to, and reports ends and a question.
func (t *Team) tend(ctx context.Context, lead *live.Hub, c *conversation, head journal.Head,
	list []Work) (err error) {
	cost, limit, status := c.run.Cost, c.run.Limits.Cost, agent.Status(head.Status)
	for _, w := range list {
		if w.Status == agent.Running { // the head doesn't have what it has cost since it started
			if res, err := w.session().Result(ctx); err == nil {
				w.Cost = max(w.Cost, res.Cost)
			}
		}
		if w.head.Labels[labelCharged] == "" { // else it is in the cost of a run
			cost += w.Cost
		}
	}
	for _, w := range list {
		if !w.ended() && w.head.Inbox == 0 && (limit >= 0 && cost >= limit || c.stops(w.head.Labels[labelRun])) {
			err = errors.Join(err, later(w.hub.Cancel(ctx, w.Session)))
		}
	}
	if status == agent.Paused || status == agent.Queued || status == agent.Running && head.Inbox > 0 ||
		status != agent.Running && c.stops(c.run.ID) {
		return err // it gets its reports later
	}
	for _, w := range list {
		if w.ended() {
			err, status = errors.Join(err, t.report(ctx, lead, c.run.User, w)), agent.Running
		}
	}
	for _, w := range list {
		if key := w.askKey(); status != agent.Running && w.asks() && !c.asked[key] {
			ask := agent.CallTool(head.Session, toolStatus, input{ID: w.ID})
			ask.User, ask.CallKey = c.run.User, key
			failed := start(ctx, lead, ask)
			c.asked[key] = errors.As(failed, new(*agent.ArgError)) // the mode of the conversation has no team.status
			return errors.Join(err, later(failed))
		}
	}
	return err
}

// start starts a run in a conversation. One that was deleted meanwhile is deleted again. The end of
// ctx doesn't stop a run that begins.
func start(ctx context.Context, lead *live.Hub, in agent.Input) error {
	ctx = context.WithoutCancel(ctx)
	started, err := lead.Start(ctx, in)
	if err != nil || started.After > 0 {
		return err
	}
	_ = lead.Cancel(ctx, in.Session)
	<-started.Done
	return lead.WhenReleased(ctx, in.Session, func() error { return lead.Agent().Session(in.Session).Delete(ctx) })
}

// report reports to the conversation how work has ended. Because the report has a key, the log of
// the conversation has it once, even if several processes send it; then the work is marked as
// reported. A run in progress gets it as a message. If the run ends without reading it, it is sent
// again.
func (t *Team) report(ctx context.Context, lead *live.Hub, user string, w Work) error {
	res, err := w.session().Result(ctx)
	if err != nil {
		return err
	}
	in := agent.Input{Session: w.head.Parent, User: user, Key: "team.report/" + w.ID,
		Prompt: "The program says, not a person: the work " + w.text(res, mostReport)}
	if err = start(ctx, lead, in); errors.Is(err, agent.ErrBusy) {
		if _, err = lead.Agent().Session(in.Session).Steer(ctx, in.Prompt, in.Key); err == nil {
			return nil // once it was read, its key is a duplicate
		}
	}
	if errors.Is(err, agent.ErrRefused) {
		t.cfg.Logger.WarnContext(ctx, "team: a hook refuses a report", "work", w.Session, "error", err)
	} else if err != nil && !errors.Is(err, agent.ErrDuplicate) {
		return later(err)
	}
	return later(w.session().SetLabel(ctx, labelWork, reported))
}

// mostReport is how many bytes of what a member has said a report has.
const mostReport = 16 << 10

// text says how the work stands. If it has ended, it has at most so many bytes of why it was
// stopped and of what the member has said.
func (w Work) text(res *agent.Result, most int) string {
	text, said := fmt.Sprintf("%s is %s.\nIts task: %s", w.ID, w.Status, w.Task), res.Reason+"\n"+res.Text()
	if len(said) > most {
		said = strings.ToValidUTF8(said[:most], "") + " […] " + toolStatus + " shows more."
	}
	if w.ended() {
		text += "\n" + tools.Untrusted(w.ID, strings.TrimSpace(said))
	}
	return text
}
