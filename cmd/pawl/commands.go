package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

func sessions(f *flag.FlagSet) action {
	filter := filters(f)
	limit := f.Int("limit", 50, "at most this `number`; 0: all")
	return func(ctx context.Context, p *program, _ []string) error {
		o, err := filter()
		if err != nil {
			return err
		}
		o.Limit = *limit
		p.out.head("session", "status", "pending", "facts", "steps", "cost", "updated", "owner", "title")
		for i, err := range p.agent.Sessions(ctx, o) {
			if err != nil {
				p.warn(err)
				continue
			}
			p.out.row(i.Session, i.Status, i.Pending, i.Facts, i.Steps, i.Cost.String(), i.Updated, i.Owner, i.Title)
		}
		return nil
	}
}

func pending(f *flag.FlagSet) action {
	o := approvals.Filter{Plans: true, Everyone: true}
	f.StringVar(&o.Prefix, "prefix", "", "only sessions whose names begin with this `text`")
	whole := f.Bool("preview", false, "also print the risk of each, why it waits, its input, and what it would change")
	return func(ctx context.Context, p *program, _ []string) error {
		if *whole {
			return p.previews(ctx, o)
		}
		p.out.head("session", "id", "kind", "what", "for", "expires", "sent")
		for i, err := range approvals.List(ctx, p.store, o) {
			if err != nil {
				p.warn(err)
				continue
			}
			p.out.row(i.Session, i.ID, i.Kind, i.Title, i.For, i.Expires, i.Sent)
		}
		return nil
	}
}

// previews prints what waits with all that a person needs to decide.
func (p *program) previews(ctx context.Context, o approvals.Filter) error {
	for i, err := range approvals.List(ctx, p.store, o) {
		var item *approvals.Detail
		if err == nil {
			item, err = approvals.Find(ctx, p.store, i.Session, i.ID, 0)
		}
		if err != nil {
			p.warn(err)
			continue
		}
		w := &item.Pause
		p.out.head("name", "value")
		for _, pair := range [][2]any{{"session", i.Session}, {"id", i.ID}, {"kind", i.Kind}, {"what", i.Title},
			{"why", reason(w.Reason)}, {"risk", w.Risk}, {"input", reason(w.Call.Input)}, {"for", i.For},
			{"expires", i.Expires}, {"preview", diff(w.Preview)}} {
			if cell(pair[1]) != "" {
				p.out.row(pair[0], pair[1])
			}
		}
	}
	return nil
}

func show(f *flag.FlagSet) action {
	newest := f.Int("facts", 20, "show this `number` of newest facts; 0: all")
	follow := f.Bool("f", false, "go on printing facts as they are stored, until the run has ended")
	return func(ctx context.Context, p *program, args []string) error {
		i, err := p.agent.Session(args[0]).Info(ctx)
		head, headErr := p.store.Head(ctx, args[0])
		facts, m, logErr := p.load(ctx, args[0])
		if err := cmp.Or(err, headErr, logErr); err != nil {
			return err
		}
		run := m.State().Run
		p.out.head("name", "value")
		for _, pair := range [][2]any{{"session", i.Session}, {"title", i.Title}, {"status", i.Status},
			{"code", run.Code}, {"reason", reason(m.LastResult().Reason)}, {"agent", run.Agent}, {"owner", i.Owner},
			{"labels", pairs(i.Labels)}, {"cost", i.Cost.String()}, {"changed", i.Updated}, {"due", head.Due},
			{"held by", head.Owner}, {"lease ends", head.Until}} {
			if text := cell(pair[1]); text != "" {
				p.out.row(pair[0], pair[1])
			}
		}
		if waits := run.Pending(); len(waits) > 0 {
			p.out.head("waits for", "id", "what", "expires")
			for _, w := range waits {
				p.out.row(w.Kind, w.ID, cmp.Or(w.Title, w.Call.Name), w.Expires)
			}
		}
		p.out.head("fact", "at", "step", "kind", "what")
		for n, fact := range facts {
			if *newest <= 0 || n >= len(facts)-*newest {
				p.fact(fact)
			}
		}
		if *follow {
			return p.follow(ctx, args[0], facts, run.IsOpen())
		}
		return nil
	}
}

// fact prints a row for a fact.
func (p *program) fact(fact agent.Event) {
	e := fact.Envelope()
	_, kind, _ := strings.Cut(fmt.Sprintf("%T", fact), ".")
	p.out.row(e.Seq, e.Time.UTC().Format(time.RFC3339), e.Step, kind, textOf(fact))
}

