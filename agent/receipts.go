package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// A Receipt reports whether a message to a run was delivered.
type Receipt struct {
	// Posted says that Wait reads the session's log: the session runs in another process, or the
	// message has a key.
	Posted bool

	done  chan struct{} // closed when step or err is set; nil if Posted
	step  int
	err   error
	start uint64 // of a run that goes on elsewhere: follow reads the log from there; 0: it doesn't
	// follow waits by reading the log after a fact.
	follow func(ctx context.Context, after uint64) (int, error)
}

// Wait waits until the message is delivered and returns the step whose model call contains it. If
// the run ends or pauses first, it returns an error. If Posted is true, it reads the session's log
// four times a second. Wait is safe for concurrent use.
func (r *Receipt) Wait(ctx context.Context) (step int, err error) {
	ctx = orBackground(ctx)
	switch {
	case r == nil || r.done == nil && r.follow == nil:
		return 0, errNoReceipt
	case r.Posted:
		return r.follow(ctx, r.start)
	}
	select {
	case <-r.done:
		return r.settled(ctx)
	default:
	}
	select {
	case <-r.done:
		return r.settled(ctx)
	case <-ctx.Done():
		return 0, causeOf(ctx)
	}
}

func (r *Receipt) settled(ctx context.Context) (step int, err error) {
	if r.start > 0 {
		return r.follow(ctx, r.start)
	}
	return r.step, r.err
}

func (r *Receipt) settle(step int, err error) {
	r.step, r.err = step, err
	close(r.done)
}

var errNoReceipt = errors.New("agent: this Receipt is nil or empty; Steer makes one")

var errNotDelivered = errors.New("agent: the run ended or paused before the message could be delivered")

// receipts are those of messages to a run that this process has posted, and that weren't delivered
// yet.
type receipts struct {
	mu   sync.Mutex // guards what follows
	open map[string]*Receipt
	over bool // so is the run: no message is expected
}

// expect returns the receipt of a message that is about to be posted, or nil if the run is over.
func (r *receipts) expect(id string, follow func(ctx context.Context, after uint64) (int, error)) *Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return nil
	}
	if r.open == nil {
		r.open = make(map[string]*Receipt)
	}
	one := &Receipt{done: make(chan struct{}), follow: follow}
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
	r.open, r.over = nil, true
	return left
}

// refuse settles all receipts of a run whose session couldn't be held. The messages stay in the
// inbox: whoever holds the session may deliver them.
func (r *receipts) refuse(why error) {
	for _, one := range r.close() {
		one.settle(0, fmt.Errorf("agent: it isn't known whether the message is delivered: %w", why))
	}
}
