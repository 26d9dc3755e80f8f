package ratelimit

import (
	"context"
	"time"
)

// A Delay says why a request doesn't start yet.
type Delay struct {
	Reason DelayReason
	// Until is the earliest time at which this reason ends; zero if that isn't known. It may become
	// earlier or later: a provider can prolong a pause, another call can free a slot.
	Until time.Time
	// Ahead is at most how many of the requests that are waiting now go first; requests of a higher
	// rank that arrive later aren't included.
	Ahead int
	// Detail is the host's reason for pausing the background lane; empty for other reasons.
	Detail string
}

// A DelayReason is what a request waits for. The texts are stable and may be stored.
type DelayReason string

// The reasons for waiting.
const (
	// for a slot, or for requests ahead of it, including those that just started after a rate limit
	DelayQueue     DelayReason = "queue"
	DelayRateLimit DelayReason = "rate_limit"          // the provider asked for a pause
	DelayRequests  DelayReason = "requests_per_minute" // the next in line, for the rate of requests
	DelayTokens    DelayReason = "tokens_per_minute"   // the next in line, for the rate of tokens
	DelayPaused    DelayReason = "paused"              // the host has paused the background lane
)

// await is called with mu locked, and unlocks it. It blocks until w is granted a slot, is rejected,
// or ctx ends; held is the context of its lease.
func (g *Gate) await(ctx, held context.Context, w *waiter) (lease Lease, err error) {
	defer func() {
		if lease.slot == nil { // also when OnEvent or OnWait panics
			defer w.cancel(err)
			g.leave(w)
		}
	}()
	g.unlock()
	var reported Delay
	for {
		var news chan struct{}
		if tell := w.req.OnWait; tell != nil {
			g.mu.Lock()
			waits := w.state == waiting
			if waits && g.news == nil {
				g.news = make(chan struct{})
			}
			why := g.waitOf(w)
			news = g.news
			g.mu.Unlock()
			if waits && !reported.same(why) {
				reported = why
				tell(why)
			}
		}
		select {
		case <-w.wake:
		case <-news:
		case <-ctx.Done():
			return Lease{}, context.Cause(ctx)
		}
		g.mu.Lock()
		state := w.state
		g.mu.Unlock()
		switch {
		case state == failed:
			return Lease{}, w.err
		case state == granted && ctx.Err() != nil: // at the same time
			return Lease{}, context.Cause(ctx)
		case state == granted:
			lease = Lease{slot: w.slot, gen: w.gen, ctx: held}
			g.queue.free(w)
			return lease, nil
		}
	}
}

// same reports whether two waits are equal in reason and end.
func (w Delay) same(as Delay) bool {
	return w.Reason == as.Reason && w.Until.Equal(as.Until) && w.Detail == as.Detail
}

// waitOf returns why w waits.
func (g *Gate) waitOf(w *waiter) Delay {
	wait := Delay{Reason: DelayQueue}
	switch {
	case g.backoff.paused:
		wait.Reason, wait.Until = DelayRateLimit, g.backoff.until
	case !w.req.Interactive && len(g.paused) > 0:
		wait.Reason, wait.Detail = DelayPaused, g.paused[0].reason
	case g.next.waiter == w:
		wait.Reason, wait.Until = g.next.why, g.next.until
	}
	if w.req.Interactive {
		wait.Ahead = max(min(w.ahead, g.queue.interactive.Len-1), 0)
	} else {
		wait.Ahead = max(g.queue.interactive.Len+g.queue.background.ahead(w.rank)-1, 0)
	}
	return wait
}
