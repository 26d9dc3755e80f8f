package agent

import (
	"context"
	"errors"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// This file is what breakers and retries of tools mean for a run.

// ownBreakers returns the breakers of an agent whose Config names none. A call takes as long as it may: a probe that takes
// longer than that doesn't exist, and one that takes less must not count as lost, or the breaker would never close.
func (a *Agent) ownBreakers() *circuit.Set {
	cfg := circuit.Tool()
	for _, d := range a.registry.All() {
		longest := d.Spec().Timeout
		if d.Spec().Progress {
			longest = max(longest, tools.ProgressLimit)
		}
		cfg.ProbeTimeout = max(cfg.ProbeTimeout, longest+2*grace)
	}
	cfg.OnChange = func(c circuit.Change) {
		if c.To == circuit.Open {
			a.log.Warn("agent: calls of a tool are stopped for a while", "breaker", c.Name, "reason", c.Reason, "until", c.Until, "error", c.Cause)
		} else {
			a.log.Info("agent: a breaker has changed", "breaker", c.Name, "from", c.From, "to", c.To, "reason", c.Reason)
		}
	}
	return circuit.NewSet(cfg)
}

// pass asks the breaker of a call. It reports false if the call has its result instead.
func (x *exec) pass(cr *callRun) bool {
	refused := cr.pass.Take(cr.d, x.a.breakers)
	if refused == nil {
		return true
	}
	event := BreakerOpen{Meta: x.callMeta(&cr.call), Tool: cr.call.Name}
	if errors.As(refused.Err, &event.Err) {
		event.Until = event.Err.Until
	}
	if cr.again { // before the process died, or so often that somebody had to decide
		refused.Status = tools.InDoubt
		refused.Parts = append(refused.Parts, provider.TextPart("It was started before, and nobody knows whether it had its effect then."))
	}
	x.lock()
	x.queueEventLocked(event)
	x.mu.Unlock()
	x.finishCall(cr, *refused)
	return false
}

// retrying notes that a call waits for another attempt. It is called on the goroutine of the call.
func (x *exec) retrying(c *tools.Call, next tools.Retrying) {
	w := provider.Wait{Reason: provider.WaitBackingOff, Until: time.Now().Add(next.Wait), Attempt: next.Attempt,
		Detail: "retrying after a " + next.Class.String() + " failure"}
	if next.Class == fault.RateLimited {
		w.Reason = provider.WaitRateLimited
	}
	x.a.log.WarnContext(x.ctx, "agent: a tool call failed and is made again", "session", x.s.name, "call", c.ID, "tool", c.Name,
		"attempt", next.Attempt-1, "class", next.Class, "wait", next.Wait, "error", next.Err)
	x.lock()
	cr := x.callRun(c)
	here := cr != nil && cr == x.here
	if cr != nil && !cr.over && !cr.abandoned {
		cr.attempts = append(cr.attempts, next.Err)
		x.queueEventLocked(Waiting{Meta: x.callMeta(c), Wait: w})
	}
	x.mu.Unlock()
	if here {
		x.flush()
	} else {
		x.poke()
	}
}

// callRun returns the running call, if it is one that nobody has given up. mu is held.
func (x *exec) callRun(c *tools.Call) *callRun {
	if x.here != nil && &x.here.call == c {
		return x.here
	}
	if x.running != nil {
		for _, cr := range x.running.calls {
			if &cr.call == c {
				return cr
			}
		}
	}
	return nil
}

func (x *exec) callMeta(c *tools.Call) Meta { return Meta{Origin: x.origin, Step: c.Step, Call: c.ID} }

// queueEventLocked has a note shown in its place among the facts. mu is held.
func (x *exec) queueEventLocked(event Event) {
	if x.notes {
		x.queue = append(x.queue, event)
	}
}

// givenUp ends the pass of a call that was left behind: whatever it returns, nobody waits for it any more.
func (cr *callRun) givenUp(ctx context.Context) {
	if ctx.Err() != nil {
		cr.pass.Cancel()
		return
	}
	cr.pass.Done(&tools.TimeoutError{Tool: cr.call.Name, After: cr.d.Spec().Timeout})
}
