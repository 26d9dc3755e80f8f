package guard

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
)

// A freeKey is the key of a func() bool in the context of a call that a [Chain] makes: whether
// another provider would take the call at once.
type freeKey struct{}

// otherIsFree reports whether a call that would have to wait here can be made elsewhere at once.
func otherIsFree(ctx context.Context) bool {
	free, ok := ctx.Value(freeKey{}).(func() bool)
	return ok && free()
}

// hinted returns the context for call i, with which guards see whether a later one is
// free.
func (r *relay) hinted(ctx context.Context, i int) context.Context {
	if i >= len(r.chain.members)-1 {
		return ctx // what follows, if anything, has left the call to others before
	}
	later := r.chain.members[i+1:]
	return context.WithValue(ctx, freeKey{}, func() bool {
		for j := range later {
			most := 1000
			if free(later[j].provider, &most) {
				return true
			}
		}
		return otherIsFree(ctx)
	})
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

// leave returns the error of a call that is to be made elsewhere.
func (c *call) leave(err error) error {
	return &GaveUpError{Name: c.guard.name, Attempts: c.attempts, Class: fault.RateLimited,
		Reason: "another provider is free", Err: err, Errors: c.all(), left: true}
}

// leftFor reports whether a guard has given up only because another provider was free.
func leftFor(err error) bool {
	e, ok := err.(*GaveUpError) // as guards yield it; one within other errors is history
	return ok && e.left
}
