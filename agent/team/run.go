package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/internal/work"
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
		errors.Is(err, agent.ErrUnread) || errors.Is(err, live.ErrClosed) || errors.As(err, new(*agent.PausedError)) {
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
	shown map[string]bool   // the ends of work that people were shown, by the keys of the facts

	tree    []machine.Ancestor  // of what the newest run starts
	used    []machine.TreeSpent // by its runs
	limits  map[string]spent    // of its inputs, by their runs
	ended   map[string]bool     // the inputs that have reached a limit of what they start
	reports int                 // in a row, since a person wrote

	reported []Work // of the inputs that have work whose end isn't reported yet
	works    map[string]workSpent
}

// stops reports whether work is to be stopped, by the run that has started it.
func (c *conversation) stops(run string) bool { return c.since != nil && !c.since[run] }

func read(ctx context.Context, lead *agent.Agent, session string, seq uint64) (*conversation, error) {
	facts, err := lead.Session(session).Facts(ctx)
	if err != nil {
		return nil, err
	}
	c := &conversation{seq: seq, asked: make(map[string]bool), shown: make(map[string]bool),
		limits: make(map[string]spent), ended: make(map[string]bool), works: make(map[string]workSpent)}
	input := "" // whose tree the newest run is in
	for _, f := range facts {
		switch f := f.(type) {
		case *agent.RunStarted:
			switch {
			case f.ContextReset != nil: // it continues the same work
			case len(f.Ancestors) > 0:
				input = f.Ancestors[0].Run
			default:
				input = f.Run()
				c.limits[input] = spent{f.Limits.Tokens, f.Limits.Cost}
			}
			if f.ContextReset == nil && f.CallKey == "" {
				c.count(f.Key)
			}
			if c.since != nil {
				c.since[f.Run()] = true
			}
			if f.CallKey == "" {
				clear(c.asked)
			}
			c.asked[f.CallKey] = true
		case *machine.Steered:
			c.count(f.Key)
		case *machine.Emitted:
			c.shown[f.Key] = true
		case *agent.RunEnded:
			switch {
			case f.Status != agent.Stopped:
			case f.Code == machine.CodeCanceled, f.Code == machine.CodeHost: // its work is stopped, too
				c.since = make(map[string]bool)
			case f.Limit == machine.LimitCost, f.Limit == machine.LimitTokens:
				c.ended[input] = true
			}
		}
	}
	m, err := machine.Replay(session, facts...)
	if err == nil && m.State().Run != nil {
		c.run, c.tree, c.used = m.State().Run, m.State().Tree(), m.State().Spendings()
	}
	return c, err
}

// count counts a message with a key: that of a report, or of a person.
func (c *conversation) count(key string) {
	if c.reports++; !strings.HasPrefix(key, reportKey) {
		c.reports = 0
	}
}

// over reports whether the input that has started work has reached a limit. used is what all its
// work has used.
func (c *conversation) over(input string, used spent) bool {
	for _, s := range c.used {
		if slices.Contains(s.Trees, input) {
			used = used.add(spent{s.Tokens, s.Cost})
		}
	}
	limit, known := c.limits[input]
	return c.ended[input] || known && (limit.cost >= 0 && used.cost >= limit.cost ||
		limit.tokens >= 0 && used.tokens >= limit.tokens)
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
			before := c
			if c, failed = read(ctx, lead.Agent(), session, head.Seq); failed == nil {
				if before != nil {
					c.works = before.works
				}
				if unlisted := t.listReported(ctx, c, session, list); unlisted != nil {
					c.seq, err = 0, errors.Join(err, unlisted) // it is read again
				}
			}
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
	used, status := make(map[string]spent), agent.Status(head.Status)
	for _, w := range append(list[:len(list):len(list)], c.reported...) {
		used[w.input()] = used[w.input()].add(c.usedBy(ctx, &w))
	}
	for _, w := range list {
		if !w.ended() && w.head.Inbox == 0 &&
			(c.stops(w.head.Labels[labelRun]) || c.over(w.input(), used[w.input()])) {
			err = errors.Join(err, later(w.hub.Cancel(ctx, w.Session)))
		}
	}
	if status == agent.Paused && len(head.Open) > 0 && head.Inbox == 0 {
		return errors.Join(err, t.showAll(ctx, lead, c, list))
	}
	if status == agent.Paused || status == agent.Queued || status == agent.Running && head.Inbox > 0 ||
		status != agent.Running && (c.stops(c.run.ID) || c.ended[c.tree[0].Run]) {
		return err // it gets its reports later
	}
	n := c.reports
	for _, w := range list {
		if status == agent.Running && c.over(w.input(), used[w.input()]) {
			continue // their limit is reached: the run that gets the first report says so, the others wait
		}
		if w.ended() && (t.cfg.Rounds < 0 || n < t.cfg.Rounds) {
			n++
			err, status = errors.Join(err, t.report(ctx, lead, c, w, n == t.cfg.Rounds)), agent.Running
		}
	}
	for _, w := range list {
		if key := w.askKey(); status != agent.Running && w.asks() && !c.asked[key] {
			ask := agent.CallTool(head.Session, toolStatus, input{ID: w.ID})
			ask.User, ask.CallKey = c.run.User, key
			failed := start(inTree(ctx, c.tree), lead, ask)
			c.asked[key] = errors.As(failed, new(*agent.ArgError)) // the mode of the conversation has no team.status
			return errors.Join(err, later(failed))
		}
	}
	return err
}