// follow prints the facts of a session after these, as they are stored, until its run has ended.
func (p *program) follow(ctx context.Context, session string, facts []agent.Fact, open bool) error {
	after := uint64(0)
	if n := len(facts); n > 0 {
		after = facts[n-1].Envelope().Seq
	}
	if p.out.flush(); !open {
		return nil
	}
	if err := p.out.w.Flush(); err != nil {
		return err
	}
	for event, err := range p.agent.Session(session).Watch(ctx, after) {
		if ctx.Err() != nil { // the operator has left
			return nil
		}
		if err != nil {
			return err
		}
		p.out.below()
		p.fact(event)
		p.out.flush()
		if err := p.out.w.Flush(); err != nil || hasEnded(event) {
			return err
		}
	}
	return nil
}

// hasEnded reports whether a fact is the end of a run that doesn't go on.
func hasEnded(fact agent.Event) bool {
	end, ok := fact.(*agent.RunEnded)
	return ok && end.Status != agent.Paused
}

// pairs returns labels as key=value, in the order of their keys.
func pairs(labels map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, key+"="+labels[key])
	}
	return strings.Join(all, " ")
}

// textOf says in short what a fact says, and why something failed, was refused or has ended at full
// length.
func textOf(f agent.Event) any {
	switch f := f.(type) {
	case *agent.RunStarted:
		return f.Message.Text()
	case *agent.Replied:
		return f.Message.Text()
	case *machine.StepFailed:
		return reason(f.Error)
	case *machine.ToolStarted:
		return f.Call.Name
	case *agent.ToolFinished:
		return fmt.Sprintf("%s %s: %s", f.Call.Name, f.Result.Status, f.Result.Text())
	case *agent.Suspended:
		text := fmt.Sprintf("%s %s: ", f.Pause.Kind, f.Pause.ID)
		if refused := f.Pause.Refused; refused != "" { // why an earlier decision wasn't taken
			return reason(text + refused)
		}
		return text + cmp.Or(f.Pause.Title, f.Pause.Call.Name)
	case *machine.Decided:
		return reason(fmt.Sprintf("%s %s by %s %s", f.Decision.Kind, f.Decision.ID, f.Decision.User, f.Decision.Reason))
	case *agent.RunEnded:
		return reason(fmt.Sprintf("%s %s %s", f.Status, f.Code, f.Reason))
	}
	return ""
}

// decide returns a command that decides on what its arguments name: session and id, or the id
// alone, or a session that waits for one decision.
func decide(kind func(id, reason string) agent.Decision) func(*flag.FlagSet) action {
	return func(f *flag.FlagSet) action {
		reason := f.String("reason", "", "why a call is rejected: a `text` that the model reads")
		return func(ctx context.Context, p *program, args []string) error {
			args, err := p.named(ctx, args)
			if err != nil {
				return err
			}
			inbox := &approvals.Inbox{Store: p.store}
			item, err := approvals.Find(ctx, p.store, args[0], args[1], 0)
			if err != nil {
				return err
			}
			d := kind(item.ID, *reason).By(p.as)
			if err = inbox.Decide(ctx, item, d); err == nil {
				p.out.head("decision", "session", "id", "what", "by")
				p.out.row(d.Kind, item.Session, item.ID, item.Pause.Title, p.as)
			}
			return err
		}
	}
}

// named returns session and id of what the arguments of decide name.
func (p *program) named(ctx context.Context, args []string) (found []string, err error) {
	if len(args) == 2 {
		return args, nil
	}
	for i, err := range approvals.List(ctx, p.store, approvals.Filter{Everyone: true, Plans: true}) {
		if err != nil && i.Session == "" {
			return nil, err
		}
		if i.ID == args[0] || i.Session == args[0] && i.ID != "" {
			found = append(found, i.Session, i.ID)
		}
	}
	if len(found) != 2 {
		err = fmt.Errorf(`%q names %d things that wait; "pawl pending" lists them with their ids`, args[0], len(found)/2)
	}
	return found, err
}

func export(*flag.FlagSet) action {
	return func(ctx context.Context, p *program, args []string) error {
		return p.agent.Session(args[0]).Export(ctx, p.out.w)
	}
}

func retain(f *flag.FlagSet) action {
	var r agent.Retention
	f.DurationVar(&r.Idle, "idle", 0, "remove sessions in which nothing has happened for this `time`, such as 720h")
	f.StringVar(&r.Prefix, "prefix", "", "only sessions whose names begin with this `text`")
	f.BoolVar(&r.DryRun, "dry-run", false, "remove nothing; the default without -yes")
	yes := f.Bool("yes", false, "remove them")
	return func(ctx context.Context, p *program, _ []string) error {
		if r.Idle < time.Minute || *yes && r.DryRun {
			return fmt.Errorf("give -idle of a minute or more, and -yes or -dry-run; %w retain", errUsage)
		}
		r.DryRun = !*yes
		removed, err := p.agent.Retain(ctx, r)
		p.out.head("removed", "sessions", "facts", "bytes")
		p.out.row(*yes, removed.Sessions, removed.Records, removed.Bytes)
		return err
	}
}

