package tools

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A Pass is the leave of a tool's breaker to run one call. It is for callers that have something to do between asking and
// running, such as writing down that the call starts: an open breaker is known before that.
//
// It is ended once, by [Execute] or, for a call that isn't run after all, by Cancel. Ending it again does nothing, so whoever
// gives up a running call may say so by Done. The zero Pass is ready for Take, and a Pass that has ended may be taken again.
// It mustn't be copied once it was taken. Done and Cancel may be called from any goroutine.
type Pass struct {
	breaker *circuit.Breaker // nil: the tool has none
	permit  circuit.Permit
	over    atomic.Bool
}

// Take asks the breaker of d in breakers whether a call may run now. It returns nil if so, or if there is no breaker: breakers
// is nil, or Spec.NoBreaker is set. Else it returns what the model is told: [Unavailable], of class [fault.Degraded], with
// the *[circuit.OpenError] as its Err, whose advice on when to try again fault.RetryAfter finds.
func (p *Pass) Take(d *Definition, breakers *circuit.Set) (refused *Outcome) {
	p.breaker = nil
	if d == nil || d.key == "" || breakers == nil {
		return nil
	}
	b := breakers.Get(d.key)
	permit, err := allow(b)
	if err != nil {
		return d.open(err)
	}
	p.breaker, p.permit = b, permit
	p.over.Store(false)
	return nil
}

// Done ends the pass with what came of the call, as [circuit.Permit.Done] does: nil is a success, an error of class transient
// or degraded a failure of the tool's resource, any other says nothing about it. The first Done or Cancel counts.
func (p *Pass) Done(err error) {
	if p == nil || p.breaker == nil || p.over.Swap(true) {
		return
	}
	defer observed()
	p.permit.Done(err)
}

// allow asks a breaker. Its OnChange may lose the permit by panicking: then the call runs without, and the breaker counts it as
// a probe that expired, if it was one.
func allow(b *circuit.Breaker) (permit circuit.Permit, err error) {
	defer observed()
	return b.Allow()
}

// observed contains a panic of a breaker's OnChange, which only watches. Calls run on goroutines on which nobody else would.
func observed() { _ = recover() }

// Cancel ends the pass of a call of which nothing can be said.
func (p *Pass) Cancel() { p.Done(errNeither) }

var errNeither = fault.New(fault.None, "tools: the call says nothing about its resource")

// close ends the pass with an Outcome.
func (p *Pass) close(out *Outcome) {
	switch {
	case p == nil || p.breaker == nil:
	case out.Status == OK:
		p.Done(nil)
	case out.Err != nil && !wasOpen(out.Err):
		p.Done(fault.Wrap(out.Class, out.Err))
	default: // put off, or a Result that says Failed
		p.Done(errNeither)
	}
}

// wasOpen reports an error of a breaker that the tool itself has asked: then nothing was called.
func wasOpen(err error) bool {
	var open *circuit.OpenError
	return guarded("an error", func() error { _ = errors.As(err, &open); return nil }) == nil && open != nil
}

// ready reports whether the breaker would let another attempt pass. It wouldn't if others have opened it meanwhile, nor if
// it waits for this very call to find out.
func (p *Pass) ready() (ok bool) {
	defer observed()
	return p == nil || p.breaker.Ready() == nil
}

// open is the Outcome of a call that the breaker refuses. It names neither the resource nor what failed: that was
// somebody else's call.
func (d *Definition) open(err error) *Outcome {
	when := "soon"
	if wait, ok := fault.RetryAfter(err); ok {
		when = "in " + seconds(wait)
	}
	out := d.fail(Unavailable, fault.Degraded, err, fmt.Sprintf(
		"The call wasn't run: %q is temporarily unavailable, because calls like it have failed. Try again %s, or do something else.", d.spec.Name, when))
	return &out
}

// seconds words a wait, rounded up to the second.
func seconds(d time.Duration) string {
	return (time.Duration(math.Ceil(d.Seconds())) * time.Second).String()
}
