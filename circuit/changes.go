package circuit

// mostWaiting is how many changes may wait while OnChange is busy.
const mostWaiting = 1_000

// pendingChanges are the changes that OnChange hasn't received yet.
type pendingChanges struct {
	waiting []Change
	telling bool // a goroutine delivers them
}

func (c *pendingChanges) add(change Change) {
	if len(c.waiting) >= mostWaiting {
		c.waiting = append(c.waiting[:0], c.waiting[1:]...)
	}
	c.waiting = append(c.waiting, change)
}

// due reports whether the goroutine that unlocks the breaker must deliver.
func (c *pendingChanges) due() bool { return len(c.waiting) > 0 && !c.telling }

// tell delivers all changes, unless another goroutine does: so OnChange is called in order, one
// change at a time, and without a lock held. If it panics, the next that unlocks delivers the rest.
func (b *Breaker) tell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &b.changes
	if !c.due() {
		return
	}
	c.telling = true
	defer func() { c.telling = false }()
	for len(c.waiting) > 0 {
		first := c.waiting[0]
		c.waiting = c.waiting[1:]
		b.tellOne(first)
	}
	c.waiting = nil
}

func (b *Breaker) tellOne(change Change) {
	b.mu.Unlock()
	defer b.mu.Lock()
	b.cfg.OnChange(change)
}
