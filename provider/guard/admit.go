package guard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
)

// An admission is what an attempt holds while it is under way, and what is left of it for the next one.
//
// A call that waits for a slot holds no reservation, and one that waits for a budget holds no slot: nobody waits for
// somebody who waits. Whatever ends an attempt, settle gives back everything but the lease of an attempt that is to be
// made again by the gate; letGo, which is deferred, gives back that one if it comes to nothing.
type admission struct {
	onWait func(ratelimit.Wait) // waiting, bound once

	lease   ratelimit.Lease
	leased  bool
	outcome ratelimit.Outcome // of the attempt that held the lease

	reservation *ratelimit.Reservation
	permit      circuit.Permit

	refused  bool // there was no attempt; the call's err says why
	reached  bool // the provider was asked
	returned bool // and didn't end the goroutine
	pre      bool // the attempt was preempted
	toTell   between
}

// between is what the consumer has yet to be told of what came between two attempts.
type between uint8

const (
	nothing between = iota
	preempted
	rateLimited
)

// errLeft is how an attempt ends whose consumer has gone. Waiting panics with it, since nothing else gets a call out of
// the queue that it is in.
var errLeft = fault.New(fault.None, "guard: the consumer has left")

// admit takes the call from the breaker's door through the gate, the budget and the breaker. It returns the context to make
// the attempt with, or nil if there is none: c.err says why, unless the consumer has left.
func (c *call) admit() context.Context {
	g := c.guard
	c.refused, c.reached, c.returned, c.pre = false, false, false, false
	if c.onWait == nil && (g.gate != nil || g.budget != nil) {
		c.onWait = c.waiting
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
			fresh = g.gate == nil || c.leased // the slot was given back if that took a while
		}
	}
	ctx := c.ctx
	if c.leased {
		if ctx = c.lease.Context(); ctx.Err() != nil { // wanted already
			c.err, c.returned = context.Cause(ctx), true
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

// refuse is the end of a call that isn't let through. What it had shown before it was preempted is void whether or not
// it is made again here, so that a [Chain] is free to ask the next provider.
func (c *call) refuse(err error) context.Context {
	if c.toTell == preempted {
		c.tellBetween()
	}
	c.err, c.refused, c.returned = err, true, true
	return nil
}

// queue waits for a slot.
func (c *call) queue() (err error) {
	if c.leased {
		c.leased = false
		c.lease, err = c.lease.Requeue(c.ctx, c.outcome)
	} else {
		c.lease, err = c.guard.gate.Acquire(c.ctx, ratelimit.AcquireRequest{
			Interactive: c.req.Interactive,
			Priority:    c.req.Priority,
			Session:     c.req.Labels.Session,
			Tokens:      c.estimate() + c.outputAsked(),
			OnWait:      c.onWait,
		})
	}
	c.outcome = ratelimit.Outcome{}
	if err != nil {
		return err
	}
	c.leased = true
	c.tellBetween()
	return nil
}

// reserve asks the budget, which may make the call wait: see waiting.
func (c *call) reserve() (err error) {
	g := c.guard
	output := c.outputAsked()
	c.reservation, err = g.budget.Reserve(c.ctx, ratelimit.ReserveRequest{
		Labels:   c.labels(),
		Tokens:   c.estimate() + output,
		Micros:   c.cost(provider.Usage{Input: c.estimate(), Output: output, Estimated: true}),
		Recovery: g.recovery && c.attempts > 0 || c.req.Labels.Kind == KindRecovery,
		OnWait:   c.onWait,
	})
	if err != nil {
		explain(err, c.asked(output))
	}
	return err
}

// explain puts what was wanted into the error of a budget.
func explain(err error, wanted string) {
	var refused *ratelimit.BudgetError
	if errors.As(err, &refused) {
		refused.Detail = wanted
	}
}

// asked says what a call reserves, and where the figures come from.
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

// waiting is told by the gate and the budget why the call waits, before it blocks. What the call has of the other one it
// gives back.
func (c *call) waiting(w ratelimit.Wait) {
	if w.Reason == ratelimit.WaitBudget {
		c.letGo()
	} else if c.reservation != nil {
		c.reservation.Settle(0, 0)
		c.reservation = nil
	}
	was := c.toTell
	if !c.tellBetween() {
		panic(errLeft)
	}
	note := provider.Wait{Reason: reasonOf(w.Reason), Until: w.Until, Detail: detailOf(w)}
	if note.Reason == provider.WaitQueued && (was == preempted || c.pre) {
		note.Reason, c.pre = provider.WaitPreempted, true
	}
	if !c.yieldOwn(provider.Waiting(note)) {
		panic(errLeft)
	}
}

func reasonOf(r ratelimit.WaitReason) provider.WaitReason {
	switch r {
	case ratelimit.WaitBudget:
		return provider.WaitBudget
	case ratelimit.WaitRateLimit, ratelimit.WaitRequests, ratelimit.WaitTokens:
		return provider.WaitRateLimited
	}
	return provider.WaitQueued
}

func detailOf(w ratelimit.Wait) string {
	switch w.Reason {
	case ratelimit.WaitBudget:
		return "for what other calls have reserved"
	case ratelimit.WaitRateLimit:
		return "the provider asked for a pause"
	case ratelimit.WaitRequests:
		return "for the requests a minute"
	case ratelimit.WaitTokens:
		return "for the tokens a minute"
	case ratelimit.WaitPaused:
		return cmp.Or(w.Detail, "background work is paused")
	}
	if w.Ahead > 0 {
		return fmt.Sprintf("%d ahead", w.Ahead)
	}
	return "for a slot"
}

// tellBetween tells what came between two attempts, once the slot of the first is given back. It returns false if the
// consumer has left.
func (c *call) tellBetween() bool {
	toTell := c.toTell
	c.toTell = nothing
	switch toTell {
	case nothing:
		return true
	case preempted:
		return c.reset("a person's request went first; the answer is made again")
	}
	err := c.earlier[len(c.earlier)-1]
	c.tell(Failure{Name: c.guard.name, Attempt: c.attempts, Class: fault.RateLimited, Err: err})
	return c.reset(resetText(fault.RateLimited))
}

// settle is the end of an attempt, however it came to it: what it used is booked and the permit closed. The slot goes back,
// unless the gate is to decide when the call is made again.
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
	c.permit.Done(result)
	c.permit = circuit.Permit{}
	if c.reached { // else it is that of the attempt before, or none
		c.outcome = ratelimit.Outcome{Err: c.err, Sent: true, Tokens: used, Quota: c.quota} // a rate limit counts, whoever has left
	}
	if !c.pre && (c.refused || fault.Of(result) != fault.RateLimited) {
		c.letGo()
	}
}

// wasPreempted reports whether the attempt came to nothing because its slot was wanted. A rate limit is more than that: the
// gate must know.
func (c *call) wasPreempted(late bool) bool {
	return c.leased && c.returned && c.err != nil && !late && !c.refused && !c.ended && !c.stopped && !c.body && !c.effects &&
		!(c.content && c.req.NoRestart) && c.ctx.Err() == nil && c.lease.Preempted() && fault.Of(c.err) != fault.RateLimited
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

// letGo gives the slot back if the call holds one.
func (c *call) letGo() {
	if c.leased {
		c.leased = false
		c.lease.Release(c.outcome)
	}
}

// mayGoOn is asked before a chunk is shown that ties the answer down: from it on, the attempt must not be preempted. It
// returns false if that comes too late.
func (c *call) mayGoOn(kind provider.ChunkKind) bool {
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

// refusal is the error of a call that wasn't let through to the provider.
func (c *call) refusal() error {
	var open *circuit.OpenError
	class := fault.Of(c.err)
	switch {
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
	var e *ratelimit.BudgetError
	return errors.As(err, &e)
}
