package stream

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// Timeouts limit how long a consumer waits for a call. A figure of 0 or less is no limit.
type Timeouts struct {
	// First is the time until the answer begins: until the first chunk that is neither Waiting nor
	// Reset. 0: as Idle.
	First time.Duration
	// FirstSign is the time until anything comes: the first chunk that is neither Waiting nor
	// Reset, or the first sign of life ([Alive]). 0, or no less than First: as First.
	FirstSign time.Duration
	// Idle is the longest silence within an answer, without the time in which the consumer handles
	// a chunk.
	Idle time.Duration
	// Alive is the longest time without a chunk in which signs of life ([Alive]), such as pings,
	// begin First and Idle anew. Models that think without showing it send nothing else, some for
	// minutes. 0, or no more than First or Idle: signs of life count for nothing there.
	Alive time.Duration
	// Total is the time from the beginning of the call to its end, including the consumer's time.
	Total time.Duration
}

// A TimeoutKind says which of the [Timeouts] a call has exceeded.
type TimeoutKind string

// The kinds of timeouts.
const (
	TimeoutFirst TimeoutKind = "first chunk"
	TimeoutIdle  TimeoutKind = "idle"
	TimeoutAlive TimeoutKind = "alive"
	TimeoutTotal TimeoutKind = "total"
)

// A TimeoutError says that a call has exceeded one of its [Timeouts]. It matches
// context.DeadlineExceeded.
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
	case TimeoutAlive:
		return fmt.Sprintf("stream: the provider sent only signs of life for %v, and nothing of its answer", e.After)
	}
	return fmt.Sprintf("stream: the call took longer than %v", e.After)
}

// Fault returns Transient.
func (e *TimeoutError) Fault() fault.Class { return fault.Transient }

// Timeout returns true.
func (e *TimeoutError) Timeout() bool { return true }

// Is reports whether target is context.DeadlineExceeded.
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// A Watchdog enforces the [Timeouts] of one call at a time. The zero Watchdog is ready for use, and
// for the next call after End; it must not be copied.
//
// For each call: Begin, then for each chunk Hold before the consumer gets it and Wait when the
// consumer is done with it, then End. All are called from one goroutine. Hold and Wait cost an
// atomic store each, without reading the clock or allocating: a timer checks for changes at least
// every quarter of the shorter of First and Idle. So Total, and First without signs of life, are
// exact, and a silence is noticed when it is 1 to 1.25 times as long as allowed, or a millisecond
// longer if that is more.
type Watchdog struct {
	// state is written by the goroutine of the call and read by the timer: turn for each Hold, and
	// the flags.
	state atomic.Uint64
	fired atomic.Pointer[TimeoutError]
	signs atomic.Uint64 // of life

	// of the goroutine of the call
	turns uint64 // the state without its flags
	flags uint64 // begun, paused and spoken

	mu        sync.Mutex              // guards what follows
	cancel    context.CancelCauseFunc // nil between calls
	timer     *time.Timer             // nil if nothing is limited
	limits    Timeouts
	seen      uint64    // state at the timer's last check
	since     time.Time // since when there was no chunk, as far as the timer knows
	seenSigns uint64    // the signs of life at the timer's last check
	lastSign  time.Time // when the timer last saw that there was a new one; zero: none since Begin
	until     time.Time // of the last Waiting; zero: unknown
	end       time.Time // when Total is over
}

// The flags of Watchdog.state; the turns are counted above them.
const (
	held   = 1 << iota // the consumer handles a chunk
	begun              // the answer has begun
	paused             // the last chunk was Waiting
	spoken             // something of an answer has come, perhaps before a Reset
	turn
)

// forever is longer than any limit, and short enough to add to a time.
const forever = math.MaxInt64 / 4

// Begin starts the clocks of a call and returns the context to make it with. When the call exceeds
// a limit, that context is canceled with the *[TimeoutError] as its cause.
func (w *Watchdog) Begin(ctx context.Context, t Timeouts) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w.flags = 0
	w.turns += turn
	w.state.Store(w.turns)
	w.fired.Store(nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel, w.timer, w.limits = cancel, nil, t.normal()
	w.seen, w.since = w.turns, time.Now()
	w.seenSigns, w.lastSign = w.signs.Load(), time.Time{}
	w.end = w.since.Add(w.limits.Total)
	if first := min(w.limits.First, w.limits.FirstSign, w.limits.Idle, w.limits.Total); first < forever {
		w.timer = time.AfterFunc(min(first, w.limits.quarter()), w.look)
	}
	if w.limits.Alive > min(w.limits.First, w.limits.Idle) || w.limits.FirstSign < w.limits.First {
		ctx = &watched{ctx, w}
	}
	return ctx
}

