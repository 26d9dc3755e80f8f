package plan

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
)

// An Event is what [Runner.Run] yields: a [Fact], after it was recorded, or [Paused].
type Event interface{ Envelope() Meta }

// Paused is the last event of a run that waits for decisions. The next [Runner.Run] with its name
// continues.
type Paused struct {
	Meta
	Pending []Pause
}

// pollInbox is how often a run looks for decisions that other processes have posted. Those of this
// process wake it.
const pollInbox = time.Second

// Run begins a run of plans under a name, or continues the one that has it: where it paused, or
// where its process died. The first plan runs, and each other one if all before it have failed. A
// run that is continued needs no plans; if there are any, they have to be those with which it
// began.
//
// The loop over the events drives the run. Leaving it, and the end of ctx, stop what is in
// progress; the next Run continues. Nodes that have ended never run again. The sequence ends with
// [Paused], with [Ended], or with an error: a *[CheckError] for a plan that can't run, a
// *[BusyError] if the run is in progress elsewhere, a *[RunError], or the error of the journal or
// of ctx. After [Ended] with another status than [Completed] it is a *[FailedError].
func (r *Runner) Run(ctx context.Context, name string, plans ...*Plan) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if ctx == nil {
			ctx = context.Background()
		}
		l, held, err := r.open(ctx, name)
		if err != nil {
			yield(nil, err)
			return
		}
		x := &execution{Runner: r, log: l, ctx: held, yield: yield, results: make(chan result),
			inProgress: make(map[string]bool), paused: make(map[string][]agent.Pause), looked: make(map[string]uint64),
			wake: r.subscribe(name)}
		defer l.close(ctx)
		defer r.unsubscribe(name)
		x.work, x.stop = context.WithCancel(held)
		defer x.workers.Wait()
		defer x.stop()
		err = x.begin(plans)
		if err == nil {
			err = x.loop()
		}
		if err != nil && !x.left {
			yield(nil, err)
		}
	}
}

// An execution is a run of plans in this process.
type execution struct {
	*Runner
	log   *planLog
	ctx   context.Context // of Run; it also ends when the lease is lost
	yield func(Event, error) bool
	left  bool // the loop over the events was left

	work       context.Context // of the nodes
	stop       context.CancelFunc
	workers    sync.WaitGroup
	results    chan result
	inProgress map[string]bool          // what is in progress: ids of nodes, and plans with ids of nodes and checks
	paused     map[string][]agent.Pause // nodes whose sessions wait for decisions
	// by node that was paused: the last fact of its session when lookAgain continued it
	looked map[string]uint64
	wake   chan struct{} // a decision was posted in this process
	woken  bool          // wait has received from wake
	polled time.Time     // when the inbox was read
}

// A result is what became of something that was in progress.
type result struct {
	key     string // of execution.inProgress
	node    string
	plan    int           // the index of its plan, for a verdict
	fact    Fact          // what to record; nil: nothing
	pending []agent.Pause // the node's session waits for these
}

// subscribe returns what wakes the run with a name.
func (r *Runner) subscribe(name string) chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	wake := make(chan struct{}, 1)
	r.wake[name] = wake
	return wake
}

func (r *Runner) unsubscribe(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.wake, name)
}