// inTree returns a context in whose tree runs begin.
func inTree(ctx context.Context, tree []machine.Ancestor) context.Context {
	return work.WithRun(ctx, work.Ancestors(tree))
}

// start starts a run in a conversation. One that was deleted meanwhile is deleted again. The end of
// ctx doesn't stop a run that begins.
func start(ctx context.Context, lead *live.Hub, w agent.Work) error {
	ctx = context.WithoutCancel(ctx)
	started, err := lead.Start(ctx, w)
	if err != nil || started.After > 0 {
		return err
	}
	_ = lead.Cancel(ctx, started.Session)
	<-started.Done
	return lead.Agent().Session(started.Session).Delete(ctx)
}

// report reports to the conversation how work has ended. Because the report has a key, the log of
// the conversation has it once, even if several processes send it; then the work is marked as
// reported. A run in progress gets it as a message. If the run ends without reading it, it is sent
// again.
//
// What the run uses counts for the input that has started the work; if that has reached a limit,
// for the newest one. last says that the next report waits for a person.
func (t *Team) report(ctx context.Context, lead *live.Hub, c *conversation, w Work, last bool) error {
	facts, err := w.session().Facts(ctx)
	if err != nil {
		return err
	}
	res, err := w.session().Result(ctx)
	if err != nil {
		return err
	}
	tree := c.tree
	if first, ok := facts[0].(*agent.RunStarted); ok && !c.ended[w.input()] {
		tree = first.Ancestors
	}
	in := agent.Input{Session: w.head.Parent, User: c.run.User, Key: reportKey + w.ID,
		Prompt: "The program says, not a person: the work " + w.text(res, mostReport)}
	if res.Outside {
		in.Outside = []string{w.Member}
	}
	if last {
		in.Prompt += fmt.Sprintf("\n\nThis is report %d in a row without a message of a person. Tell the person how things "+
			"stand, and that later reports wait, and nothing goes on by itself, until the person writes.", t.cfg.Rounds)
	}
	if err = start(inTree(ctx, tree), lead, in); errors.Is(err, agent.ErrBusy) {
		from := tools.WithCall(ctx, &tools.Call{Outside: in.Outside})
		if _, err = lead.Agent().Session(in.Session).Steer(from, in.Prompt, in.Key); err == nil {
			return nil // once it was read, its key is a duplicate
		}
	}
	if errors.Is(err, agent.ErrRefused) {
		t.cfg.Logger.WarnContext(ctx, "team: a hook refuses a report", "work", w.Session, "error", err)
	} else if err != nil && !errors.Is(err, agent.ErrDuplicate) {
		return later(err)
	}
	if err = w.session().SetLabel(ctx, labelWork, reported); err == nil {
		c.reported = append(c.reported, w)
	}
	return later(err)
}

// showAll shows people how work has ended whose reports wait because the conversation waits for a
// decision. It is shown once, even if several processes do this, and changes nothing: the report
// follows when the run that waits has ended.
func (t *Team) showAll(ctx context.Context, lead *live.Hub, c *conversation, list []Work) (err error) {
	for _, w := range list {
		if key := shownKey + w.ID; w.ended() && !c.shown[key] {
			res, failed := w.session().Result(ctx)
			if failed == nil {
				failed = lead.Agent().Session(w.head.Parent).Emit(ctx, agent.NoticeKind, w.notice(res), key)
			}
			if c.shown[key] = failed == nil || errors.Is(failed, agent.ErrDuplicate); !c.shown[key] {
				err = errors.Join(err, later(failed))
			}
		}
	}
	return err
}

// The keys of the messages that tell a conversation about work begin with these.
const (
	reportKey = "team.report/"
	shownKey  = "team.shown/"
)

// mostReport is how many bytes of what a member has said a report has.
const mostReport = 16 << 10

// text says how the work stands, for a model. If it has ended, it has at most so many bytes of why
// it was stopped and of what the member has said.
func (w Work) text(res *agent.Result, most int) string {
	text := fmt.Sprintf("%s is %s.\nIts task: %s", w.ID, w.standing(), w.Task)
	if w.ended() {
		text += "\n" + tools.Untrusted(w.ID, said(res, most, " […] "+toolStatus+" shows more."))
	}
	return text
}

// mostNotice is how many bytes of what a member has said people are shown before the report.
const mostNotice = 4 << 10

// notice says to people how work has ended.
func (w Work) notice(res *agent.Result) string {
	return fmt.Sprintf("%s is %s: %s\n%s", w.Member, w.Status, w.Task, said(res, mostNotice, " […]"))
}

// said returns at most so many bytes of why work was stopped and of what the member has said.
func said(res *agent.Result, most int, cut string) string {
	text := res.Reason + "\n" + res.Text()
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + cut
	}
	return strings.TrimSpace(text)
}
