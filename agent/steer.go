package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A Receipt reports whether a message to a run was delivered.
type Receipt struct {
	// Posted says that Wait reads the session's log: the session runs in another process, or the
	// message has a key.
	Posted bool

	done   chan struct{} // closed when step or err is set; nil if Posted
	step   int
	err    error
	follow func(context.Context) (int, error) // waits by reading the log; nil unless Posted
}

// Wait waits until the message is delivered and returns the step whose model call contains it. If
// the run ends or pauses first, it returns an error. If Posted is true, it reads the session's log
// four times a second. Wait is safe for concurrent use.
func (r *Receipt) Wait(ctx context.Context) (step int, err error) {
	ctx = orBackground(ctx)
	switch {
	case r == nil || r.done == nil && r.follow == nil:
		return 0, errNoReceipt
	case r.follow != nil:
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
		return 0, causeOf(ctx)
	}
}

func (r *Receipt) settle(step int, err error) {
	r.step, r.err = step, err
	close(r.done)
}

var errNoReceipt = errors.New("agent: this Receipt is nil or empty; Steer makes one")

var errNotDelivered = errors.New("agent: the run ended or paused before the message could be delivered")

// steer posts a message to the run of a session.
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
	return &Receipt{Posted: true, follow: func(ctx context.Context) (int, error) {
		return a.follow(ctx, session, id, after)
	}}, nil
}

// steerOnce posts a message with a key to the run of a session. Its id is made of the key and the
// run, so that the store accepts it once.
func (a *Agent) steerOnce(ctx context.Context, session, key, text string) (*Receipt, error) {
	m, err := a.load(ctx, session)
	if err != nil {
		return nil, err
	}
	s := m.State()
	if err := duplicate(s, key); err != nil {
		return nil, err
	}
	if s.Run == nil {
		return nil, &SessionError{Session: session, Code: ErrNothingOpen}
	}
	sum := sha256.Sum256([]byte(s.Run.ID + "\x00" + key))
	it := inboxItem{ID: "m-" + hex.EncodeToString(sum[:16]), Kind: itemSteer, Text: text, Key: key}
	_, err = a.send(ctx, session, it)
	if err != nil && !errors.As(err, new(*journal.PostedError)) {
		return nil, err
	}
	after := s.Seq
	return &Receipt{Posted: true, follow: func(ctx context.Context) (int, error) {
		return a.follow(ctx, session, it.ID, after)
	}}, nil
}

// expect returns the receipt of a message that is about to be posted, or nil if the run is over.
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

// expects reports whether an inbox item is a message that this process posted to the run.
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

// settleReceipts settles the receipts of the messages that a step's model call contains.
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

// closeReceipts settles all receipts when the run is over. Messages that weren't delivered are
// removed from the inbox, so that no later run reads them.
func (x *driver) closeReceipts() {
	x.agent.mu.Lock()
	receipts := x.receipts
	x.receipts = nil
	x.agent.mu.Unlock()
	if len(receipts) > 0 || x.paused() {
		x.dropMessages(func(id string) bool { return receipts[id] != nil })
	}
	for _, r := range receipts {
		r.settle(0, errNotDelivered)
	}
}

// dropMessages removes messages from the inbox whose senders were told that they are lost: those
// that mine selects, and, if the run is paused, those that other processes have posted.
func (x *driver) dropMessages(mine func(id string) bool) {
	for _, it := range x.inbox() {
		if mine(it.ID) || it.Kind == itemSteer && x.paused() && !x.expects(it.ID) {
			x.remove(it.ID)
		}
	}
}

// paused reports whether the log says that the run is paused.
func (l *sessionLog) paused() bool { return l.run().IsOpen() && l.run().Status == Paused }

// refuseReceipts settles all receipts of a run whose session couldn't be held. The messages stay in
// the inbox: whoever holds the session may deliver them.
func (x *driver) refuseReceipts(why error) {
	x.agent.mu.Lock()
	defer x.agent.mu.Unlock()
	for _, r := range x.receipts {
		r.settle(0, fmt.Errorf("agent: it isn't known whether the message is delivered: %w", why))
	}
	x.receipts = nil
}

// follow watches a session until its log says whether a message was delivered.
func (a *Agent) follow(ctx context.Context, session, id string, after uint64) (step int, err error) {
	delivered := false
	for ev, err := range a.Session(session).Watch(ctx, after) {
		if errors.Is(err, ErrNothingOpen) {
			break
		}
		if err != nil {
			return 0, err
		}
		switch ev := ev.(type) {
		case *machine.Steered:
			delivered = delivered || ev.ID == id
		case *StepStarted:
			if delivered {
				return ev.Step, nil
			}
		case *RunEnded:
			if ev.Code != machine.CodeContextReset { // the next run of the chain reads it
				return 0, errNotDelivered
			}
		}
	}
	return 0, errNotDelivered
}
