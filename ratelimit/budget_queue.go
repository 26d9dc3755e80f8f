package ratelimit

import (
	"context"
	"fmt"
	"time"
)

// A claim is a request that waits for open reservations. It is in the queue of one account, the first that has no room for
// it, and moves on to another when that is where it is held up next. Guarded by the Budget's lock, apart from decided.
type claim struct {
	r   *Reservation
	seq uint64 // who came first goes first

	at         *account // whose queue it is in; nil once decided
	prev, next *claim
	refusal    *BudgetError
	decided    chan struct{} // closed when it is
}

// claims is a queue by seq.
type claims struct {
	front, back *claim
	len         int
}

// insert puts c at its place.
func (q *claims) insert(c *claim) {
	q.len++
	after := q.back
	for after != nil && after.seq > c.seq {
		after = after.prev
	}
	c.prev = after
	if after != nil {
		c.next, after.next = after.next, c
	} else {
		c.next, q.front = q.front, c
	}
	if c.next != nil {
		c.next.prev = c
	} else {
		q.back = c
	}
}

func (q *claims) remove(c *claim) {
	q.len--
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		q.front = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		q.back = c.prev
	}
	c.prev, c.next = nil, nil
}

// enter has c wait at a.
func (c *claim) enter(a *account) {
	c.at = a
	a.queue.insert(c)
}

// leave takes c out of its queue.
func (c *claim) leave() {
	c.at.queue.remove(c)
	c.at = nil
}

// serve lets those go on that wait for accounts in which there may be room now: the first of each queue, as long as that
// doesn't have to stay.
func (b *Budget) serve(now instant) {
	for len(b.freed) > 0 {
		last := len(b.freed) - 1
		a := b.freed[last]
		b.freed = b.freed[:last]
		for c := a.queue.front; c != nil; c = a.queue.front {
			b.rollAll(c.r, now) // may add to freed
			at, refusal := b.judge(c.r, c.r.held, c.r.unpriced, c.seq)
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
				b.drop(c.r, now)
			}
			close(c.decided)
		}
	}
}

// wait returns what becomes of c. It is called with the lock, and gives it up.
func (b *Budget) wait(ctx context.Context, c *claim, ahead int, onWait func(Wait)) (*Reservation, error) {
	answered := false
	defer func() {
		if !answered { // given up; or onWait, or onEvent, has panicked
			b.withdraw(c)
		}
	}()
	b.unlock()
	if onWait != nil {
		onWait(Wait{Reason: WaitBudget, Ahead: ahead})
	}
	var timer *time.Timer // for the end of a period, which makes room without anybody settling
	for {
		var rolled <-chan time.Time
		if end := b.nextEnd(c); !end.IsZero() {
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
			return nil, gaveUp(ctx)
		case <-rolled:
			b.mu.Lock()
			now := b.now()
			b.rollAll(c.r, now)
			b.serve(now)
			b.unlock()
		}
	}
}

// nextEnd returns the first end of a period that c depends on; zero: none.
func (b *Budget) nextEnd(c *claim) (end time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range c.r.accounts[:c.r.n] {
		if !a.end.IsZero() && (end.IsZero() || a.end.Before(end)) {
			end = a.end
		}
	}
	return end
}

// withdraw gives back what c has, room or a place in a queue.
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
	b.free(at) // the next may be content with less
	c.r.settled = true
	b.drop(c.r, now)
	b.serve(now)
}

func gaveUp(ctx context.Context) error {
	return fmt.Errorf("ratelimit: waiting for room in a budget: %w", context.Cause(ctx))
}
