package memory

import (
	"context"
	"fmt"
	"math"

	"github.com/pawlkit/pawl/provider"
)

// job is one compaction. All its tokens are as counted here, before the scale of what a provider
// counted.
type job struct {
	counter Counter
	store   Store
	window  Window
	find    Finder
	keep    int
	up      func(int) int

	req      *provider.Request
	fixed    int      // what can't be compacted
	system   string   // without what is known of the user
	more     *Context // nil: there is none
	budget   int
	groups   []Group
	subgoals []Subgoal
	linked   linkedGroups
	failed   map[*Step]bool // isn't tried again
	messages int            // at the beginning
	target   int            // in tokens of the provider
	changed  bool
	steps    []StepReport
	used     *booked // of the Compactor
}

// job groups the conversation of a request that was just counted. goal is the index of a message
// that stays.
func (c *Compactor) job(req *provider.Request, fixed, goal int) *job {
	budget := c.cfg.Window.Budget(req)
	j := &job{
		counter: c.cfg.Counter, store: c.cfg.Store, window: c.cfg.Window, find: c.cfg.Subgoals, keep: c.cfg.Keep,
		up: c.meter.up, used: &c.used,
		req: req, system: req.System, failed: make(map[*Step]bool), fixed: fixed, budget: c.meter.down(budget),
		messages: len(req.Messages), target: budget,
		groups: groupsOf(req.Messages, func(i int) int { return c.meter.known[i].tokens }),
	}
	for i := range j.groups {
		if n := len(j.groups[i].Messages); goal >= n || goal < 0 {
			goal -= n
			continue
		}
		j.groups[i].goal = goal == 0
		break
	}
	j.pin()
	return j
}

// total returns what the request takes.
func (j *job) total() int { return plus(j.fixed, tokensOf(j.groups)) }

// run tries steps in order, until the request takes at most target tokens. What a strategy frees
// isn't known exactly before it is applied, and one may make room for another: where the target
// isn't reached, all are tried again until nothing changes, so that a second compaction finds
// nothing to do. One that failed isn't tried again by this job.
func (j *job) run(ctx context.Context, steps []Step, target int) {
	j.target = j.up(target)
	for pass := range 10 {
		progress := false
		for i := range steps {
			step := &steps[i]
			if ctx.Err() != nil {
				return
			}
			v := j.view()
			v.Need = max(j.total()-target, 0)
			if v.Need == 0 {
				return
			}
			if target == 0 {
				v.Need = math.MaxInt
			}
			if j.failed[step] {
				continue
			}
			r, taken := j.step(ctx, step, v)
			j.failed[step] = r.Error != ""
			if progress = progress || taken; taken || pass == 0 || r.Error != "" || r.Usage != (provider.Usage{}) {
				j.steps = append(j.steps, r)
			}
		}
		if !progress {
			return
		}
	}
}

// step runs a strategy and takes what it says if that frees enough.
func (j *job) step(ctx context.Context, step *Step, v *View) (r StepReport, taken bool) {
	before := j.total()
	r = StepReport{Before: j.up(before), After: j.up(before)}
	var used booked
	v.booked = &used
	edits, err := propose(ctx, step.Strategy, v, &r.Strategy)
	r.Usage, r.Cost, r.Priced = used.usage, used.cost, used.usage.Total() > 0 && !used.unpriced
	j.used.add(used.usage, used.cost, !used.unpriced)
	if err != nil {
		r.Error = err.Error()
	}
	switch {
	case len(edits) == 0 && err != nil:
	case len(edits) == 0:
		r.Skipped = "nothing to do"
	default:
		groups, done, err := apply(j.counter, j.groups, j.linked, edits)
		freed := tokensOf(j.groups) - tokensOf(groups)
		switch {
		case err != nil:
			r.Error = err.Error()
		case freed < max(step.Floor, 1):
			if r.Skipped = "below its floor"; step.Floor <= 1 {
				r.Skipped = "no shorter"
			}
		default:
			j.groups, j.changed, taken = groups, true, true
			j.pin()
			r.After = j.up(j.total())
			r.Dropped, r.Cut, r.Notes = done.dropped, done.cut, done.notes
		}
	}
	return r, taken
}

// propose asks a strategy, and contains its panics and those of its error.
func propose(ctx context.Context, s Strategy, v *View, name *string) (edits []Edit, err error) {
	defer func() {
		if p := recover(); p != nil {
			edits, err = nil, fmt.Errorf("memory: the strategy panicked: %v", p)
		}
	}()
	*name = "a strategy"
	*name = s.Name()
	edits, err = s.Compact(ctx, v)
	return edits, readable("the strategy", err)
}

// pin sets the pins anew: groups have moved.
func (j *job) pin() {
	for i := range j.groups {
		j.groups[i].Pinned = ""
	}
	pin(j.groups, j.keep)
	j.subgoals, j.linked = nil, nil
	if j.find == nil {
		return
	}
	for _, s := range j.found() {
		if s.From < 0 || s.From >= len(j.groups) || !s.Open && (s.To <= s.From || s.To > len(j.groups)) {
			continue // of another conversation
		}
		if j.subgoals = append(j.subgoals, s); s.Open && !j.groups[s.From].Pinned.hard() {
			j.groups[s.From].Pinned = PinSubgoal
		}
	}
	j.linked = linkedGroupsOf(j.subgoals)
	j.linked.pin(j.groups)
}

// found asks the Finder, and contains its panics: it is then asked no more, and the conversation
// has no subgoals.
func (j *job) found() (all []Subgoal) {
	defer func() {
		if p := recover(); p != nil {
			j.find, all = nil, nil
			j.steps = append(j.steps, StepReport{Strategy: "subgoals", Before: j.up(j.total()), After: j.up(j.total()),
				Error: fmt.Sprintf("memory: the finder of subgoals panicked: %v", p)})
		}
	}()
	return j.find(append([]Group(nil), j.groups...))
}

func (j *job) view() *View {
	v := &View{
		Groups: append([]Group(nil), j.groups...), Subgoals: append([]Subgoal(nil), j.subgoals...),
		Counter: j.counter, Store: j.store, linked: j.linked,
		Labels: j.req.Labels, Interactive: j.req.Interactive, Priority: j.req.Priority,
	}
	for i := range j.groups {
		switch g := &j.groups[i]; {
		case g.Kind != KindUser:
		case v.Goal == "":
			v.Goal = saidText(&g.Messages[0])
			v.Question = v.Goal
		default:
			v.Question = saidText(&g.Messages[0])
		}
	}
	return v
}

func (j *job) report(trigger string, before int) *Report {
	return &Report{
		Trigger: trigger, Before: before, After: j.up(j.total()), Target: j.target, Budget: j.window.Budget(j.req),
		MessagesBefore: j.messages, MessagesAfter: count(j.groups), Steps: j.steps,
	}
}

func count(groups []Group) int {
	n := 0
	for i := range groups {
		n += len(groups[i].Messages)
	}
	return n
}
