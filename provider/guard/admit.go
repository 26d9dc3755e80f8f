package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// An admission has what an attempt holds while it runs, and what remains of it for the next one.
//
// A call that waits for a slot holds no reservation, and one that waits for a budget holds no slot,
// so there is no deadlock. Whatever ends an attempt, settle releases everything except the lease of
// an attempt that the gate is to requeue; release, which is deferred, releases that lease if it
// isn't requeued.
type admission struct {
	// waitsForGate and waitsForBudget, bound once
	onGate   func(ratelimit.Delay)
	onBudget func(ahead int)

	lease   ratelimit.Lease
	leased  bool
	outcome ratelimit.Outcome // of the attempt that held the lease

	reservation *budget.Reservation
	permit      circuit.Permit

	refused  bool // no attempt was made; the call's err says why
	reached  bool // the provider was called
	returned bool // and didn't end the goroutine
	pre      bool // the attempt was preempted
	between  between
}

// between has the chunks between two attempts that the consumer hasn't got yet.
type between uint8

const (
	nothing between = iota
	preempted
	rateLimited
)

// errLeft ends an attempt whose consumer has left. The waiting callback panics with it, because
// there is no other way to leave the queue.
var errLeft = fault.New(fault.None, "guard: the consumer has left")

// admit takes the call through the breaker's check, the gate, the budget and the breaker. It
// returns the context for the attempt, or nil if there is none: c.err says why, unless the consumer
// has left.
func (c *call) admit() context.Context {
	g := c.guard
	c.refused, c.reached, c.returned, c.pre = false, false, false, false
	if c.onGate == nil && g.gate != nil {
		c.onGate = c.waitsForGate
	}
	if c.onBudget == nil && g.budget != nil {
		c.onBudget = c.waitsForBudget
	}
	c.measure()
	if err := g.breaker.Ready(); err != nil {
		return c.refuse(err)
	}
	fresh := g.gate == nil
	for !fresh || g.budget != nil && c.reservation == nil {
		if !fresh {
			if err := c.queue(); err != nil {
				return c.refuse(err)
			}
			if c.stopped {
				return nil
			}
			fresh = true
		}
		if g.budget != nil && c.reservation == nil {
			if err := c.reserve(); err != nil {
				return c.refuse(err)
			}
			fresh = g.gate == nil || c.leased // the slot was released if the call had to wait
		}
	}
	ctx := c.ctx
	if c.leased {
		if ctx = c.lease.Context(); ctx.Err() != nil { // wanted already
			c.err, c.returned = usable(context.Cause(ctx)), true
			return nil
		}
	}
	permit, err := g.breaker.Allow()
	if err != nil {
		return c.refuse(err)
	}
	c.permit, c.reached = permit, true
	if g.ledger != nil {
		c.began = time.Now()
	}
	return ctx
}

// refuse ends a call that isn't admitted. What it had shown before it was preempted is void whether
// or not it is made again here, so that a [Chain] can call the next provider.
func (c *call) refuse(err error) context.Context {
	if c.between == preempted {
		c.yieldBetween()
	}
	c.err, c.refused, c.returned = err, true, true
	return nil
}

// errPaused is the cause of an error of a call that doesn't wait for the end of a pause.
var errPaused = fault.New(fault.RateLimited, "guard: the provider has asked for a pause")

// queue waits for a slot.
func (c *call) queue() (err error) {
	if !c.failedAt.IsZero() {
		began := time.Now()
		defer func() { c.failedAt = c.failedAt.Add(time.Since(began)) }()
	}
	ctx, over := c.waiting.begin(c.ctx)
	defer over()
	if c.leased {
		c.leased = false
		c.lease, err = c.lease.Requeue(ctx, c.outcome)
	} else {
		if rest := c.pauseElsewhere(); rest > 0 {
			return c.leave(fault.WithRetryAfter(errPaused, rest), fault.RateLimited)
		}
		c.lease, err = c.guard.gate.Acquire(ctx, ratelimit.AcquireRequest{
			Interactive: c.req.Interactive,
			Priority:    c.req.Priority,
			Session:     c.req.Labels.Session,
			Tokens:      c.estimate() + c.outputAsked(),
			OnWait:      c.onGate,
		})
	}
	c.outcome = ratelimit.Outcome{Unsent: true}
	if err != nil {
		return err
	}
	c.leased = true
	c.yieldBetween()
	return nil
}

