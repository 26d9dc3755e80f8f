package guard

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// A call is one call with its attempts. It exists only while its sequence is ranged over, so it may
// hold its context.
type call struct {
	guard *Guard
	ctx   context.Context
	req   *provider.Request
	used  atomic.Bool                                   // its sequence was ranged over
	do    func(context.Context) (provider.Usage, error) // of Do; nil: the provider is called

	yield   func(provider.Chunk, error) bool
	dog     stream.Watchdog  // of the attempt
	grammar provider.Grammar // of what the consumer sees, over all attempts

	progress
	admission
	meter
	waiting haltable
}

// progress is how far a call has come.
type progress struct {
	attempts int
	err      error                   // of the attempt, or why there was none; nil: it succeeded
	earlier  []error                 // of the attempts before it
	failures [fault.Denied + 1]uint8 // by class, that were waited after without advice; at most 100
	wait     time.Duration           // until the next attempt, unless the gate decides that
	failedAt time.Time               // when the first attempt failed, and the time in the gate since then

	begun   bool // a Start was shown since the last Reset
	content bool // and something after it
	effects bool // a call that the provider ran was shown: never again
	ended   bool // End was shown
	watched bool // the watchdog has begun to watch the attempt
	failed  bool // the attempt is over: the provider has yielded its error, or one was found
	stopped bool // the consumer is gone
	body    bool // the consumer's loop body is running; stays if that panics

	written int64 // bytes of the attempt's answer
	voided  int64 // bytes of answers of the attempt that the provider took back
	room    int64 // bytes of the answer that are reserved for
}

// run makes attempts until one succeeds, the consumer leaves, or there is no point in another.
func (c *call) run(yield func(provider.Chunk, error) bool) {
	c.yield = yield
	switch {
	case c.guard == nil || c.guard.provider == nil:
		c.yield(provider.Chunk{}, provider.ErrNilProvider)
		return
	case c.req == nil:
		c.yield(provider.Chunk{}, provider.ErrNilRequest)
		return
	}
	c.room = noLimit
	c.attempts = c.guard.madeBefore(c.ctx)
	defer c.waiting.end()
	defer c.release() // should foreign code between two attempts panic
	for c.ctx.Err() == nil {
		if isHalted(c.ctx) {
			c.end(c.halted())
			return
		}
		c.attempt()
		if c.stopped || c.body || c.err == nil {
			return
		}
		if c.ctx.Err() != nil {
			break
		}
		if err := c.verdict(); err != nil {
			c.end(err)
			return
		}
		if !c.pause() {
			return
		}
	}
	c.end(canceled(c.ctx))
}

// end ends the call with that error.
func (c *call) end(err error) {
	c.release()
	if class := fault.Of(err); class != fault.None && c.guard.onEvent != nil && !leftFor(err) {
		tell(c.ctx, c.guard.onEvent,
			Escalation{Name: c.guard.name, Class: class, Err: err, Errors: c.all(), Remedies: Remedies(err)})
	}
	c.yield(provider.Chunk{}, err)
}

// attempt makes the call once, if it is admitted. The result is in c.err.
func (c *call) attempt() {
	c.failed, c.err, c.watched = false, nil, false
	defer c.endAttempt()
	ctx := c.ctx
	if c.guard.guarded {
		if ctx = c.admit(); ctx == nil {
			return
		}
	}
	c.attempts++
	c.watched = true
	limits := c.guard.silence
	if patience := c.patience(); patience > 0 {
		limits.FirstSign = patience
	}
	if seq := c.attemptOf(c.dog.Begin(ctx, limits)); seq != nil {
		seq(func(chunk provider.Chunk, err error) bool { // as a method it would copy each chunk once more
			return c.fits(&chunk, err) && c.shown(c.yield(chunk, nil))
		})
	}
	if c.err == nil && !c.ended {
		c.err = provider.ErrIncomplete
	}
	c.returned = true
}

// attemptOf returns the chunks of an attempt.
func (c *call) attemptOf(ctx context.Context) stream.Seq {
	if c.do != nil {
		return attempted(ctx, c.do)
	}
	return c.guard.provider.Stream(ctx, c.req)
}

// endAttempt is deferred. A panic of the consumer's loop body propagates; a panic of the provider
// is recovered here.
func (c *call) endAttempt() {
	var late *stream.TimeoutError
	if c.watched { // else the watchdog is still as the attempt before has left it
		late = c.dog.End()
	}
	if !c.body {
		if v := recover(); v != nil && v != any(errLeft) {
			c.err = stream.NewPanicError("the provider", v)
			c.returned = true
		} else if late != nil && !c.ended {
			c.err = late
		}
	}
	if c.guard.guarded {
		c.settle(late != nil)
	}
}

