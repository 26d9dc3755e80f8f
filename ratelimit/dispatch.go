package ratelimit

import (
	"time"
)

// dispatch starts every request that may start now. It is called under mu after every change.
func (g *Gate) dispatch(now time.Time) {
	if g.closed || g.backoff.paused {
		return
	}
	for {
		w := g.queue.interactive.Head
		if w == nil {
			if w = g.queue.background.next(); w == nil || !g.backgroundMayStart() {
				g.setNext(nil, "", time.Time{})
				return
			}
			if until := g.onTrial(now); !until.IsZero() {
				g.setNext(w, DelayQueue, until)
				return
			}
		}
		// The rates come first: no call is preempted for a request that couldn't start anyway.
		if why, until, ok := g.rates.ready(w.req.Tokens, 0, 0, now); !ok {
			g.setNext(w, why, until)
			return
		}
		if w.req.Interactive && !g.interactiveMayStart(now) {
			g.setNext(nil, "", time.Time{})
			return
		}
		g.dequeue(w, true)
		if g.next.waiter == w {
			g.next.waiter = nil // w is used again once it has its signal
		}
		w.slot = g.hold(&w.arrival, w.cancel, now)
		w.gen, w.state = w.slot.gen, granted
		w.signal()
	}
}

// backgroundMayStart reports whether there is room for a background call, if no interactive request
// waits.
func (g *Gate) backgroundMayStart() bool {
	return g.calls.held < g.cfg.Slots && g.calls.held-g.calls.interactive < g.cfg.Slots-g.reserved && len(g.paused) == 0
}

// interactiveMayStart reports whether an interactive call may start now, and preempts as many
// background calls as the startable interactive requests need.
func (g *Gate) interactiveMayStart(now time.Time) bool {
	excess := g.calls.held - g.calls.overtaken - g.cfg.Slots
	if excess < 0 {
		return true
	}
	if g.cfg.Overcommit {
		if g.calls.leaving <= excess {
			g.preempt()
		}
		return true
	}
	if g.calls.leaving >= g.queue.interactive.Len {
		return false
	}
	var others, tokens int64
	w := g.queue.interactive.Head
	for range g.calls.leaving { // each of these makes room for one
		others, tokens = others+1, tokens+w.req.Tokens
		w = w.lane.Next
	}
	for ; w != nil; w = w.lane.Next {
		if _, _, ok := g.rates.ready(w.req.Tokens, others, tokens, now); !ok || !g.preempt() {
			return false
		}
		others, tokens = others+1, tokens+w.req.Tokens
	}
	return false
}

// nextInLine is the next request to start; it waits for a point in time because of the rates or a
// trial.
type nextInLine struct {
	waiter *waiter
	why    DelayReason
	until  time.Time
	timer  *time.Timer // set for until, unless that is zero
}

// setNext records which request waits for a point in time, and sets the timer for it.
func (g *Gate) setNext(w *waiter, why DelayReason, until time.Time) {
	n := &g.next
	if w == n.waiter && why == n.why && until.Equal(n.until) {
		return
	}
	if old := n.waiter; old != nil && old.state == waiting && old != w && old.req.OnWait != nil {
		old.signal()
	}
	n.waiter, n.why = w, why
	if w == nil {
		n.until = time.Time{}
		if n.timer != nil {
			n.timer.Stop()
		}
		return
	}
	if w.req.OnWait != nil {
		w.signal()
	}
	if until.Equal(n.until) {
		return
	}
	n.until = until
	if n.timer == nil {
		n.timer = time.AfterFunc(time.Until(until), g.nextReady)
	} else {
		n.timer.Reset(time.Until(until))
	}
}

// nextReady is called by the timer.
func (g *Gate) nextReady() {
	g.mu.Lock()
	// Cleared, so that the timer is set again if it fired early.
	g.next.until = time.Time{}
	g.dispatch(time.Now())
	g.unlock()
}
