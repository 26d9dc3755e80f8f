package ratelimit

// Close closes the gate: it rejects all waiting requests with [ErrClosed], and cancels the contexts
// of running calls with that cause, without waiting for them; they must still end their leases.
// Closing twice is harmless.
func (g *Gate) Close() {
	g.mu.Lock()
	defer g.unlock()
	if g.closed {
		return
	}
	g.failAll(ErrClosed)
	g.closed = true
	if b := &g.backoff; b.paused {
		b.paused = false
		b.timer.Stop()
	}
	for _, s := range g.calls.slots {
		if s.cancel != nil {
			g.cancels = append(g.cancels, cancellation{s.cancel, ErrClosed})
		}
	}
	g.emit(Event{Kind: EventClosed})
	g.inform()
}