// reserve reserves from the budget, which may make the call wait: see waitsForBudget.
func (c *call) reserve() (err error) {
	g := c.guard
	output := c.outputAsked()
	ctx, over := c.waiting.begin(c.ctx)
	defer over()
	c.reservation, err = g.budget.Reserve(ctx, budget.ReserveRequest{
		Names:    c.names(),
		Tokens:   c.estimate() + output,
		Micros:   c.cost(provider.Usage{Input: c.estimate(), Output: output, Estimated: true}),
		Recovery: g.recovery && c.attempts > 0 || c.req.Labels.Kind == kindRecovery,
		OnWait:   c.onBudget,
	})
	if err != nil {
		explain(err, c.asked(output))
		refused, ok := errors.AsType[*budget.Error](err)
		if i := slices.IndexFunc(c.models, unpriced); ok && refused.Unpriced && i >= 0 && c.req.Model == "" {
			refused.Model = c.models[i].ID
		}
	}
	return err
}

func unpriced(info provider.ModelInfo) bool { return info.Prices == nil }

// explain adds what was wanted to the error of a budget.
func explain(err error, wanted string) {
	if refused, ok := errors.AsType[*budget.Error](err); ok {
		refused.Detail = wanted
	}
}

// asked describes what a call reserves, and where the figures come from.
func (c *call) asked(output int64) string {
	counted := fmt.Sprintf("estimated at %d bytes a token", bytesPerToken)
	if c.guard.count != nil {
		counted = "as Config.Count has it"
	}
	limit := "the request's MaxOutput"
	if c.req.MaxOutput <= 0 {
		limit = "the default, as the request has no MaxOutput"
	}
	return fmt.Sprintf("%d tokens of input (%s) and %d of output (%s)", c.estimate(), counted, output, limit)
}

// waitsForGate is called by the gate with the reason, before the call blocks. It gives back the
// reservation.
func (c *call) waitsForGate(d ratelimit.Delay) {
	if c.reservation != nil {
		c.reservation.Settle(0, 0)
		c.reservation = nil
	}
	c.waits(provider.Wait{Reason: reasonOf(d.Reason), Until: d.Until, Detail: detailOf(d)})
}

// waitsForBudget is called by the budget before the call blocks. It releases the slot.
func (c *call) waitsForBudget(int) {
	c.release()
	c.waits(provider.Wait{Reason: provider.WaitBudget, Detail: "for what other calls have reserved"})
}

// waits tells the consumer why the call waits.
func (c *call) waits(note provider.Wait) {
	was := c.between
	if !c.yieldBetween() {
		panic(errLeft)
	}
	if note.Reason == provider.WaitQueued && (was == preempted || c.pre) {
		note.Reason, c.pre = provider.WaitPreempted, true
	}
	if !c.yieldOwn(provider.Waiting(note)) {
		panic(errLeft)
	}
}

func reasonOf(r ratelimit.DelayReason) provider.WaitReason {
	switch r {
	case ratelimit.DelayRateLimit, ratelimit.DelayRequests, ratelimit.DelayTokens:
		return provider.WaitRateLimited
	}
	return provider.WaitQueued
}

func detailOf(d ratelimit.Delay) string {
	switch d.Reason {
	case ratelimit.DelayRateLimit:
		return "the provider asked for a pause"
	case ratelimit.DelayRequests:
		return "for the requests a minute"
	case ratelimit.DelayTokens:
		return "for the tokens a minute"
	case ratelimit.DelayPaused:
		return cmp.Or(d.Detail, "background work is paused")
	}
	if d.Ahead > 0 {
		return fmt.Sprintf("%d ahead", d.Ahead)
	}
	return "for a slot"
}