// watched is the context of a call for which signs of life count.
type watched struct {
	context.Context
	dog *Watchdog
}

// aliveKey is the key for which a watched context is its own value.
type aliveKey struct{}

func (w *watched) Value(key any) any {
	if key == (aliveKey{}) {
		return w
	}
	return w.Context.Value(key)
}

// Alive returns the function by which a provider says that its call is alive although it has no
// chunk to yield: it gets pings, comments or other bytes of the answer. ctx is the context of the
// call. Limits count such signs as [Timeouts].Alive says; without a [Watchdog], the function does
// nothing. It may be called by any goroutine, and costs an atomic addition.
func Alive(ctx context.Context) func() {
	if ctx == nil {
		return func() {}
	}
	w, ok := ctx.Value(aliveKey{}).(*watched)
	if !ok {
		return func() {}
	}
	outer := Alive(w.Context)
	return func() {
		w.dog.signs.Add(1)
		outer()
	}
}

// normal replaces missing limits by forever.
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
	if t.FirstSign <= 0 || t.FirstSign > t.First {
		t.FirstSign = t.First
	}
	return t
}

// closest is the shortest time between two checks, unless a limit is shorter.
const closest = time.Millisecond

// quarter returns how often the timer must check for a silence.
func (t *Timeouts) quarter() time.Duration { return max(min(t.FirstSign, t.First, t.Idle)/4, closest) }

// Hold stops the clock of the silence: the consumer is about to get c.
func (w *Watchdog) Hold(c *provider.Chunk) {
	switch c.Kind {
	case provider.KindReset:
		w.flags &= spoken
	case provider.KindWaiting:
		w.flags = w.flags&spoken | paused
		w.pauseUntil(c)
	default:
		w.flags = begun | spoken
	}
	w.turns += turn
	w.state.Store(w.turns | w.flags | held)
}

// pauseUntil records until when the call waits.
func (w *Watchdog) pauseUntil(c *provider.Chunk) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = time.Time{}
	if c.Extra != nil && c.Extra.Wait != nil {
		w.until = c.Extra.Wait.Until
	}
}

// Wait restarts the clock of the silence: the consumer is done with its chunk. After a Waiting
// chunk the clock starts at the end of the wait, and if that isn't known, at the next chunk.
func (w *Watchdog) Wait() { w.state.Store(w.turns | w.flags) }

// Fired returns the limit that the call has exceeded, or nil. It may be called by any goroutine.
func (w *Watchdog) Fired() *TimeoutError { return w.fired.Load() }

// End stops the clocks, releases the call's context, and returns the limit that the call had
// exceeded by now, or nil. Calling it again changes nothing.
func (w *Watchdog) End() *TimeoutError {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	if w.cancel != nil {
		w.cancel(nil)
		w.cancel = nil
	}
	return w.fired.Load()
}

// look is called by the timer: it ends the call, or sets the timer for the next check. If it runs
// late, during the next call, it is just an additional check.
func (w *Watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel == nil || w.timer == nil || w.fired.Load() != nil {
		return
	}
	state, now := w.state.Load(), time.Now()
	if state != w.seen || state&held != 0 {
		w.seen, w.since = state, now
	}
	if state&paused != 0 {
		switch {
		case w.until.IsZero():
			w.since = now
		case w.until.After(w.since):
			w.since = w.until
		}
	}
	kind, limit := TimeoutFirst, w.limits.First
	if state&begun != 0 {
		kind, limit = TimeoutIdle, w.limits.Idle
	}
	since := w.since
	if signs := w.signs.Load(); signs != w.seenSigns {
		w.seenSigns, w.lastSign = signs, now
	}
	if state&spoken == 0 && w.lastSign.IsZero() {
		limit = w.limits.FirstSign
	}
	if w.limits.Alive > limit && w.lastSign.After(since) {
		since = w.lastSign
		if since.Add(limit).After(w.since.Add(w.limits.Alive)) {
			since, kind, limit = w.since, TimeoutAlive, w.limits.Alive
		}
	}
	silence, rest := since.Add(limit).Sub(now), w.end.Sub(now)
	switch {
	case rest <= 0:
		w.fire(TimeoutTotal, w.limits.Total)
	case silence <= 0:
		w.fire(kind, limit)
	default:
		w.timer.Reset(min(w.limits.quarter(), silence, rest))
	}
}

// fire ends the call. mu is held.
func (w *Watchdog) fire(kind TimeoutKind, after time.Duration) {
	late := &TimeoutError{Kind: kind, After: after}
	w.fired.Store(late)
	w.cancel(late)
}
