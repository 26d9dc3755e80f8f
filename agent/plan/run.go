package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/work"
)

// poll is how often a run that is driven, and one that is watched, is looked at for what other
// processes have done. What this process does is known at once.
const poll = time.Second

// An execution drives a run of plans in this process.
//
// One goroutine, the loop, owns the state. It takes decisions, starts what is ready, stores that in
// one append, and waits for a message, a decision, the time, or the end of its context. For each
// node, check and undo that is in progress there is one goroutine that tends it until it has a
// result: see tend.go.
type execution struct {
	*Runner
	log  *planLog
	s    *State          // of log
	ctx  context.Context // ends with that of drive, and when the lease is lost
	wake chan struct{}   // something was posted in this process
	poll *time.Ticker    // when to look for what was posted in another one
	look bool            // the inbox is to be read
	ask  bool            // calls of nodes may have been decided on: their sessions are to be looked at

	changed func(*State) // nil: nobody is told

	work     context.Context // of those who tend
	tending  sync.WaitGroup
	messages chan message
	works    map[string]*tended // what is in progress, by key
}

// A message is what somebody who tends tells the loop.
type message struct {
	key   string
	over  bool          // the work has ended
	fact  fact          // what to record; nil: nothing
	waits []agent.Pause // what the work waits for; none: it goes on
	err   error         // why the run can't go on in this process
}

// drive drives a run until it has ended, or waits for decisions alone. It returns its state. The
// error is [agent.ErrBusy] if the run is in progress elsewhere, or says what has stopped it: the
// end of ctx, a drain, the journal. Then it stays as it is, for whoever drives it next. changed, if
// it isn't nil, is called when something was stored; it doesn't keep the state.
func (r *Runner) drive(ctx context.Context, run string, changed func(*State)) (*State, error) {
	l, held, err := r.open(ctx, run)
	if err != nil {
		return nil, err
	}
	defer l.close(ctx)
	if l.state.Status.ended() {
		return l.state, nil
	}
	x := &execution{Runner: r, log: l, s: l.state, ctx: held, look: true, changed: changed,
		messages: make(chan message), works: make(map[string]*tended), poll: time.NewTicker(poll)}
	defer x.poll.Stop()
	var leave func()
	x.wake, leave = r.listeners.Listen(run)
	defer leave()
	var stop context.CancelFunc
	if tree := l.state.tree; len(work.Tree(ctx)) == 0 { // else it is driven in a call, whose run pays
		held = work.WithRun(held, work.Ancestors(tree))
	}
	x.work, stop = context.WithCancel(held)
	defer x.tending.Wait()
	defer stop()
	return x.s, x.loop()
}

func (x *execution) loop() error {
	for {
		if err := x.takeDecisions(); err != nil {
			return err
		}
		act, err := x.decideNext()
		if err != nil {
			return err
		}
		x.lookAtCalls()
		idle := x.idle(&act)
		changed, err := x.log.store(x.ctx, headOf(x.s, x.waits(), idle))
		if changed {
			x.listeners.Tell(x.s.Run, x.wake)
		}
		if changed && err == nil && x.changed != nil {
			x.changed(x.s)
		}
		if err != nil || idle || x.s.Status.ended() {
			return err
		}
		x.begin(&act)
		if err := x.wait(act.until); err != nil {
			return err
		}
	}
}

// decideNext adds the facts that follow from the state, and returns what has to be waited for then.
// Before a plan ends, it takes what was decided until then.
func (x *execution) decideNext() (action, error) {
	for looked := false; ; {
		now := time.Now()
		act, late := x.s.next(now), x.s.expired(now)
		var err error
		if ends := act.kind == actFail || act.kind == actEnd; (ends || late != nil) && !looked {
			looked, x.look = true, true
			if err = x.takeDecisions(); err != nil {
				return act, err
			}
			continue
		}
		switch {
		case late != nil:
			err = x.log.add(late)
		case act.kind == actStart:
			for _, i := range act.nodes {
				n := &x.s.Nodes[i]
				if err = x.log.add(&NodeStarted{Node: n.Node.ID, Attempt: n.Attempt + 1, Round: n.Round,
					Key: x.s.key(n)}); err != nil {
					break
				}
			}
		case act.kind == actFail && x.undoing(): // and the run was stopped meanwhile
			return action{kind: actWait}, nil
		case act.kind == actFail:
			err = x.log.add(x.s.failure())
		case act.kind == actEnd:
			err = x.log.add(x.s.conclusion())
		default:
			return act, nil
		}
		if err != nil {
			return act, err
		}
	}
}

// undoing reports whether the effects of a node are being undone.
func (x *execution) undoing() bool {
	for key := range x.works {
		if strings.HasPrefix(key, undoKey) {
			return true
		}
	}
	return false
}

// key returns the idempotency key of a node's next attempt. The time at which the run began is in
// it because a run that was deleted may have had the same name.
func (s *State) key(n *NodeState) string {
	if n.Attempt > 0 {
		return n.Key
	}
	return fmt.Sprintf("%s/%d/%s", SessionOf(s.Run, s.Current, n.Node.ID), n.Round,
		strconv.FormatInt(s.began.UnixNano(), 36))
}

