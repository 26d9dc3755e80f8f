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

// A Pass is the permission of a tool's breaker to run one call. It is for callers that do something
// between taking it and running the call, such as recording that the call starts: an open breaker
// is known before that.
//
// It is ended once, by [Execute] or, for a call that isn't run after all, by Cancel. Ending it
// again does nothing, so a caller that abandons a running call may call Done. The zero Pass is
// ready for Take, and a Pass that has ended may be taken again. It mustn't be copied after Take.
// Done and Cancel may be called from any goroutine.
type Pass struct {
	breaker *circuit.Breaker // nil: the tool has none
	permit  circuit.Permit
	over    atomic.Bool
}

// Take asks the breaker of d in breakers whether a call may run now. It returns nil if so, or if
// there is no breaker: breakers is nil, or Spec.NoBreaker is set. Otherwise it returns the outcome
// for the model: [Unavailable], of class [fault.Degraded], with the *[circuit.OpenError] as its
// Err; fault.RetryAfter returns when to try again.
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

// Done ends the pass with the result of the call, as [circuit.Permit.Done] does. nil is a success.
// The breaker gets an error of unknown class as a permanent one. So only transient and degraded
// errors count, unless the breaker's [circuit.Config].Counts decides otherwise. Only the first Done
// or Cancel counts.
func (p *Pass) Done(err error) {
	if p == nil || p.breaker == nil || p.over.Swap(true) {
		return
	}
	defer observed()
	if class, known := fault.Known(err); !known {
		err = fault.Wrap(class, err)
	}
	p.permit.Done(err)
}

// allow asks a breaker. If its OnChange panics, the permit is lost: then the call runs without one,
// and if it was a probe, the breaker counts it as expired.
func allow(b *circuit.Breaker) (permit circuit.Permit, err error) {
	defer observed()
	return b.Allow()
}

// observed contains a panic of a breaker's OnChange or Counts, because calls run on goroutines
// where nothing else would.
func observed() { _ = recover() }

// Cancel ends the pass of a call that counts as neither a success nor a failure.
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
	default: // suspended, or a Result with Failed set
		p.Done(errNeither)
	}
}

// wasOpen reports whether err comes from a breaker that the tool itself uses: then nothing was
// called.
func wasOpen(err error) bool {
	var open *circuit.OpenError
	return guarded("an error", func() error { _ = errors.As(err, &open); return nil }) == nil && open != nil
}

// ready reports whether the breaker would admit another attempt. It doesn't if other calls have
// opened it meanwhile, or if it is half-open and waits for this call.
func (p *Pass) ready() (ok bool) {
	defer observed()
	return p == nil || p.breaker.Ready() == nil
}

// open is the Outcome of a call that the breaker rejects. It names neither the resource nor the
// failure, since that was another session's call.
func (d *Definition) open(err error) *Outcome {
	when := "soon"
	if wait, ok := fault.RetryAfter(err); ok {
		when = "in " + seconds(wait)
	}
	out := d.fail(Unavailable, fault.Degraded, err, fmt.Sprintf(
		"The call wasn't run: %q is temporarily unavailable, because calls like it have failed. Try again %s, or do "+
			"something else.", d.spec.Name, when))
	return &out
}

// seconds words a wait, rounded up to the second.
func seconds(d time.Duration) string {
	return (time.Duration(math.Ceil(d.Seconds())) * time.Second).String()
}
