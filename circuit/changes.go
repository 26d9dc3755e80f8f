package circuit

// untold are the changes that OnChange hasn't been told yet. Whoever finds some when unlocking, and nobody telling, tells
// them all, so that they come in order and one at a time while no lock is held.
type untold struct {
	waiting []Change
	telling bool
}

// mostWaiting bounds what waits while OnChange is busy.
const mostWaiting = 1_000

func (c *untold) add(change Change) {
	if len(c.waiting) >= mostWaiting {
		c.waiting = append(c.waiting[:0], c.waiting[1:]...)
	}
	c.waiting = append(c.waiting, change)
}

// begin reports whether the caller must tell.
func (c *untold) begin() bool {
	if c.telling || len(c.waiting) == 0 {
		return false
	}
	c.telling = true
	return true
}

// next takes the oldest, or ends the telling.
func (c *untold) next() (Change, bool) {
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
		if !ended { // OnChange panicked: the next one to unlock tells the rest
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