func (r *Runner) notify(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if wake := r.wake[name]; wake != nil {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// begin proposes the plans of a run that has none, and compares them with those of one that has.
func (x *execution) begin(plans []*Plan) error {
	proposals := make([]Proposal, len(plans))
	for i, p := range plans {
		var err error
		if proposals[i], err = x.proposal(p); err != nil {
			return err
		}
	}
	s := x.log.machine.State()
	if s.Stage == "" {
		if len(plans) == 0 {
			return &RunError{Run: x.log.name, Problem: "it is unknown, and there are no plans to begin it with"}
		}
		return x.log.add(nil, &Proposed{Plans: proposals,
			Options: Options{Parallel: x.cfg.Parallel, KeepGoing: x.cfg.KeepGoing, AskOnFailure: x.cfg.AskOnFailure}})
	}
	if len(plans) == 0 {
		return nil
	}
	same := len(plans) == len(s.Original)
	for i := 0; same && i < len(plans); i++ {
		same = proposals[i].Plan.Hash() == s.Original[i]
	}
	if !same {
		return &RunError{Run: x.log.name, Problem: "it was begun with other plans; choose another name for these"}
	}
	return nil
}

// store stores what was added to the log, and shows it. Nothing that the facts announce may begin
// before. paused says that the run pauses, and open which decisions about the plan and its nodes it
// waits for.
func (x *execution) store(paused bool, open []journal.Open) error {
	facts, err := x.log.store(x.ctx, paused, open)
	if err != nil {
		return err
	}
	for _, f := range facts {
		if !x.left && !x.yield(f, nil) {
			x.left = true
		}
	}
	return nil
}

// loop performs the machine's actions until the run has ended, waits for a person, or is stopped.
func (x *execution) loop() error {
	for !x.left {
		if x.ctx.Err() != nil {
			return cmp.Or(x.store(false, nil), context.Cause(x.ctx))
		}
		if err := x.takeDecisions(); err != nil {
			return err
		}
		over, err := x.perform(x.log.machine.Next(time.Now()))
		if over || err != nil {
			return err
		}
	}
	return nil
}

// perform performs an action, or waits until there may be another one. It reports whether the run
// is over for now.
func (x *execution) perform(act Action) (over bool, err error) {
	s := x.log.machine.State()
	switch act.Kind {
	case ActNone:
		if err := x.store(false, nil); err != nil || x.left {
			return true, err
		}
		if s.Status != Completed {
			return true, &FailedError{Run: s.Log, Status: s.Status, Reason: s.Reason, Failures: s.Failures}
		}
		return true, nil
	case ActStart:
		return false, x.startNodes(act.Nodes)
	case ActJudge:
		if err := x.store(false, nil); err != nil || x.left {
			return false, err
		}
		if !x.judge(act.Nodes) {
			return false, x.wait(act.Until)
		}
		return false, nil
	case ActWait:
		if err := x.store(false, nil); err != nil || x.left {
			return false, err
		}
		if x.continueNodes(act.Nodes) {
			return false, nil
		}
		if len(x.inProgress) == 0 && act.Until.IsZero() {
			return x.pause()
		}
		return false, x.wait(act.Until)
	case ActApprove, ActAsk:
		return x.pause()
	case ActUndo:
		return false, x.undo(&s.Nodes[act.Nodes[0]])
	case ActFail:
		return false, x.log.add(nil, x.log.machine.Fail())
	case ActEnd:
		return false, x.log.add(nil, x.log.machine.End())
	}
	return true, fmt.Errorf("plan: run %q: unexpected action %d", s.Log, act.Kind)
}

// wait waits for a result, a decision, or the time at which a node may be tried again.
func (x *execution) wait(until time.Time) error {
	limit := pollInbox
	if !until.IsZero() {
		limit = min(limit, max(time.Until(until), 0))
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-x.results:
		return x.take(r) // stored with what follows from it
	case <-x.wake:
		x.woken = true
	case <-timer.C:
	case <-x.ctx.Done():
		return context.Cause(x.ctx)
	}
	return nil
}

// take takes a result.
func (x *execution) take(r result) error {
	delete(x.inProgress, r.key)
	if len(r.pending) > 0 {
		x.paused[r.node] = r.pending
	}
	if f, ok := r.fact.(*Judged); r.fact == nil || ok && !x.log.machine.s.awaits(r.plan, f) {
		return nil
	}
	return x.log.add(nil, r.fact)
}

// start runs f beside the loop, which takes its result.
func (x *execution) start(key string, f func() result) {
	x.inProgress[key] = true
	x.workers.Go(func() {
		r := f()
		r.key = key
		select {
		case x.results <- r:
		case <-x.work.Done(): // the next Run finds it in the node's session, or does it again
		}
	})
}

// lookAgain reports whether something was decided about the run or about a call of a node since it
// was looked for.
func (x *execution) lookAgain() (found bool, err error) {
	s := x.log.machine.State()
	seq := s.Seq
	x.polled = time.Time{}
	if err := x.takeDecisions(); err != nil || s.Seq > seq {
		return true, err
	}
	for id := range x.paused {
		n, ok := s.Node(id)
		if !ok {
			continue
		}
		head, err := x.nodeHead(x.ctx, s, &n.Node)
		if err != nil {
			return false, err
		}
		if decided(&head) && head.Seq != x.looked[id] {
			// something else may be in its inbox: then it waits again, and the log is the same
			x.looked[id] = head.Seq
			delete(x.paused, id) // continueNodes continues it
			found = true
		}
	}
	return found, nil
}

// pause says what the run waits for, in the head of its log and to the caller, unless something was
// decided meanwhile. It reports whether the run is over for now.
func (x *execution) pause() (over bool, err error) {
	if decided, err := x.lookAgain(); decided || err != nil {
		return false, err
	}
	s := x.log.machine.State()
	pending := s.pending()
	open := make([]journal.Open, len(pending)) // the sessions of the nodes have the pauses of calls in their own heads
	for i := range pending {
		q, err := s.question(&pending[i])
		if err != nil {
			return true, err
		}
		open[i] = journal.Open{ID: q.ID, Kind: string(q.Kind),
			Title: cut(toolName+": "+line(q.Reason), journal.MaxName), What: q.Title}
	}
	for id, calls := range x.paused {
		if n, ok := s.Node(id); ok {
			pending = append(pending, s.callPauses(&n.Node, calls)...)
		}
	}
	sortPauses(pending)
	if err := x.store(true, open); err != nil || x.left {
		return true, err
	}
	x.yield(&Paused{Meta: Meta{Log: x.log.name}, Pending: pending}, nil)
	x.left = true
	return true, nil
}
