package stream

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/alarm"
	"github.com/pawlkit/pawl/internal/lazyctx"
	"github.com/pawlkit/pawl/provider"
)

// Timeouts say how long a call may keep its consumer waiting. A figure of 0 or less is no limit.
type Timeouts struct {
	// First is the time until the answer begins: until the first chunk that is neither Waiting nor Reset. 0: as Idle.
	First time.Duration
	// Idle is the longest silence within an answer. Time during which the consumer holds a chunk doesn't count.
	Idle time.Duration
	// Total is the time from the beginning of the call to its end, whatever it is spent on.
	Total time.Duration
}

// A TimeoutKind says which of the [Timeouts] a call has exceeded.
type TimeoutKind string

// The kinds of timeouts.
const (
	TimeoutFirst TimeoutKind = "first chunk"
	TimeoutIdle  TimeoutKind = "idle"
	TimeoutTotal TimeoutKind = "total"
)

// A TimeoutError is a call that kept its consumer waiting for too long. It matches context.DeadlineExceeded.
type TimeoutError struct {
	Kind  TimeoutKind
	After time.Duration // the limit
}

// Error says what took too long.
func (e *TimeoutError) Error() string {
	switch e.Kind {
	case TimeoutFirst:
		return fmt.Sprintf("stream: the answer didn't begin within %v", e.After)
	case TimeoutIdle:
		return fmt.Sprintf("stream: the provider was silent for %v in the middle of its answer", e.After)
	}
	return fmt.Sprintf("stream: the call took longer than %v", e.After)
}

// Fault returns Transient.
func (e *TimeoutError) Fault() fault.Class { return fault.Transient }

// Timeout returns true.
func (e *TimeoutError) Timeout() bool { return true }

// Is reports whether target is context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// A Watchdog holds one call at a time to its [Timeouts]. [Watch] is the same as a sequence; this is for a loop that has
// a state of its own and wants to put the Watchdog into it. The zero Watchdog is ready for use, and for the next call
// after End; it must not be copied.
//
// For each call: Begin or BeginWith, then for each chunk Hold before the consumer gets it and Wait when the consumer is done with it,
// then End. All are called from one goroutine. They cost two atomic stores a chunk, no clock and no allocation: one timer
// looks at what has changed since it looked last, at least every quarter of the shorter of First and Idle. So First
// counted from Begin and Total are exact, and a silence is noticed when it is 1 to 1.25 times as long as allowed, or a
// millisecond longer if that is more.
type Watchdog struct {
	// state is written by the call's goroutine and read by the timer: n times turn, and the flags.
	state atomic.Uint64
	fired atomic.Pointer[TimeoutError]

	n     uint64 // of the call's goroutine
	flags uint64 // of the call's goroutine: begun and paused

	mu     sync.Mutex // guards what follows; the call's goroutine writes clock and ctx, and reads them without it
	clock  *alarm.Clock
	ctx    *lazyctx.Context // of Begin, or else
	cancel context.CancelCauseFunc
	limits Timeouts
	on     bool
	seen   uint64 // state when the timer looked last

	// by the clock
	mark  time.Duration // since when nothing has come, as far as the timer knows
	until time.Duration // of the last Waiting; 0: unknown
	end   time.Duration // when Total is over

	own alarm.Clock // unless another is shared
}

// The flags of Watchdog.state; the turns are counted above them.
const (
	held   = 1 << iota // the consumer holds a chunk
	begun              // the answer has begun
	paused             // the last chunk was Waiting
	turn
)

// forever is longer than any limit, and short enough to add to a time.
const forever = math.MaxInt64 / 4

// Share has the Watchdog use a clock that is of others, too, and that they stop. It is called between calls, and lets go of what
// the last one was made with. Without it End stops a timer that the next Begin has to start again.
func (w *Watchdog) Share(c *alarm.Clock) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock, w.ctx, w.cancel = c, nil, nil
}

// Begin starts the clocks of a call and returns the context to make it with. When the call exceeds a limit, that context
// is canceled with the *[TimeoutError] as its cause.
func (w *Watchdog) Begin(ctx context.Context, t Timeouts) context.Context {
	own := &lazyctx.Context{Parent: ctx}
	w.begin(own, nil, t)
	return own
}

// BeginWith is Begin for a call whose context cancel ends, so that it needs no other. End leaves that context as it is.
func (w *Watchdog) BeginWith(cancel context.CancelCauseFunc, t Timeouts) { w.begin(nil, cancel, t) }

