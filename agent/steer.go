package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/pawlkit/pawl/agent/internal/session"
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
func (a *Agent) steer(ctx context.Context, name, text string) (*Receipt, error) {
	it := session.Item{ID: newID("m-"), Kind: session.ItemSteer, Text: text}
	if x := a.driverOf(name); x != nil {
		if r := x.receipts.expect(it.ID); r != nil {
			if err := a.sessions.Post(ctx, name, it); err != nil {
				x.receipts.forget(it.ID)
				return nil, err
			}
			return r, nil
		}
	}
	after := uint64(0) // in the log its delivery comes later
	if head, err := a.sessions.Store.Head(ctx, name); err == nil {
		after = head.Seq
	}
	id, err := a.sessions.Send(ctx, name, it)
	if err != nil {
		return nil, err
	}
	return &Receipt{Posted: true, follow: func(ctx context.Context) (int, error) {
		return a.follow(ctx, name, id, after)
	}}, nil
}

// steerOnce posts a message with a key to the run of a session. Its id is made of the key and the
// run, so that the store accepts it once.
func (a *Agent) steerOnce(ctx context.Context, name, key, text string) (*Receipt, error) {
	m, err := a.sessions.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	s := m.State()
	if err := duplicate(s, key); err != nil {
		return nil, err
	}
	if s.Run == nil {
		return nil, &SessionError{Session: name, Code: ErrNothingOpen}
	}
	sum := sha256.Sum256([]byte(s.Run.ID + "\x00" + key))
	it := session.Item{ID: "m-" + hex.EncodeToString(sum[:16]), Kind: session.ItemSteer, Text: text, Key: key}
	_, err = a.sessions.Send(ctx, name, it)
	if err != nil && !errors.As(err, new(*journal.PostedError)) {
		return nil, err
	}
	after := s.Seq
	return &Receipt{Posted: true, follow: func(ctx context.Context) (int, error) {
		return a.follow(ctx, name, it.ID, after)
	}}, nil
}

// receipts are those of messages to a run that this process has posted, and that weren't delivered
// yet.
type receipts struct {
	mu   sync.Mutex          // guards what follows
	open map[string]*Receipt // nil once the run is over
}

// expect returns the receipt of a message that is about to be posted, or nil if the run is over.
func (r *receipts) expect(id string) *Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		return nil
	}
	one := &Receipt{done: make(chan struct{})}
	r.open[id] = one
	return one
}

// expects reports whether an inbox item is a message that this process posted to the run.
func (r *receipts) expects(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open[id] != nil
}

func (r *receipts) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, id)
}

// settle settles the receipts of messages that the model call of a step contains.
func (r *receipts) settle(ids []string, step int) {
	if len(ids) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		if one := r.open[id]; one != nil {
			one.settle(step, nil)
			delete(r.open, id)
		}
	}
}

// close returns the receipts that are left. From now on no message is expected.
func (r *receipts) close() map[string]*Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.open
	r.open = nil
	return left
}

// refuse settles all receipts of a run whose session couldn't be held. The messages stay in the
// inbox: whoever holds the session may deliver them.
func (r *receipts) refuse(why error) {
	for _, one := range r.close() {
		one.settle(0, fmt.Errorf("agent: it isn't known whether the message is delivered: %w", why))
	}
}

// closeReceipts settles all receipts when the run is over. Messages that weren't delivered are
// removed from the inbox, so that no later run reads them.
func (b *inbox) closeReceipts() {
	left := b.receipts.close()
	if len(left) > 0 || b.paused() {
		b.dropMessages(func(id string) bool { return left[id] != nil })
	}
	for _, r := range left {
		r.settle(0, errNotDelivered)
	}
}

// dropMessages removes messages from the inbox whose senders were told that they are lost: those
// that mine selects, and, if the run is paused, those that other processes have posted.
func (b *inbox) dropMessages(mine func(id string) bool) {
	for _, it := range b.Inbox() {
		if mine(it.ID) || it.Kind == session.ItemSteer && b.paused() && !b.receipts.expects(it.ID) {
			b.Remove(it.ID)
		}
	}
}

// paused reports whether the log says that the run is paused.
func (l *sessionLog) paused() bool { return l.Run().IsOpen() && l.Run().Status == Paused }

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