// idle reports whether nothing is in progress and nothing can begin before something is decided.
func (x *execution) idle(act *action) bool {
	if act.kind != actApprove && act.kind != actAsk && act.kind != actWait || !act.until.IsZero() {
		return false
	}
	for _, i := range act.nodes {
		if t := x.works[x.s.Nodes[i].Node.ID]; act.kind == actWait && (t == nil || len(t.waits) == 0) {
			return false
		}
	}
	return x.s.ending == nil
}

// waits returns what the calls of nodes wait for.
func (x *execution) waits() (all []agent.Pause) {
	for i := range x.s.Nodes {
		if t := x.works[x.s.Nodes[i].Node.ID]; t != nil {
			all = append(all, inNode(x.s.Nodes[i].Node.ID, t.waits)...)
		}
	}
	return all
}

// undoKey begins the keys of work that undoes the effects of a node.
const undoKey = "undo "

// begin has everything tended that should be in progress and isn't.
func (x *execution) begin(act *action) {
	for _, i := range x.s.with(NodeRunning) {
		n := &x.s.Nodes[i]
		t := x.works[n.Node.ID]
		if t == nil {
			k := x.task(n)
			t = x.tend(n.Node.ID, func(t *tended) { x.tendNode(t, k) })
		}
		if x.s.ending != nil {
			t.cancel()
		}
	}
	switch act.kind {
	case actJudge:
		for _, i := range act.nodes {
			x.judge(&x.s.Nodes[i])
		}
	case actUndo:
		n, plan := x.s.Nodes[act.nodes[0]].Node, x.s.Current
		if key := undoKey + n.ID; x.works[key] == nil {
			x.tend(key, func(t *tended) { x.tendUndo(t, plan, &n) })
		}
	}
}

// lookAtCalls resumes the nodes whose calls were decided on: those whose session has something in
// its inbox, or waits for nothing. It is called when a node has begun to wait, because the decision
// may have come before that; when something was posted; and regularly, because a decision may be
// made in the node's own session. The item [itemLook] of the inbox only makes this faster.
func (x *execution) lookAtCalls() {
	if !x.ask {
		return
	}
	x.ask = false
	for i := range x.s.Nodes {
		n := &x.s.Nodes[i].Node
		t := x.works[n.ID]
		if t == nil || len(t.waits) == 0 {
			continue
		}
		head, err := x.agentOf(n.Worker).Journal().Head(x.ctx, SessionOf(x.s.Run, x.s.Current, n.ID))
		now, decided := looked{head.Seq, head.Inbox}, head.Inbox > 0 || len(head.Open) == 0
		if err == nil && decided && now != t.looked {
			t.looked, t.waits = now, nil // it tells again
			select {
			case t.look <- struct{}{}:
			default:
			}
		}
	}
}

// wait waits for a message, a decision, or the time at which a node may be tried again.
func (x *execution) wait(until time.Time) error {
	var later <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		later = timer.C
	}
	select {
	case m := <-x.messages:
		return x.take(m)
	case <-x.wake:
		x.look = true
	case <-x.poll.C:
		head, err := x.store.Head(x.ctx, x.s.Run)
		if err != nil && x.ctx.Err() == nil {
			return storeError(x.s.Run, "reading its head", err)
		}
		x.look, x.ask = err == nil && head.Inbox > 0, true
		for _, t := range x.works {
			t.looked = looked{} // what couldn't be taken before may be taken now
		}
	case <-later:
	case <-x.ctx.Done():
		return context.Cause(x.ctx)
	}
	return nil
}

// take takes a message.
func (x *execution) take(m message) error {
	if m.err != nil {
		return m.err
	}
	x.works[m.key].waits = m.waits
	x.ask = x.ask || len(m.waits) > 0
	if m.over {
		delete(x.works, m.key)
	}
	if m.fact == nil {
		return nil
	}
	err := x.log.add(m.fact)
	if _, ok := m.fact.(*judged); ok {
		return nil // one that doesn't fit isn't needed: the check was waived, or the plan given up
	}
	return err
}

// takeDecisions takes what is in the inbox, if there may be something. A decision that doesn't fit
// any more is dropped: what it was about has ended meanwhile.
func (x *execution) takeDecisions() error {
	if !x.look {
		return nil
	}
	items, err := x.store.Take(x.ctx, x.s.Run, x.log.lease.Fence)
	if err != nil {
		if x.ctx.Err() != nil {
			return context.Cause(x.ctx)
		}
		return storeError(x.s.Run, "reading the inbox", err)
	}
	x.look = false
	for _, it := range items {
		x.log.taken = append(x.log.taken, it.ID)
		if it.Kind == itemLook {
			x.ask = true
			continue
		}
		f := new(decided)
		err := json.Unmarshal(it.Data, f)
		f.Hashes = nil // only a log has some
		if err == nil {
			err = x.log.add(f)
		}
		if err != nil {
			x.cfg.Logger.WarnContext(x.ctx, "plan: a decision doesn't fit any more and is dropped", "run", x.s.Run,
				"decision", f.Choice, "error", err)
		}
	}
	return nil
}

// posted says that something was posted to a run.
func (r *Runner) posted(run string) {
	r.listeners.Tell(run, nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.serving {
		l.Poke(run)
	}
}
