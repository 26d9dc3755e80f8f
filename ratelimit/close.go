package ratelimit

import "context"

// Drain closes the gate to new requests, rejects all waiting requests with [ErrClosed], and waits
// until the running calls have ended. If ctx ends first, the error is its cause, and the calls
// continue.
func (g *Gate) Drain(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	g.mu.Lock()
	g.shut()
	if g.calls.held == 0 {
		g.unlock()
		return nil
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	idle := g.idle
	g.unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close closes the gate: it rejects all waiting requests with [ErrClosed], and cancels the contexts
// of running calls with that cause, without waiting for them; they must still end their leases.
// Closing twice is harmless.
func (g *Gate) Close() {
	g.mu.Lock()
	g.shut()
	for _, s := range g.calls.slots {
		if s.cancel != nil {
			g.cancels = append(g.cancels, cancellation{s.cancel, ErrClosed})
		}
	}
	g.unlock()
}

// shut stops admitting requests. It is called under mu.
func (g *Gate) shut() {
	if g.closed {
		return
	}
	g.failAll(ErrClosed)
	g.closed = true
	if b := &g.backoff; b.paused {
		b.paused = false
		b.timer.Stop()
	}
	if g.calls.deadlines.set {
		g.calls.deadlines.timer.Stop()
	}
	g.emit(Event{Kind: eventClosed})
	g.inform()
}