// yieldBetween yields the chunks between two attempts, after the slot of the first is released. It
// returns false if the consumer has left.
func (c *call) yieldBetween() bool {
	between := c.between
	c.between = nothing
	switch between {
	case nothing:
		return true
	case preempted:
		return c.reset("a person's request went first; the answer is made again")
	}
	err := c.earlier[len(c.earlier)-1]
	tell(c.ctx, c.guard.onEvent, Failure{Name: c.guard.name, Attempt: c.attempts, Class: fault.RateLimited, Err: err})
	return c.reset(resetText(fault.RateLimited))
}

// settle ends an attempt: it books the usage and ends the permit. It releases the slot unless the
// gate is to decide when the call is made again.
func (c *call) settle(late bool) {
	c.pre = c.wasPreempted(late)
	if c.leased && !c.pre && c.returned && !c.ended && c.ctx.Err() == nil && fault.Of(c.err) == fault.None {
		if cause := context.Cause(c.lease.Context()); cause != nil { // the gate was closed
			c.err = cause
		}
	}
	result := c.result()
	used := int64(-1)
	if c.reached {
		used = c.charge(result)
	}
	if c.reservation != nil {
		c.reservation.Settle(0, 0) // unless charge has done so
		c.reservation = nil
	}
	c.permit.Done(forBreaker(result))
	c.permit = circuit.Permit{}
	if c.reached { // else the figures are of the previous attempt, or none
		// a rate limit counts, whoever has left
		c.outcome = ratelimit.Outcome{Err: c.err, Tokens: max(used, 1), Quota: c.quota} // 0 would be unknown
	}
	if !c.pre && (c.refused || fault.Of(result) != fault.RateLimited) {
		c.release()
	}
}

// forBreaker gives an error of unknown class the class permanent, with which it doesn't count on
// the breaker: a bad request fails like this, and its provider is well.
func forBreaker(err error) error {
	if class, known := fault.Known(err); !known {
		return fault.Wrap(class, err)
	}
	return err
}

// wasPreempted reports whether the attempt failed because it was preempted. A rate limit takes
// precedence, because the gate must know about it.
func (c *call) wasPreempted(late bool) bool {
	return c.leased && c.returned && c.err != nil && !late && !c.refused && !c.ended && !c.stopped && !c.body &&
		!c.effects &&
		!(c.content && c.req.NoRestart) && c.ctx.Err() == nil && c.lease.Preempted() &&
		fault.Of(c.err) != fault.RateLimited
}

// result is the attempt's error as the breaker, the gate and the ledger see it.
func (c *call) result() error {
	switch {
	case c.ended:
		return c.err
	case c.stopped, c.body, !c.returned:
		return errLeft
	case errors.Is(c.ctx.Err(), context.Canceled):
		return context.Canceled
	case c.pre:
		return ratelimit.ErrPreempted
	}
	return c.err
}

// release releases the slot if the call holds one.
func (c *call) release() {
	if c.leased {
		c.leased = false
		c.lease.Release(c.outcome)
	}
}

// protect is called before a chunk after which the attempt must not be preempted. It returns false
// if the attempt is preempted already.
func (c *call) protect(kind provider.ChunkKind) bool {
	switch kind {
	case provider.KindProviderCall:
	case provider.KindStart:
		if !c.req.NoRestart {
			return true
		}
	default:
		return true
	}
	return !c.leased || c.lease.Pin()
}

// refusal is the error of a call that wasn't admitted.
func (c *call) refusal() error {
	var open *circuit.OpenError
	class := fault.Of(c.err)
	switch {
	case leftFor(c.err):
		return c.err
	case isHalted(c.ctx) && class == fault.None:
		return c.halted()
	case errors.As(c.err, &open):
		return c.gaveUp(c.err, class, "its breaker is open")
	case fault.Retryable(class):
		return c.gaveUp(c.err, class, "its gate refuses the call")
	case c.attempts > 0 && exhausted(c.err):
		return c.gaveUp(c.err, class, "there is no budget for another attempt")
	}
	return c.err
}

// exhausted reports whether err is the end of a budget.
func exhausted(err error) bool {
	_, ok := errors.AsType[*budget.Error](err)
	return ok
}
