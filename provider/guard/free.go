package guard

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/stream"
)

// A freeKey is the key of a [hint] in the context of a call that a [Chain] makes.
type freeKey struct{}

// A hint is what a chain says to the guards of a provider that isn't its last one.
type hint struct {
	free  func() bool   // whether another provider would take the call at once
	leave time.Duration // ChainConfig.LeaveAfter
	left  *GaveUpError  // the guard's error when it left this call to others
}

// madeBefore returns how many attempts g made of a call before it left that to others.
func (g *Guard) madeBefore(ctx context.Context) int {
	if h, ok := ctx.Value(freeKey{}).(*hint); ok && h.left != nil && h.left.by == g {
		return h.left.Attempts
	}
	return 0
}

// otherIsFree reports whether a call that would have to wait here can be made elsewhere at once.
func otherIsFree(ctx context.Context) bool {
	h, ok := ctx.Value(freeKey{}).(*hint)
	return ok && h.free()
}

// hinted returns the context for call i, with which guards see whether a later one is
// free.
func (r *relay) hinted(ctx context.Context, i int) context.Context {
	if n := len(r.order); i >= n { // those that follow have left the call to others before
		at := slices.IndexFunc(r.attempts, func(a Attempt) bool { return leftFor(a.Err) && a.member == r.index(i) })
		left, _ := r.attempts[at].Err.(*GaveUpError) // record has added the member for it
		return context.WithValue(ctx, freeKey{}, &hint{left: left, free: func() bool { return otherIsFree(ctx) }})
	} else if i == n-1 {
		return ctx
	}
	return context.WithValue(ctx, freeKey{}, &hint{leave: r.chain.cfg.LeaveAfter, free: func() bool {
		for j := i + 1; j < len(r.chain.members); j++ {
			most := 1000
			if free(r.member(j).provider, &most) {
				return true
			}
		}
		return otherIsFree(ctx)
	}})
}

// free reports whether p would probably begin a call at once, as far as its guards know. It visits
// at most the given number of providers.
func free(p provider.Provider, most *int) bool {
	if *most--; *most < 0 || isNil(p) {
		return false
	}
	switch p := p.(type) {
	case interface{ free(most *int) bool }: // a Guard, or a type that embeds one
		return p.free(most)
	case interface{ Unwrap() provider.Provider }:
		return free(p.Unwrap(), most)
	case interface{ Unwrap() []provider.Provider }:
		for _, inner := range p.Unwrap() {
			if free(inner, most) {
				return true
			}
		}
		return false
	}
	return true
}

func (g *Guard) free(most *int) bool {
	return g.breaker.Ready() == nil && hasRoom(g.gate) && free(g.provider, most)
}

// hasRoom reports whether a gate has a slot that nobody waits for, and neither a pause nor a rate
// that makes calls wait.
func hasRoom(g *ratelimit.Gate) bool {
	if g == nil {
		return true
	}
	s := g.Snapshot()
	return !s.Closed && s.PausedUntil.IsZero() && s.Queued == 0 && s.Running < s.Slots &&
		(s.RequestsPerMinute == 0 || s.RequestsLeft > 0) && (s.TokensPerMinute == 0 || s.TokensLeft > 0)
}

// pauseElsewhere returns the rest of the pause that the provider has asked for, if another provider
// is free; else 0.
func (c *call) pauseElsewhere() time.Duration {
	if c.ctx.Value(freeKey{}) == nil {
		return 0 // without the cost of a snapshot
	}
	until := c.guard.gate.Snapshot().PausedUntil
	if until.IsZero() || !otherIsFree(c.ctx) {
		return 0
	}
	return time.Until(until)
}

// leavable reports whether what failed with an error of this class is made elsewhere before it is
// tried here again, if another provider is free: what is degraded, and what was silent. Other
// passing failures are over within seconds.
func (c *call) leavable(class fault.Class) bool {
	var late *stream.TimeoutError
	return !c.content && (class == fault.Degraded || class == fault.Transient && errors.As(c.err, &late))
}

// thoughtTooLong reports whether the attempt has ended at Config.Alive.
func (c *call) thoughtTooLong() bool {
	var late *stream.TimeoutError
	return errors.As(c.err, &late) && late.Kind == stream.TimeoutAlive
}

// patience returns how long an interactive attempt may be silent before it is made elsewhere; 0: as
// long as any.
func (c *call) patience() time.Duration {
	if !c.req.Interactive || c.do != nil {
		return 0
	}
	h, ok := c.ctx.Value(freeKey{}).(*hint)
	most := 1000
	if !ok || isNear(c.guard.provider, &most) || !otherIsFree(c.ctx) {
		return 0
	}
	return h.patience(c)
}

// The times after which a chain leaves a silent provider.
const (
	defaultLeave = 8 * time.Second
	slowLeave    = 20 * time.Second // of requests whose answers begin later
	slowTokens   = 50_000           // of such a request
)

// patience returns the time for this call.
func (h *hint) patience(c *call) time.Duration {
	switch {
	case h.leave > 0:
		return h.leave
	case h.leave < 0:
		return 0
	case c.req.Reasoning != nil || c.estimate() > slowTokens:
		return slowLeave
	}
	return defaultLeave
}

// isNear reports whether p, or one of those that it wraps, says that its server is near
// ([provider.Nearby]). It visits at most the given number of providers.
func isNear(p provider.Provider, most *int) bool {
	if *most--; *most < 0 || isNil(p) {
		return false
	}
	switch p := p.(type) {
	case provider.Nearby:
		return p.Near()
	case interface{ Unwrap() provider.Provider }:
		return isNear(p.Unwrap(), most)
	case interface{ Unwrap() []provider.Provider }:
		return slices.ContainsFunc(p.Unwrap(), func(p provider.Provider) bool { return isNear(p, most) })
	}
	return false
}

// leave returns the error of a call that is to be made elsewhere.
func (c *call) leave(err error, class fault.Class) error {
	return &GaveUpError{Name: c.guard.name, Attempts: c.attempts, Class: class,
		Reason: "another provider is free", Err: err, Errors: c.all(), left: true, by: c.guard}
}

// leftFor reports whether a guard has given up only because another provider was free.
func leftFor(err error) bool {
	e, ok := err.(*GaveUpError) // as guards yield it; one within other errors is history
	return ok && e.left
}
