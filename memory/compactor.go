package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// A Compactor prepares the requests of one conversation: it counts them, compacts the conversation
// when a rule says so or it wouldn't fit, and puts in what else the request says.
//
// What it guarantees of every request that it returns:
//   - it takes at most the window less its reserve, by the Counter's figures;
//   - the system text, the tools, the first and the newest message of the user, the step under way,
//     calls without a result and the beginnings of open subgoals are in it; where the window
//     doesn't suffice, long texts of messages, of their files and of results among them are cut,
//     biggest first, and last images and other files of results and of the user's earlier messages
//     are replaced by their names;
//   - each call stands with its result right behind it, if it did before; order and roles are those
//     of the conversation;
//   - what was given isn't changed, and the same conversation gives the same result.
//
// A Compactor is not safe for concurrent use: a session has one of its own. Store, Provider and
// strategies may be shared.
type Compactor struct {
	cfg   Config
	meter *Meter
	marks []armed
	used  booked
	asked int  // what the request took when the provider was asked last; -1: it can't count
	fewer bool // a warning has said that fewer of the last groups are kept
}

// armed is a rule with whether its threshold has been crossed.
type armed struct {
	rule  Rule
	fired bool
	again int // how often a finished subgoal is tried once more: its end is among the last groups at first
}

// New returns a Compactor, or an error that names what is wrong with the Config: a step without a
// strategy, a rule without a trigger, a share that is none.
func New(cfg Config) (*Compactor, error) {
	if cfg.Rules == nil {
		cfg.Rules = []Rule{{When: AtShare(.7)}}
	}
	if cfg.Steps == nil {
		cfg.Steps = DefaultSteps(nil)
	}
	if cfg.Keep == 0 {
		cfg.Keep = 5
	}
	cfg.Keep = max(cfg.Keep, 1)
	if cfg.Counter == nil {
		cfg.Counter = NewEstimator(provider.ModelInfo{})
	}
	cfg.Counter = steady{cfg.Counter}
	if !(cfg.ResultShare >= 0 && cfg.ResultShare <= 1) {
		return nil,
			fmt.Errorf("memory: Config.ResultShare is %v; it is a share of the window, from 0 to 1", cfg.ResultShare)
	}
	if cfg.Whole == nil {
		cfg.Whole = cfg.Store
	}
	if cfg.Store != nil {
		cfg.Store = contained{cfg.Store}
	}
	if cfg.Whole != nil {
		cfg.Whole = contained{cfg.Whole}
	}
	cfg.Steps = slices.Clone(cfg.Steps)
	c := &Compactor{meter: NewMeter(cfg.Counter)}
	if err := soundSteps("Config.Steps", cfg.Steps); err != nil {
		return nil, err
	}
	for i, r := range cfg.Rules {
		where := fmt.Sprintf("Config.Rules[%d]", i)
		if r.When.kind == "" {
			return nil,
				fmt.Errorf("memory: %s.When is empty; use AtShare, AtTokens, OnSubgoal or OnPhase", where)
		}
		if !(r.Target >= 0 && r.Target <= 1) {
			return nil, fmt.Errorf("memory: %s.Target is %v; it is a share of the window, from 0 to 1", where, r.Target)
		}
		if err := soundSteps(where+".Steps", r.Steps); err != nil {
			return nil, err
		}
		if r.Steps = slices.Clone(r.Steps); r.Steps == nil {
			r.Steps = cfg.Steps
			if r.When.kind == "subgoal" {
				r.Steps = []Step{{Subgoals{}, 0}}
			}
		}
		c.marks = append(c.marks, armed{rule: r})
	}
	c.cfg = cfg
	return c, nil
}

func soundSteps(where string, steps []Step) error {
	for i, s := range steps {
		if s.Strategy == nil {
			return fmt.Errorf("memory: %s[%d].Strategy is nil; name a strategy such as memory.Slide{}", where, i)
		}
	}
	return nil
}

// Meter returns the Compactor's own, for [Meter.Learn].
func (c *Compactor) Meter() *Meter { return c.meter }

// SetWindow prepares requests for another window from now on, where the conversation continues with
// another model. What was counted and learned holds.
func (c *Compactor) SetWindow(w Window) {
	c.fewer = c.fewer && w == c.cfg.Window
	c.cfg.Window = w
}

// Used returns what the model calls of strategies took since the Compactor was made, what they cost
// where prices are known, and whether they all are. It holds those of reports, and those of a
// Prepare or Compact that then returned an error.
func (c *Compactor) Used() (used provider.Usage, cost provider.Money, priced bool) {
	return c.used.usage, c.used.cost, !c.used.unpriced
}

