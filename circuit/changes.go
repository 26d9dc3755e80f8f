package circuit

// pendingChanges are the changes that OnChange hasn't received yet. A goroutine that unlocks the
// breaker delivers all of them, unless another is delivering: so OnChange is called in order, one
// change at a time, and without a lock held.
type pendingChanges struct {
	waiting []Change
	telling bool
}

// mostWaiting is how many changes may wait while OnChange is busy.
const mostWaiting = 1_000

func (c *pendingChanges) add(change Change) {
	if len(c.waiting) >= mostWaiting {
		c.waiting = append(c.waiting[:0], c.waiting[1:]...)
	}
	c.waiting = append(c.waiting, change)
}

// begin reports whether the caller must deliver.
func (c *pendingChanges) begin() bool {
	if c.telling || len(c.waiting) == 0 {
		return false
	}
	c.telling = true
	return true
}

// next takes the oldest change, or ends the delivery if there is none.
func (c *pendingChanges) next() (Change, bool) {
	if len(c.waiting) == 0 {
		c.waiting, c.telling = nil, false
		return Change{}, false
	}
	first := c.waiting[0]
	c.waiting = c.waiting[1:]
	return first, true
}

func (b *Breaker) tell() {
	ended := false
	defer func() {
		if !ended { // OnChange panicked: the next goroutine that unlocks delivers the rest
			b.mu.Lock()
			b.changes.telling = false
			b.mu.Unlock()
		}
	}()
	for {
		b.mu.Lock()
		change, ok := b.changes.next()
		b.mu.Unlock()
		if !ok {
			break
		}
		b.cfg.OnChange(change)
	}
	ended = true
}
