package stream

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
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
// then End, or Rest if another call is to follow. All are called from one goroutine. They cost two atomic stores a chunk, no clock and no allocation: one timer
// looks at what has changed since it looked last, at least every quarter of the shorter of First and Idle. So First
// counted from Begin and Total are exact, and a silence is noticed when it is 1 to 1.25 times as long as allowed.
type Watchdog struct {
	// state is written by the call's goroutine and read by the timer: n times turn, and the flags.
	state atomic.Uint64
	fired atomic.Pointer[TimeoutError]

	n     uint64 // of the call's goroutine
	flags uint64 // of the call's goroutine: begun and paused

	mu     sync.Mutex // guards what follows; the call's goroutine writes timer and own, and reads them without it
	timer  *time.Timer
	own    *lazyctx.Context // of Begin, or else
	cancel context.CancelCauseFunc
	limits Timeouts
	on     bool
	rings  time.Time // when the timer fires; zero: it doesn't run, or is about to look

	seen  uint64    // state when the timer looked last
	mark  time.Time // since when nothing has come, as far as the timer knows
	until time.Time // of the last Waiting; zero: unknown
	end   time.Time // when Total is over; zero: never
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

// Begin starts the clocks of a call and returns the context to make it with. When the call exceeds a limit, that context
// is cancelled with the *[TimeoutError] as its cause.
func (w *Watchdog) Begin(ctx context.Context, t Timeouts) context.Context {
	own := &lazyctx.Context{Parent: ctx}
	w.begin(own, nil, t)
	return own
}

// BeginWith is Begin for a call whose context cancel ends, so that it needs no other. End leaves that context as it is.
func (w *Watchdog) BeginWith(cancel context.CancelCauseFunc, t Timeouts) { w.begin(nil, cancel, t) }

func (w *Watchdog) begin(own *lazyctx.Context, cancel context.CancelCauseFunc, t Timeouts) {
	w.flags = 0
	w.n += turn
	w.state.Store(w.n)
	if w.fired.Load() != nil { // storing takes longer
		w.fired.Store(nil)
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	w.own, w.cancel, w.limits = own, cancel, t.normal()
	w.seen, w.until, w.end = w.n, time.Time{}, time.Time{}
	if w.limits.quarter() == forever/4 && w.limits.Total == forever {
		return
	}
	w.on = true
	w.mark = time.Now()
	w.end = w.mark.Add(w.limits.Total)
	delay := min(w.limits.quarter(), w.limits.Total)
	if w.rings.IsZero() || w.rings.Sub(w.mark) > delay { // else it looks early enough, and again when it should
		w.arm(w.mark, delay)
	}
}

// arm has the timer look after a delay from now. mu is held.
func (w *Watchdog) arm(now time.Time, delay time.Duration) {
	w.rings = now.Add(delay)
	if w.timer == nil {
		w.timer = time.AfterFunc(delay, w.look)
	} else {
		w.timer.Reset(delay)
	}
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

// quarter returns how often the timer has to look for a silence.
func (t *Timeouts) quarter() time.Duration { return max(min(t.First, t.Idle)/4, 1) }

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
	var until time.Time
	if c.Extra != nil && c.Extra.Wait != nil {
		until = c.Extra.Wait.Until
	}
	w.mu.Lock()
	w.until = until
	w.mu.Unlock()
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
	if w.timer != nil {
		w.timer.Stop()
		w.rings = time.Time{}
	}
	w.mu.Unlock()
	return w.release()
}

// Rest is End for a call that another is to follow: it leaves the timer running, which the next Begin is spared then. A
// timer that fires between two calls stops there. After the last call End stops it.
func (w *Watchdog) Rest() *TimeoutError {
	w.mu.Lock()
	w.on = false
	w.mu.Unlock()
	return w.release()
}

func (w *Watchdog) release() *TimeoutError {
	if w.own != nil {
		w.own.End(context.Canceled)
	}
	return w.fired.Load()
}

// look is the timer's: it ends the call or looks again later.
func (w *Watchdog) look() {
	w.mu.Lock()
	w.rings = time.Time{}
	var late *TimeoutError
	if w.on {
		late = w.judge(time.Now())
	}
	own, cancel := w.own, w.cancel // before the next call has its own
	w.mu.Unlock()
	switch {
	case late == nil:
	case own != nil:
		own.End(late)
	case cancel != nil:
		cancel(late)
	}
}

// judge is called under mu.
func (w *Watchdog) judge(now time.Time) *TimeoutError {
	state := w.state.Load()
	if state != w.seen || state&held != 0 {
		w.seen, w.mark = state, now
	}
	if state&paused != 0 {
		switch {
		case w.until.IsZero():
			w.mark = now
		case w.until.After(w.mark):
			w.mark = w.until
		}
	}
	kind, limit := TimeoutFirst, w.limits.First
	if state&begun != 0 {
		kind, limit = TimeoutIdle, w.limits.Idle
	}
	silence, rest := w.mark.Add(limit).Sub(now), w.end.Sub(now)
	switch {
	case rest <= 0:
		return w.fire(TimeoutTotal, w.limits.Total)
	case silence <= 0:
		return w.fire(kind, limit)
	}
	w.arm(now, min(w.limits.quarter(), silence, rest))
	return nil
}

func (w *Watchdog) fire(kind TimeoutKind, after time.Duration) *TimeoutError {
	err := &TimeoutError{Kind: kind, After: after}
	w.on = false
	w.fired.Store(err)
	return err
}
