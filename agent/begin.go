package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// begin checks a job, opens its session, reads the session's inbox, and starts or resumes the run.
// After an error, the session isn't held.
func (x *driver) begin(j *job) (err error) {
	a := x.agent
	defer func() { err = j.named(err) }()
	if err := j.check(a); err != nil {
		return err
	}
	if x.log.parent == nil && x.depth() > maxDepth {
		return fmt.Errorf("agent: %w", errTooDeep)
	}
	if x.stops.caller.Err() != nil {
		return canceledBy(x.stops.caller, causeOf(x.stops.caller))
	}
	if err := a.screen(x.stops.caller, x.log.Name, j); err != nil {
		return err
	}
	if j.resumes() {
		if err := a.sessions.Exists(x.stops.caller, x.log.Name); err != nil {
			return err
		}
	}
	if a.memoryConfig != nil || a.cfg.Compose != nil {
		x.window.memory = &memoryState{asked: -1, notebook: notebook{agent: a, log: x.log, consumer: &x.consumer,
			spans: &x.spans, stops: &x.stops}}
	}
	if err := x.log.Hold(x); err != nil {
		switch {
		case x.stops.caller.Err() != nil && !errors.Is(err, ErrBusy):
			return canceledBy(x.stops.caller, causeOf(x.stops.caller))
		case j.leg != nil && j.leg.queue == nil:
			return err
		}
		return a.duplicateOf(withoutRun(x.stops.caller), j, err)
	}
	if x.log.parent != nil {
		x.log.place.spending = x.log.parent.spending
	}
	defer func() { // also if a function of the host panics
		if !x.begun {
			x.log.Leave()
			x.inbox.dropMessages(true)
			x.log.Close()
		}
	}()
	if r := x.log.Run(); j.recovers && r.IsOpen() &&
		(r.Agent != a.cfg.Name || r.Parent != "" || x.log.State().Parent != "" || r.IsQueued()) {
		return errNotOurs
	}
	if j.resumes() {
		err = x.resume(j)
	} else {
		err = x.start(j.start)
	}
	if cause := causeOf(x.log.ctx); err != nil && errors.Is(cause, ErrBusy) { // rather than that a read has ended
		return cause
	}
	if err != nil || x.log.leg.queued() != nil { // a worker drives what is queued
		return err
	}
	x.stops.limitTime()
	x.log.WatchInbox()
	x.log.place.joinIfItStartsWork(j.resumes())
	if x.begun = true; x.log.leg != nil {
		x.log.leg.begun.Store(true)
	}
	return nil
}

// A newRun is what a run that begins is made of.
type newRun struct {
	in     *start
	back   *rewind // it replaces others; nil: it doesn't
	before *machine.State
	mode   *mode
	failed []*SourceFailed
}

// start starts a run: it checks that the session can have one, ends or refuses the run that is
// open, and appends the facts that begin the new one.
func (x *driver) start(in *start) error {
	if err := x.fitsSession(in); err != nil {
		return err
	}
	now := time.Now() // before the inbox is read: a decision in time that is posted after that isn't too late
	_, posted, _ := x.log.takePosted(nil)
	if err := x.cannotBegin(); err != nil {
		return err
	}
	if err := x.keepsOpen(in, now); err != nil {
		return err
	}
	next, err := x.prepareRun(in)
	if err != nil {
		return err
	}
	if x.log.Run().IsOpen() { // only now, when nothing is wrong with the input
		rejection, err := x.endForAnother(in.User)
		if err != nil {
			return err
		}
		posted = append(posted, rejection...)
	}
	facts, err := x.starting(&next)
	if err != nil {
		return err
	}
	// what was posted to an earlier run, a stop for example, mustn't stop this one
	if err := x.log.Append(posted, facts...); err != nil {
		return err
	}
	x.log.tools.sourcesFailed(next.failed)
	return nil
}

// fitsSession returns why a session can't have an input; nil if it can.
func (x *driver) fitsSession(in *start) error {
	s := x.log.State()
	if x.log.leg != nil && x.log.leg.fresh && s.Seq > 0 {
		return &SessionError{Session: s.Session, Code: ErrDuplicate,
			Problem: "it exists already; only a new session can be begun in a transaction"}
	}
	if err := notOwner(s, in.Owner); err != nil {
		return err
	}
	if p := in.Parent; p != "" && p != s.Parent && s.Seq > 0 {
		return badInput("Parent", "it is %q, and that of session %q is %q, which its first input has said", p,
			s.Session, s.Parent)
	}
	return duplicate(s, in.Key)
}