// Prepared is a request that is ready to be sent.
type Prepared struct {
	// Request is what to send: the conversation, with the context.
	Request *provider.Request
	// Messages is the conversation to continue with, without the context: the slice that was given
	// if nothing was compacted.
	Messages []provider.Message
	Count    Count    // of the request
	Budget   int      // the window less its reserve
	LeftOut  []string // names of what was fetched and had no room
	Report   *Report  // nil: no compaction was due
	Warnings []string
}

// Prepare makes a request ready: it counts it, compacts the conversation if an event or a threshold
// fires, or if it wouldn't fit, and puts in the context. A step at which nothing is due costs what
// is new in it; with context also a copy of the list of messages. A rule with a threshold fires
// once a crossing: it is armed again by its own compaction, if that brought the request below; one
// that ended with an error counts for nothing.
//
// The error is a [*ContextTooLargeError] if the request can't be made to fit, that of ctx, or that
// req is nil. Failures of strategies, stores and summaries are warnings. On an error the Prepared
// is nil, and nothing has happened to the conversation.
//
// It does what [Compactor.Plan] and then [Compactor.Run] do.
func (c *Compactor) Prepare(ctx context.Context, req *provider.Request, more Context, events ...Event) (*Prepared,
	error) {
	plan, err := c.Plan(ctx, req, more, events...)
	if err != nil {
		return nil, err
	}
	return c.Run(ctx, plan)
}

// A Plan is the first half of [Compactor.Prepare]: what is to be done with a request.
type Plan struct {
	// Trigger is what makes a compaction due, as the [Report] will say it; "": none is due. If
	// results are cut first, others of its triggers may prove needless, and if there is nothing to
	// do, there is no Report.
	Trigger string

	given    *provider.Request
	more     Context
	events   []Event
	prepared *Prepared
	fixed    int    // what of the request can't be compacted
	large    *job   // nil: no results are too large
	results  []long // that are
}

// Plan counts a request, and says whether a compaction is due. It doesn't change the conversation,
// and calls nothing but the Counter, Config.Asks and, for results that are too large,
// Config.Subgoals.
func (c *Compactor) Plan(ctx context.Context, req *provider.Request, more Context, events ...Event) (*Plan, error) {
	if req == nil {
		return nil, provider.ErrNilRequest
	}
	out := *req
	out.System = more.withUser(req.System)
	p := &Prepared{Request: &out, Messages: req.Messages, Budget: c.cfg.Window.Budget(req)}
	p.Warnings = c.ask(ctx, &out, c.meter.Count(&out))
	plan := &Plan{given: req, more: more, events: events, prepared: p, fixed: c.fixed(&out, &more)}
	plan.large, plan.results = c.findLarge(&out, plan.fixed, more.Goal)
	total := plus(plan.fixed, c.meter.raw.Messages)
	rules := c.due(c.meter.up(total), p.Budget, events)
	plan.Trigger = trigger(plan.large != nil, rules, total > c.meter.down(p.Budget))
	return plan, nil
}

// Run does what a plan of the same Compactor says. Nothing else may be done with the Compactor in
// between. The errors are those of [Compactor.Prepare].
func (c *Compactor) Run(ctx context.Context, plan *Plan) (*Prepared, error) {
	p, more, fixed := plan.prepared, plan.more, plan.fixed
	total, j := plus(fixed, c.meter.raw.Messages), plan.large
	if j != nil && !c.cutLarge(ctx, j, plan.results) {
		j = nil
	}
	if j != nil {
		total = j.total()
	}
	rules := c.due(c.meter.up(total), p.Budget, plan.events)
	again := c.fire(rules)
	if why := trigger(j != nil, rules, total > c.meter.down(p.Budget)); why != "" {
		if j == nil {
			j = c.job(p.Request, fixed, more.Goal)
		}
		before := plus(fixed, c.meter.raw.Messages)
		j.system, j.more = plan.given.System, &more
		for _, a := range rules {
			steps, target := len(j.steps), c.target(&a.rule, p.Budget)
			if k := a.rule.When.kind; k == "share" || k == "tokens" {
				j.keepFewer(target)
			}
			j.run(ctx, a.rule.Steps, target)
			if slices.ContainsFunc(j.steps[steps:], func(s StepReport) bool { return s.Skipped == "" }) {
				a.again = 0 // it has done something, or has failed
			}
		}
		if err := c.finish(ctx, p, j, why, before); err != nil {
			return nil, err
		}
		if again && !j.changed && len(p.Warnings) == 0 {
			p.Report = nil
		}
		total = j.total()
	}
	for i := range c.marks {
		a := &c.marks[i]
		a.fired = a.reached(c.meter.up(total), p.Budget)
	}
	c.attach(p, &more, fixed)
	return p, nil
}

