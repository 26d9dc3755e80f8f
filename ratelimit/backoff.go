package ratelimit

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/backoff"
)

// delays are those after rate limits without advice of the provider: 1 s, 2 s, 4 s … 256 s, then
// 5 min, each randomized by 20 % either way.
var delays = backoff.Delays{Min: time.Second, Max: 6 * time.Minute, Spread: backoff.Spread}

const longestPause = 366 * 24 * time.Hour // longer than any advice

// trial is how long background calls wait after a pause for interactive calls that haven't begun to
// answer. A rejection takes one round trip, since the provider does no work for it. A call that
// hasn't been rejected within this time was accepted, even if it is a large request on a slow line.
const trial = 5 * time.Second

// limits are the rate limits in a row, and the pause of the whole gate after them.
type limits struct {
	step   int    // rate limits in a row
	epoch  uint64 // the number of rate limits; those of concurrent calls count as one
	paused bool
	until  time.Time
	asked  time.Time   // the part of until that the provider or the host asked for
	timer  *time.Timer // set while paused

	// unproven says that no call that started since the last rate limit has begun to answer. It is
	// written under mu.
	unproven atomic.Bool
	trialEnd time.Time // trial after the first interactive call that started since; zero: none has
}

// A verdict is what an outcome means for the gate. It is determined before mu is locked, because
// methods of errors may call the gate.
type verdict struct {
	Outcome
	succeeded bool
	limited   bool
	advice    time.Duration // if advised
	advised   bool
}

func classify(o Outcome) verdict {
	v := verdict{Outcome: o}
	if o.Err == nil {
		v.succeeded = !o.Unsent
		return v
	}
	if v.limited = fault.Of(o.Err) == fault.RateLimited && !refusedElsewhere(o.Err); v.limited {
		v.Unsent = false
		v.advice, v.advised = fault.RetryAfter(o.Err)
	}
	return v
}

// refusedElsewhere reports whether err comes from another gate. That gate handles its provider's
// pauses itself, and a full queue isn't a rate limit.
func refusedElsewhere(err error) bool {
	var full *QueueFullError
	var long *PauseTooLongError
	return errors.As(err, &full) || errors.As(err, &long)
}

// learn updates the back-off after the call in s has ended.
func (g *Gate) learn(s *slot, v *verdict) {
	b := &g.backoff
	// A call that started before the last rate limit shows neither that it happened again nor that
	// it is over.
	fresh := s.epoch == b.epoch
	if v.succeeded && fresh && !b.paused {
		b.step = 0
		b.unproven.Store(false)
	}
	if !v.limited {
		return
	}
	now := time.Now()
	g.totals.RateLimited++
	if fresh {
		b.step++
		b.epoch++
		b.unproven.Store(true)
		b.trialEnd = time.Time{}
		g.calls.sinceRateLimit = 0
	}
	switch {
	case v.advised:
		g.pause(v.advice, true, b.step, now)
	case fresh:
		g.pause(g.delays.After(b.step), false, b.step, now)
	}
}

// onTrial returns until when background calls wait after a rate limit; the zero Time if they don't.
func (g *Gate) onTrial(now time.Time) time.Time {
	b := &g.backoff
	if g.calls.sinceRateLimit == 0 || !b.unproven.Load() || !b.trialEnd.After(now) {
		return time.Time{}
	}
	return b.trialEnd
}

// pause prevents calls from starting for at least d. Pauses are never shortened.
func (g *Gate) pause(d time.Duration, asked bool, step int, now time.Time) {
	if d <= 0 || g.closed {
		return
	}
	b := &g.backoff
	until := now.Add(min(d, longestPause))
	if asked && until.After(b.asked) {
		b.asked = until
	}
	switch {
	case !b.paused:
		b.paused, b.until = true, until
		if b.timer == nil {
			b.timer = time.AfterFunc(time.Until(until), g.pauseOver)
		} else {
			b.timer.Reset(time.Until(until))
		}
		g.totals.Pauses++
		g.setNext(nil, "", time.Time{})
		g.emit(Event{Kind: EventPaused, Until: until, Step: step})
	case until.After(b.until):
		b.until = until // the timer checks until when it fires
		g.emit(Event{Kind: EventProlonged, Until: until, Step: step})
	default:
		return
	}
	if err := g.tooLong(now); err != nil {
		g.failAll(err)
	}
	g.inform()
}

// tooLong returns an error if the provider asked for a longer pause than requests wait for.
func (g *Gate) tooLong(now time.Time) error {
	b := &g.backoff
	if !b.paused {
		return nil
	}
	rest := b.asked.Sub(now)
	if rest <= g.cfg.MaxRetryAfter {
		return nil
	}
	return &PauseTooLongError{Gate: g.cfg.Name, Until: b.asked, Rest: rest, Max: g.cfg.MaxRetryAfter}
}

// pauseOver is called by the timer.
func (g *Gate) pauseOver() {
	g.mu.Lock()
	now := time.Now()
	b := &g.backoff
	switch {
	case !b.paused:
	case b.until.After(now):
		b.timer.Reset(b.until.Sub(now))
	default:
		g.resume(now)
	}
	g.unlock()
}

func (g *Gate) resume(now time.Time) {
	b := &g.backoff
	b.paused, b.until, b.asked = false, time.Time{}, time.Time{}
	g.emit(Event{Kind: EventResumed})
	g.dispatch(now)
	g.inform()
}

// Pause prevents calls from starting for d, as a rate limit would, without changing the steps of
// the back-off. It never shortens a pause, and MaxRetryAfter applies to it. It is for a rate limit
// that is known from elsewhere, such as from another gate of the same account.
func (g *Gate) Pause(d time.Duration) {
	g.mu.Lock()
	g.pause(d, true, 0, time.Now())
	g.unlock()
}

// Resume ends a pause now, for example one of days that a provider asked for by mistake. The next
// rate limit starts another. It does nothing if there is no pause, and doesn't end pauses by
// [Gate.PauseBackground].
func (g *Gate) Resume() {
	g.mu.Lock()
	if g.backoff.paused {
		g.backoff.timer.Stop()
		g.resume(time.Now())
	}
	g.unlock()
}