func (w *Watchdog) begin(ctx *lazyctx.Context, cancel context.CancelCauseFunc, t Timeouts) {
	w.flags = 0
	w.n += turn
	w.state.Store(w.n)
	if w.fired.Load() != nil { // storing takes longer
		w.fired.Store(nil)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.clock == nil {
		w.own.Start()
		w.clock = &w.own
	}
	w.ctx, w.cancel, w.limits = ctx, cancel, t.normal()
	w.seen = w.n
	if w.limits.quarter() == forever/4 && w.limits.Total == forever {
		return
	}
	w.on = true
	w.mark = w.clock.Now()
	w.end = w.mark + w.limits.Total
	w.clock.Set((*ringer)(w), w.mark, min(w.limits.quarter(), w.limits.First, w.limits.Total))
}

// normal puts forever for what isn't limited.
func (t Timeouts) normal() Timeouts {
	for _, d := range [...]*time.Duration{&t.Idle, &t.Total} {
		if *d <= 0 || *d > forever {
			*d = forever
		}
	}
	if t.First <= 0 {
		t.First = t.Idle
	}
	t.First = min(t.First, forever)
	return t
}

// closest is what lies between two looks at the least, unless a limit is shorter itself.
const closest = time.Millisecond

// quarter returns how often the timer has to look for a silence.
func (t *Timeouts) quarter() time.Duration { return max(min(t.First, t.Idle)/4, closest) }

// Hold stops the clock of the silence: the consumer is about to get c.
func (w *Watchdog) Hold(c *provider.Chunk) {
	w.flags = begun
	if c.Kind == provider.KindWaiting || c.Kind == provider.KindReset {
		w.unbegun(c)
	}
	w.n += turn
	w.state.Store(w.n | w.flags | held)
}

// unbegun notes that the answer is yet to come.
func (w *Watchdog) unbegun(c *provider.Chunk) {
	w.flags = 0
	if c.Kind == provider.KindReset {
		return
	}
	w.flags = paused
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = 0
	if c.Extra != nil && c.Extra.Wait != nil && !c.Extra.Wait.Until.IsZero() && w.clock != nil {
		w.until = min(max(w.clock.At(c.Extra.Wait.Until), 1), forever)
	}
}

// Wait starts the clock of the silence anew: the consumer is done with its chunk. After a Waiting chunk it starts at the
// time until which the call is held back, and if that isn't known, not before the next chunk.
func (w *Watchdog) Wait() { w.state.Store(w.n | w.flags) }

// Fired returns the limit that the call has exceeded, or nil. It may be called by any goroutine.
func (w *Watchdog) Fired() *TimeoutError { return w.fired.Load() }

// End stops the clocks, releases the call's context, and returns the limit that the call had exceeded by now, or nil.
// Calling it again changes nothing.
func (w *Watchdog) End() *TimeoutError {
	w.mu.Lock()
	w.on = false
	w.mu.Unlock()
	if w.clock == &w.own {
		w.own.Stop()
	}
	if w.ctx != nil {
		w.ctx.End(context.Canceled)
	}
	return w.fired.Load()
}

// A ringer is a Watchdog as its clock sees it.
type ringer Watchdog

// Ring ends the call, or sets the alarm for later. Between two calls there is nothing to do, nor for a clock that the Watchdog
// doesn't have any more.
func (r *ringer) Ring(c *alarm.Clock) {
	w := (*Watchdog)(r)
	w.mu.Lock()
	var late *TimeoutError
	if w.on && w.clock == c {
		late = w.judge(w.clock.Now())
	}
	ctx, cancel := w.ctx, w.cancel // before the next call has its own
	w.mu.Unlock()
	switch {
	case late == nil:
	case ctx != nil:
		ctx.End(late)
	case cancel != nil:
		cancel(late)
	}
}

// judge is called under mu.
func (w *Watchdog) judge(now time.Duration) *TimeoutError {
	state := w.state.Load()
	if state != w.seen || state&held != 0 {
		w.seen, w.mark = state, now
	}
	if state&paused != 0 {
		switch {
		case w.until == 0:
			w.mark = now
		case w.until > w.mark:
			w.mark = w.until
		}
	}
	kind, limit := TimeoutFirst, w.limits.First
	if state&begun != 0 {
		kind, limit = TimeoutIdle, w.limits.Idle
	}
	silence, rest := w.mark+limit-now, w.end-now
	switch {
	case rest <= 0:
		return w.fire(TimeoutTotal, w.limits.Total)
	case silence <= 0:
		return w.fire(kind, limit)
	}
	w.clock.Set((*ringer)(w), now, min(w.limits.quarter(), silence, rest))
	return nil
}

func (w *Watchdog) fire(kind TimeoutKind, after time.Duration) *TimeoutError {
	err := &TimeoutError{Kind: kind, After: after}
	w.on = false
	w.fired.Store(err)
	return err
}