// verdict returns nil if there is to be another attempt, else the error for the consumer.
func (c *call) verdict() error {
	if c.refused {
		return c.refusal()
	}
	if c.pre {
		return nil
	}
	class := fault.Of(c.err)
	c.alert(class)
	if class == fault.None || c.ended || gaveUp(c.err) || exhausted(c.err) {
		return c.err
	}
	policy := c.guard.retry[class]
	if policy.Attempts == 1 && !fault.Retryable(class) {
		return c.err
	}
	advice, _ := fault.RetryAfter(c.err)
	switch {
	case isHalted(c.ctx):
		return c.gaveUp(c.err, class, haltedText)
	case class == fault.RateLimited && !c.content && otherIsFree(c.ctx):
		return c.leave(c.err, class)
	case c.attempts >= policy.Attempts:
		return c.gaveUp(c.err, class, "as many as are allowed")
	case c.effects:
		return c.gaveUp(c.err, class, "the provider had run a call")
	case c.content && c.req.NoRestart:
		return c.gaveUp(c.err, class, "the answer had begun and may not be made again")
	case advice > c.guard.maxRetryAfter:
		return c.gaveUp(c.err, class,
			fmt.Sprintf("it asks for a wait of %v, longer than %v", advice, c.guard.maxRetryAfter))
	case c.thoughtTooLong():
		return c.gaveUp(c.err, class, "it would take as long again")
	case c.leavable(class) && otherIsFree(c.ctx):
		return c.leave(c.err, class)
	}
	if open := c.guard.breaker.Ready(); open != nil {
		return c.gaveUp(fmt.Errorf("%w (%w)", c.err, open), class, "its breaker is open")
	}
	if !c.leased && !c.inTime(class) {
		return c.gaveUp(c.err, class, fmt.Sprintf("an interactive call is retried for at most %v", interactiveRetries))
	}
	return nil
}

// interactiveRetries is the longest time from the first failure of an interactive call to its last
// attempt. Waits in a gate don't count, because the gate says when they end.
const interactiveRetries = 30 * time.Second

// inTime sets the wait before the next attempt, and reports whether the call may wait so long.
func (c *call) inTime(class fault.Class) bool {
	told := false
	if c.wait, told = fault.RetryAfter(c.err); !told {
		c.failures[class]++
		c.wait = c.guard.retry[class].Delay(int(c.failures[class]))
	}
	if !c.req.Interactive {
		return true
	}
	if c.failedAt.IsZero() {
		c.failedAt = time.Now()
	}
	return time.Since(c.failedAt)+c.wait <= interactiveRetries
}

// alert reports a burst of failures.
func (c *call) alert(class fault.Class) {
	g := c.guard
	if class == fault.Transient && g.onEvent != nil && g.bursts.add(time.Now()) {
		tell(c.ctx, g.onEvent, Burst{Name: g.name, Failures: burstCount, Within: burstWithin, Err: c.err})
	}
}

func (c *call) gaveUp(err error, class fault.Class, reason string) error {
	return &GaveUpError{Name: c.guard.name, Attempts: c.attempts, Class: class, Reason: reason, Err: err,
		Errors: c.all()}
}

// all returns the errors of all attempts.
func (c *call) all() []error {
	if c.err == nil || c.refused {
		return slices.Clone(c.earlier)
	}
	return append(slices.Clone(c.earlier), c.err)
}

// pause voids what was shown, yields a Waiting chunk, and waits. It returns false if the consumer
// has left; when the context ends the wait, it returns true. If a gate decides about the delay, the
// call waits there.
func (c *call) pause() bool {
	if c.pre {
		if c.reached {
			c.attempts--
		}
		c.between = preempted
		return true
	}
	class := fault.Of(c.err)
	c.earlier = append(c.earlier, c.err)
	if c.leased {
		c.between = rateLimited
		return true
	}
	wait := c.wait
	tell(c.ctx, c.guard.onEvent, Failure{Name: c.guard.name, Attempt: c.attempts, Class: class, Err: c.err, Wait: wait})
	if !c.reset(resetText(class)) {
		return false
	}
	if wait <= 0 {
		return true
	}
	if !c.yieldOwn(backingOff(class, wait, c.attempts+1, c.guard.retry[class].Attempts)) {
		return false
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-haltDone(c.ctx):
	case <-c.ctx.Done():
	}
	return true
}

// reset yields a Reset if something was shown. It returns false if the consumer has left.
func (c *call) reset(why string) bool { return !c.begun || c.yieldOwn(provider.Reset(why)) }

func resetText(class fault.Class) string {
	return class.String() + " failure; the answer is made again"
}

func backingOff(class fault.Class, wait time.Duration, attempt, of int) provider.Chunk {
	w := provider.Wait{
		Reason:  provider.WaitBackingOff,
		Until:   time.Now().Add(wait),
		Attempt: attempt,
		Detail:  fmt.Sprintf("attempt %d of %d after a %v failure", attempt, of, class),
	}
	if class == fault.RateLimited {
		w.Reason = provider.WaitRateLimited
	}
	return provider.Waiting(w)
}
