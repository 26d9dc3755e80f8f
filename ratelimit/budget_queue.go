package ratelimit

import (
	"context"
	"time"
)

// A claim is a request that waits for open reservations. It is in the queue of one account, the first that has no room for
// it, and moves to another account if that has no room next. It is guarded by the Budget's lock, except decided.
type claim struct {
	r   *Reservation
	seq uint64 // order of arrival

	at      *account     // whose queue it is in; nil once decided
	place   links[claim] // in that queue
	refusal *BudgetError
	decided chan struct{} // closed when the claim is decided
}

// enter puts c into the queue of a, in order of seq.
func (c *claim) enter(a *account) {
	c.at = a
	var before *claim
	for last := a.queue.tail; last != nil && last.seq > c.seq; last = last.place.prev {
		before = last
	}
	a.queue.insertBefore(before, c)
}

// leave removes c from its queue.
func (c *claim) leave() {
	c.at.queue.remove(c)
	c.at = nil
}

// serve decides claims of accounts that may have room now: the first of each queue, until one has to stay.
func (b *Budget) serve(now instant) {
	for len(b.freed) > 0 {
		last := len(b.freed) - 1
		a := b.freed[last]
		b.freed = b.freed[:last]
		for c := a.queue.head; c != nil; c = a.queue.head {
			b.rollAll(c.r, now) // may add to freed
			at, refusal := b.check(c.r, c.r.held, c.r.unpriced, c.seq)
			if at == a {
				break
			}
			c.leave()
			if at != nil {
				c.enter(at)
				continue
			}
			if c.refusal = refusal; refusal == nil {
				b.admit(c.r)
			} else {
				b.detach(c.r, now)
			}
			close(c.decided)
		}
	}
}

// wait blocks until c is decided. It is called with the lock held, and releases it.
func (b *Budget) wait(ctx context.Context, c *claim, ahead int, onWait func(Wait)) (*Reservation, error) {
	answered := false
	defer func() {
		if !answered { // canceled, or onWait or onEvent has panicked
			b.withdraw(c)
		}
	}()
	b.unlock()
	if onWait != nil {
		onWait(Wait{Reason: WaitBudget, Ahead: ahead})
	}
	var timer *time.Timer // for the end of a period, which makes room without a Settle
	for {
		var rolled <-chan time.Time
		end, moved := b.nextEnd(c)
		if !end.IsZero() {
			if timer == nil {
				timer = time.NewTimer(time.Until(end))
				defer timer.Stop()
			} else {
				timer.Reset(time.Until(end))
			}
			rolled = timer.C
		}
		select {
		case <-c.decided:
			answered = true
			if c.refusal != nil {
				return nil, c.refusal
			}
			return c.r, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-moved:
		case <-rolled:
			b.mu.Lock()
			now := b.now()
			b.rollAll(c.r, now)
			b.serve(now)
			b.unlock()
		}
	}
}

// nextEnd returns the first end of a period that c depends on; zero: none. moved is closed when a limit gets another period.
func (b *Budget) nextEnd(c *claim) (end time.Time, moved <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.moved == nil {
		b.moved = make(chan struct{})
	}
	for _, a := range c.r.accounts[:c.r.n] {
		if !a.end.IsZero() && (end.IsZero() || a.end.Before(end)) {
			end = a.end
		}
	}
	return end, b.moved
}

// move wakes waiting claims because a limit has another period.
func (b *Budget) move() {
	if b.moved != nil {
		close(b.moved)
		b.moved = nil
	}
}

// withdraw gives back c's reservation or its place in a queue.
func (b *Budget) withdraw(c *claim) {
	b.mu.Lock()
	if c.at == nil {
		b.unlock()
		c.r.Settle(0, 0)
		return
	}
	defer b.unlock()
	now, at := b.now(), c.at
	c.leave()
	b.free(at) // the next claim may need less
	c.r.settled = true
	b.detach(c.r, now)
	b.serve(now)
}