// finish makes a conversation fit, if it doesn't yet, and puts what came of the job into p.
func (c *Compactor) finish(ctx context.Context, p *Prepared, j *job, trigger string, before int) error {
	if j.total() > j.budget {
		if err := j.fitWindow(ctx, c.cfg.Steps); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p.Report = j.report(trigger, c.meter.up(before))
	p.Warnings = append(p.Warnings, p.Report.Warnings()...)
	if j.keep < c.cfg.Keep && !c.fewer {
		c.fewer = true
		p.Warnings = append(p.Warnings,
			fmt.Sprintf("the last %d groups (Config.Keep) don't fit a budget of %d tokens; "+
				"compaction kept %d; use a larger window or a smaller Config.Keep", c.cfg.Keep, p.Budget, j.keep))
	}
	if j.changed {
		c.meter.adopt(j.groups)
		p.Messages = flatten(j.groups)
		p.Request.Messages = p.Messages
		c.asked = min(c.asked, 0)
	}
	p.Count = c.meter.Count(p.Request)
	return nil
}

// Compact is Prepare by hand: it brings the whole request to at most target tokens, as far as the
// strategies can; 0: as little as they can. steps nil stands for Config.Steps. The error is a
// [*ContextTooLargeError] if the request then still doesn't fit the window, or that of ctx.
func (c *Compactor) Compact(ctx context.Context, req *provider.Request, more Context, target int,
	steps []Step) (*Prepared, error) {
	if req == nil {
		return nil, provider.ErrNilRequest
	}
	if steps == nil {
		steps = c.cfg.Steps
	}
	if err := soundSteps("steps", steps); err != nil {
		return nil, err
	}
	out := *req
	out.System = more.withUser(req.System)
	c.meter.Count(&out)
	p := &Prepared{Request: &out, Messages: req.Messages, Budget: c.cfg.Window.Budget(req)}
	fixed := c.fixed(&out, &more)
	j := c.job(&out, fixed, more.Goal)
	j.system, j.more = req.System, &more
	before := j.total()
	j.run(ctx, steps, c.meter.down(max(target, 0)))
	if err := c.finish(ctx, p, j, "by hand", before); err != nil {
		return nil, err
	}
	for i := range c.marks {
		a := &c.marks[i]
		a.fired = a.fired && a.reached(c.meter.up(j.total()), p.Budget)
	}
	c.attach(p, &more, fixed)
	return p, nil
}

// fixed returns what of the request counted last can't be compacted, in tokens as counted here.
func (c *Compactor) fixed(req *provider.Request, more *Context) int {
	n := plus(plus(plus(c.meter.raw.System, c.meter.raw.Tools), c.meter.raw.Output), c.hostMessage(more))
	if more.Screen == "" && len(more.Fetched) == 0 {
		return n
	}
	if req.System == "" && newestUser(req.Messages) < 0 { // what is put in becomes the system text
		n = plus(n, perMessage)
	}
	return plus(n, c.texts(more.parts(nil)))
}

// hostMessage returns the tokens of the message that the host adds after the conversation.
func (c *Compactor) hostMessage(more *Context) int {
	if more.HostNote == "" {
		return 0
	}
	m := HostMessage(more.HostNote)
	return c.cfg.Counter.CountMessage(&m)
}

func (c *Compactor) texts(parts []provider.Part) int {
	n := 0
	for i := range parts {
		n = plus(n, c.cfg.Counter.CountText(parts[i].Text))
	}
	return n
}

// ask has the provider count, where one is named and it is time.
func (c *Compactor) ask(ctx context.Context, req *provider.Request, count Count) (warnings []string) {
	if c.cfg.Asks == nil || c.asked < 0 || count.Total < c.cfg.Window.Budget(req)/2 ||
		count.Total < plus(c.asked, c.asked/4) {
		return nil
	}
	_, err := c.meter.Ask(ctx, c.cfg.Asks, req)
	if errors.Is(err, provider.ErrNoCount) {
		c.asked = -1
		return nil
	}
	c.asked = c.meter.up(c.meter.raw.Total) // also where it failed: not again at once
	if err != nil {
		return []string{"counting tokens: " + err.Error()}
	}
	return nil
}

// attach puts the context into a request that is otherwise ready, and counts what is sent.
func (c *Compactor) attach(p *Prepared, more *Context, fixed int) {
	c.meter.Count(p.Request)
	raw := c.meter.raw
	in, left := more.fit(c.cfg.Counter.CountText, c.meter.down(p.Budget)-plus(fixed, raw.Messages))
	p.LeftOut = left
	if parts := more.parts(in); len(parts) > 0 {
		n := c.texts(parts)
		if with, ok := attach(p.Messages, parts); ok {
			p.Request.Messages = with
			raw.Messages = plus(raw.Messages, n)
		} else {
			if p.Request.System == "" {
				n = plus(n, perMessage)
			}
			for i := range parts {
				p.Request.System += parts[i].Text
			}
			raw.System = plus(raw.System, n)
		}
	}
	raw.Messages = plus(raw.Messages, c.hostMessage(more))
	raw.sum()
	c.meter.raw = raw // what the provider will count
	p.Count = c.meter.scaled(raw)
}
