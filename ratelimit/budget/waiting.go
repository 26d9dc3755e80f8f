package budget

import (
	"context"
	"time"
)

// wait blocks until c is decided. It is called with the lock held, and releases it.
func (b *Budget) wait(ctx context.Context, c *claim, ahead int, onWait func(ahead int)) (*Reservation, error) {
	answered := false
	defer func() {
		if !answered { // canceled, or onWait or onEvent has panicked
			b.withdraw(c)
		}
	}()
	b.unlock()
	if onWait != nil {
		onWait(ahead)
	}
	for {
		var rolled <-chan time.Time // at the end of a period, which makes room without a Settle
		end, moved := b.nextEnd(c)
		if !end.IsZero() {
			rolled = time.After(time.Until(end))
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
			now := time.Now()
			b.rollAll(c.r, now)
			b.serve(now)
			b.unlock()
		}
	}
}

// nextEnd returns the first end of a period that c depends on; zero: none. moved is closed when a
// limit gets another period.
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
	now, at := time.Now(), c.at
	c.leave()
	b.free(at) // the next claim may need less
	c.r.settled = true
	b.detach(c.r, now)
	b.serve(now)
}