// keepsOpen returns a *[PausedError] if a run is open that an input doesn't end.
func (x *driver) keepsOpen(in *start, now time.Time) error {
	s := x.log.State()
	if !s.Run.IsOpen() {
		return nil
	}
	if _, err := x.decisions.expire(now, x.log.parent); err != nil {
		return err
	}
	if s.Run.IsOpen() && !in.Supersede && in.Replaces == 0 {
		return &PausedError{Session: s.Session, Pending: s.Run.Pending()}
	}
	return nil
}

// prepareRun returns what the run of an input is made of, or what is wrong with the input.
func (x *driver) prepareRun(in *start) (next newRun, err error) {
	a, s := x.agent, x.log.State()
	next = newRun{in: in, before: s}
	if in.Replaces > 0 {
		if next.back, err = x.rewindTo(in.Replaces); err != nil {
			return next, err
		}
		next.before = &next.back.State
	}
	if len(in.History) > 0 && len(s.Messages) > 0 {
		return next, &ArgError{Field: "Input.History",
			Problem: fmt.Sprintf("session %q has a conversation already", s.Session)}
	}
	if next.mode, err = a.mode(in.Mode); err != nil {
		return next, err
	}
	if in.Mode == "" { // a session stays in its mode, if there still is such a mode
		if own, err := a.mode(next.before.Mode); err == nil {
			next.mode = own
		}
	}
	if next.failed, err = x.log.tools.gather(in, next.before.Run); err != nil {
		return next, err
	}
	if err := x.log.tools.checkChoice(in, next.mode); err != nil {
		return next, err
	}
	if in.call != nil && !slices.Contains(x.log.offer(next.mode).names, in.call.tool) {
		return next, badInput("Tool", "the tool %q doesn't exist, or isn't available in mode %q", in.call.tool,
			next.mode.Name)
	}
	return next, x.checkFits(x.stops.caller, in, next.mode)
}

// endForAnother ends the open run, because another takes its place. It returns the inbox item that
// has rejected what the run waits with.
func (x *driver) endForAnother(user string) (rejection []string, err error) {
	item, err := x.closePauses(user)
	if err != nil {
		return nil, err
	}
	if item != "" {
		rejection = []string{item}
	}
	return rejection, x.log.supersede("another input superseded it")
}

// closePauses rejects what the open run waits with, as a person would: either this is accepted or
// another decision on one of the pauses is, and then the run mustn't be superseded, but continued
// with that one. It returns the inbox item of the rejection. Whoever resumes the session takes that
// item if this process dies before the run is superseded.
func (x *driver) closePauses(user string) (item string, err error) {
	it := session.Item{ID: newID("d-"), Kind: session.ItemDecide, Time: time.Now()}
	for _, p := range x.log.Run().Pending() {
		it.Decisions = append(it.Decisions, machine.Reject(p.ID, "Another request came instead.").By(user))
	}
	if len(it.Decisions) == 0 {
		return "", nil
	}
	err = x.agent.sessions.Post(x.log.Reads, x.log.Name, it)
	if posted, ok := errors.AsType[*journal.PostedError](err); ok {
		used := usedBefore(x.log.State(), posted.ID, "a decision on what it waits for was accepted already")
		used.Err = posted
		return "", &SessionError{Session: x.log.Name, Code: ErrBusy, Err: used,
			Problem: used.Problem + "; continue the run with it first"}
	}
	return it.ID, err
}

// cannotBegin returns why the run can't begin, or nil: facts can't be stored, or the caller's
// context has ended while the session was opened.
func (x *driver) cannotBegin() error {
	if x.log.Lost() {
		return x.log.Err()
	}
	if x.stops.caller.Err() != nil {
		return canceledBy(x.stops.caller, causeOf(x.stops.caller))
	}
	return nil
}

