package agent

import (
	"context"
	"errors"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
)

// A Receipt tells what became of a message to a running session.
type Receipt struct {
	// Posted says that the session runs in another process.
	Posted bool

	done   chan struct{} // closed when step or err is set; nil for one that was posted
	step   int
	err    error
	follow func(context.Context) (int, error) // for one that was posted
}

// Wait returns the step before which the model reads the message, once that is certain, or why it never will: the run
// ended or paused first. For a message to another process it reads the session's log, four times a second.
func (r *Receipt) Wait(ctx context.Context) (step int, err error) {
	ctx = orBackground(ctx)
	if r.Posted {
		return r.follow(ctx)
	}
	select {
	case <-r.done:
		return r.step, r.err
	default:
	}
	select {
	case <-r.done:
		return r.step, r.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

func (r *Receipt) settle(step int, err error) {
	r.step, r.err = step, err
	close(r.done)
}

var errNotDelivered = errors.New("agent: the run ended or paused before the message could be delivered")

// steer posts a message.
func (a *Agent) steer(ctx context.Context, session, text string) (*Receipt, error) {
	it := inboxItem{ID: newID("m-"), Kind: itemSteer, Text: text}
	if x := a.driverOf(session); x != nil {
		if r := x.expect(it.ID); r != nil {
			if err := a.post(ctx, session, it); err != nil {
				x.forget(it.ID)
				return nil, err
			}
			return r, nil
		}
	}
	after := uint64(0) // in the log its delivery comes later
	if head, err := a.store.Head(ctx, session); err == nil {
		after = head.Seq
	}
	id, err := a.send(ctx, session, it)
	if err != nil {
		return nil, err
	}
	return &Receipt{Posted: true, follow: func(ctx context.Context) (int, error) { return a.follow(ctx, session, id, after) }}, nil
}

// expect makes the receipt of a message that is about to be posted; nil if the run is over.
func (x *driver) expect(id string) *Receipt {
	x.agent.mu.Lock()
	defer x.agent.mu.Unlock()
	if x.receipts == nil {
		return nil
	}
	r := &Receipt{done: make(chan struct{})}
	x.receipts[id] = r
	return r
}

// expects reports whether an inbox item is a message that this process has posted to the run.
func (x *driver) expects(id string) bool {
	x.agent.mu.Lock()
	defer x.agent.mu.Unlock()
	return x.receipts[id] != nil
}

func (x *driver) forget(id string) {
	x.agent.mu.Lock()
	defer x.agent.mu.Unlock()
	delete(x.receipts, id)
}

// settleReceipts settles the receipts of messages that were delivered, before a step.
func (x *driver) settleReceipts(step int) {
	if len(x.delivered) == 0 {
		return
	}
	x.agent.mu.Lock()
	defer x.agent.mu.Unlock()
	for _, id := range x.delivered {
		if r := x.receipts[id]; r != nil {
			r.settle(step, nil)
			delete(x.receipts, id)
		}
	}
	x.delivered = nil
}

// closeReceipts settles all receipts when the run is over. Messages that weren't delivered leave the inbox, so that no later
// run reads what its sender was told is lost.
func (x *driver) closeReceipts() {
	x.agent.mu.Lock()
	receipts := x.receipts
	x.receipts = nil
	x.agent.mu.Unlock()
	if len(receipts) == 0 {
		return
	}
	for _, it := range x.inbox() {
		if receipts[it.ID] != nil {
			x.remove(it.ID)
		}
	}
	for _, r := range receipts {
		r.settle(0, errNotDelivered)
	}
}

// followInterval is how often a log is read to find out what became of a message.
const followInterval = 250 * time.Millisecond

// follow waits until the log of a session says what became of a message that was posted.
func (a *Agent) follow(ctx context.Context, session, id string, after uint64) (step int, err error) {
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	delivered := false
	for {
		facts, err := a.factsAfter(ctx, session, after)
		if err != nil {
			return 0, err
		}
		for _, f := range facts {
			after = f.Envelope().Seq
			switch f := f.(type) {
			case Steered:
				delivered = delivered || f.ID == id
			case StepStarted:
				if delivered {
					return f.Step, nil
				}
			case machine.RunEnded:
				if f.Code != machine.CodeContextReset { // the next run of the chain reads it
					return 0, errNotDelivered
				}
			}
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-tick.C:
		}
	}
}