// A finding is a line of what doctor prints.
type finding struct {
	count  int
	oldest time.Time
	first  []string // sessions
}

// An examination is what doctor finds.
type examination map[string]finding

// findings are in the order in which they are printed.
var findings = []string{"sessions", "facts", "bytes", "running", "held", "left", "orphaned", "queued", "waiting",
	"expired",
	"failed", "undelivered", "unknown", "unreadable"}

// note counts a session if something is so; since is when it came to be so.
func (x examination) note(what string, is bool, session string, since time.Time) {
	if f := x[what]; is {
		if f.count++; len(f.first) < 5 {
			f.first = append(f.first, session)
		}
		if f.oldest.IsZero() || since.Before(f.oldest) {
			f.oldest = since
		}
		x[what] = f
	}
}

func doctor(f *flag.FlagSet) action {
	agents := f.String("agents", "", "the `names` of the agents that are served, separated by commas")
	bytes := f.Bool("bytes", false, "read all logs to count their bytes, and to find damaged ones")
	return func(ctx context.Context, p *program, _ []string) error {
		x := make(examination)
		for h, err := range p.store.Heads(ctx, journal.Filter{NoKind: true}) {
			if err == nil {
				err = p.examine(ctx, x, &h, *agents, *bytes)
			}
			if err != nil {
				x.note("unreadable", true, h.Session, h.Updated)
				p.warn(err)
			}
		}
		p.out.head("what", "count", "oldest", "first")
		for _, what := range findings {
			if what == "bytes" && !*bytes || what == "unknown" && *agents == "" {
				continue
			}
			p.out.row(what, x[what].count, x[what].oldest, strings.Join(x[what].first, " "))
		}
		return nil
	}
}

// read counts the bytes of a log, and returns what is wrong with it.
func (p *program) read(ctx context.Context, x examination, h *journal.Head) error {
	var facts []agent.Fact
	for rec, err := range p.store.Read(ctx, h.Session, h.Pruned) {
		if err != nil {
			return err
		}
		x["bytes"] = finding{count: x["bytes"].count + len(rec.Data)}
		f, err := machine.Decode(h.Session, rec)
		if err != nil {
			return err
		}
		facts = append(facts, f)
	}
	_, err := machine.Replay(h.Session, facts...)
	return err
}

// orphaned reports whether a session is that of a subagent that nobody drives or will resume: it is
// open, and the session of its call isn't.
func (p *program) orphaned(ctx context.Context, h *journal.Head) (bool, error) {
	open := func(h *journal.Head) bool {
		s := agent.Status(h.Status)
		return s == agent.Running || s == agent.Paused || s == agent.Queued
	}
	if !strings.HasPrefix(h.Session, machine.ChildPrefix) || !open(h) || h.Owner != "" && time.Now().Before(h.Until) {
		return false, nil
	}
	parent, err := p.store.Head(ctx, h.Parent)
	if errors.Is(err, journal.ErrNoSession) {
		return true, nil
	}
	return err == nil && !open(&parent), err
}

// examine adds what there is to say about a session.
func (p *program) examine(ctx context.Context, x examination, h *journal.Head, agents string, bytes bool) error {
	x["sessions"] = finding{count: x["sessions"].count + 1}
	x["facts"] = finding{count: x["facts"].count + int(h.Seq-h.Pruned)}
	var damage error
	if bytes {
		damage = p.read(ctx, x, h)
	}
	if h.Parent != "" { // what else concerns it is its parent's
		orphaned, err := p.orphaned(ctx, h)
		x.note("orphaned", orphaned, h.Session, h.Updated)
		return cmp.Or(damage, err)
	}
	status, waits, past := agent.Status(h.Status), len(h.Open) > 0, !h.Due.IsZero() && h.Due.Before(time.Now())
	x.note("running", status == agent.Running, h.Session, h.Updated)
	x.note("left", status == agent.Running && h.Owner == "", h.Session, h.Updated)
	x.note("held", status == agent.Running && h.Owner != "" && h.Until.Before(time.Now()), h.Session, h.Until)
	x.note("queued", status == agent.Queued && past, h.Session, h.Due)
	x.note("waiting", waits, h.Session, h.Updated)
	x.note("expired", waits && past, h.Session, h.Due)
	x.note("failed", status == agent.Failed, h.Session, h.Updated)
	x.note("undelivered", past && !waits && status != agent.Queued, h.Session, h.Due)
	if agents == "" || status != agent.Running && status != agent.Paused && status != agent.Queued {
		return damage
	}
	_, m, err := p.load(ctx, h.Session)
	if err == nil {
		x.note("unknown", !slices.Contains(strings.Split(agents, ","), m.State().Run.Agent), h.Session, h.Updated)
	}
	return cmp.Or(damage, err)
}