// starting returns the facts that start a run.
func (x *driver) starting(next *newRun) ([]Fact, error) {
	a, in, mode, back := x.agent, next.in, next.mode, next.back
	f := &RunStarted{
		Message: in.message(), Model: in.Model, Mode: mode.Name, Limits: a.limits(in.Limits, mode, x.log.parent != nil),
		ToolChoice: in.ToolChoice, Interactive: in.Interactive, Priority: int32(in.Priority), Caller: in.caller(),
		Owner: in.Owner, Key: in.Key, ParentSession: in.Parent, Children: in.Children, Queue: x.log.leg.queued(),
		Tools: x.log.tools.set.fingerprints, Only: in.Only, External: a.externalSpecs(in.Tools),
		History: a.foreign(in.History), Ancestors: work.Tree(x.stops.caller), Outside: in.outside(x.stops.caller),
	}
	f.Meta.By, f.Meta.Origin = in.User, x.newOrigin(in)
	if in.call != nil {
		in.call.into(f)
	}
	if back != nil {
		if err := x.goBack(f, back); err != nil {
			return nil, err
		}
	}
	if in.Limits != nil && *in.Limits != (Limits{}) {
		f.Own = new(*in.Limits)
	}
	if in.output != nil {
		f.Output = in.output.JSON()
	}
	facts := []Fact{f}
	if x.log.State().TooLong() && back == nil {
		if left, err := x.leaveOut(f, mode); err != nil {
			return nil, err
		} else if left != nil {
			facts = append(facts, left)
		}
	}
	// an agent whose tools are all its own, in the same process or not, records them once
	if before := x.log.Run(); before != nil && (x.log.tools.set != a.own || a.changeable || len(before.External) > 0) {
		if changes := differing(before.Fingerprints, x.log.tools.set.fingerprints); len(changes) > 0 {
			meta := f.Meta
			meta.By = ""
			facts = append(facts, &machine.ToolsChanged{Meta: meta, Tools: changes})
		}
	}
	if in.Title != "" && x.log.State().Title == "" {
		facts = append(facts, &machine.TitleChanged{Meta: f.Meta, Title: a.redact.Text(in.Title)})
	}
	return facts, nil
}

// resume resumes the open run of the session: with the decisions of the job or of the inbox, or
// because it waits for no decision.
func (x *driver) resume(j *job) error {
	r := x.log.Run()
	if j.leg != nil && j.leg.run != "" && (r == nil || r.ID != j.leg.run) { // it went on since it was looked up
		return &SessionError{Session: x.log.Name, Code: ErrDuplicate, Run: j.leg.run,
			Problem: fmt.Sprintf("the run %s of the input isn't the newest any more", j.leg.run)}
	}
	failed, err := x.log.tools.gatherAgain(j.tools, r)
	if err != nil {
		return err
	}
	x.log.tools.sourcesFailed(failed)
	if !j.acceptChanges {
		if err := x.checkChanges(); err != nil {
			return err
		}
	}
	if x.log.waits() {
		x.inbox.dropMessages(false)
	}
	now := time.Now() // before the inbox is read: a decision in time that is posted after that isn't too late
	var open *decisions
	if r.IsOpen() {
		open = &x.decisions
	}
	taken, _, later := x.log.takePosted(open)
	if err := x.cannotBegin(); err != nil && (taken == 0 || x.log.Lost()) {
		return err
	}
	expired := map[string]bool{}
	if r.IsOpen() {
		if expired, err = x.decisions.expire(now, x.log.parent); err != nil {
			return err
		}
	}
	decisions := j.decisions
	if x.log.parent != nil { // it may have posted them before it crashed
		decisions = x.log.State().Unanswered(decisions)
	} else if j.leg != nil {
		if decisions, err = x.decisions.notTaken(decisions); err != nil {
			return err
		}
	}
	if len(decisions) > 0 {
		if !r.IsOpen() &&
			!slices.ContainsFunc(decisions, func(d Decision) bool {
				return slices.Contains(x.log.State().Used, d.ID)
			}) {
			return nothingOpen(x.log.Name, r)
		}
		own, err := x.decisions.takeGiven(decisions, expired)
		if err != nil {
			return err
		}
		if taken += own; x.log.Lost() {
			return x.log.Err()
		}
	}
	if !r.IsOpen() {
		return nothingOpen(x.log.Name, r)
	}
	settled := taken > 0 || len(expired) > 0
	// what its host has paused stays paused, whatever else was posted to it
	asIs := r.Code == machine.CodeHost && (j.recovers || j.leg != nil && j.leg.run != "")
	if p := r.Pending(); !settled && r.Status == Paused && (asIs || len(p) > 0 && x.log.Machine().Waiting()) {
		if x.inbox.stopPosted(); !x.log.Run().IsOpen() {
			return nothingOpen(x.log.Name, x.log.Run())
		}
		return cmp.Or(later, error(&PausedError{Session: x.log.Name, Pending: p}))
	}
	if j.leg != nil && r.IsQueued() && now.Before(r.Queue.At) {
		return &PausedError{Session: x.log.Name}
	}
	if settled && r.Status == Running { // the decision has let it run
		return nil
	}
	return x.log.append(x.log.continued())
}

func nothingOpen(session string, r *machine.RunState) error {
	e := &SessionError{Session: session, Code: ErrNothingOpen}
	if r != nil {
		e.Status = r.Status
	}
	return e
}

// errNotOurs is why Recover leaves a session alone.
var errNotOurs = errors.New("agent: the session's run belongs to another agent, or to a parent")
