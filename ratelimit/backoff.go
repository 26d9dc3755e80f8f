package ratelimit

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// The delays after rate limits without an advice: 1 s, 2 s, 4 s … 256 s, then 5 min, each with a jitter
// of up to a fifth either way.
const (
	firstDelay   = time.Second
	doublings    = 8
	longestDelay = 5 * time.Minute
	jitter       = 0.2

	longestPause = 366 * 24 * time.Hour // more than any advice
)

// trial is for how long people's calls have what the provider grants again to themselves, as long as none has begun to
// answer. A refusal takes a round trip, since no work is done for it; so one that isn't there by then isn't to be expected,
// even of a large request on a slow line. What does go on is a call that was accepted and is silent.
const trial = 5 * time.Second

// delay returns the delay of a step; the first is 1. random is from 0 to 1.
func delay(step int, random float64) time.Duration {
	d := longestDelay
	if step-1 <= doublings {
		d = firstDelay << max(step-1, 0)
	}
	return d + time.Duration(float64(d)*jitter*(2*random-1))
}

// backoff is the pause of everything that a rate limit leads to.
type backoff struct {
	step   int    // rate limits in a row
	epoch  uint64 // how many rate limits there were, those that calls ran into together counted as one
	paused bool
	until  time.Time
	asked  time.Time   // the part of until that somebody asked for
	timer  *time.Timer // set while paused

	// unproven says that no call that started since the last rate limit has begun to answer. It is written under mu.
	unproven atomic.Bool
	trialEnd time.Time // trial after the first call of a person's that started since; zero: none has
}

// A verdict is what an outcome means for the gate, found out before its mu is locked: errors are foreign code.
type verdict struct {
	Outcome
	succeeded bool
	limited   bool
	advice    time.Duration // if advised
	advised   bool
}

func judge(o Outcome) verdict {
	v := verdict{Outcome: o}
	if o.Err == nil {
		v.succeeded = o.Sent
		return v
	}
	if v.limited = fault.Of(o.Err) == fault.RateLimited && !refusedElsewhere(o.Err); v.limited {
		v.Sent = true
		v.advice, v.advised = fault.RetryAfter(o.Err)
	}
	return v
}

// refusedElsewhere reports whether err is what another gate says. That one keeps to its provider's pauses itself, and a full
// queue is no rate limit.
func refusedElsewhere(err error) bool {
	var full *QueueFullError
	var long *PauseTooLongError
	return errors.As(err, &full) || errors.As(err, &long)
}

// learn draws the conclusions for the back-off from how the call in s ended.
func (g *Gate) learn(s *slot, v *verdict) {
	b := &g.backoff
	// What started before the last rate limit tells nothing new of it, neither that it happened again nor that it is over.
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
		g.peopleSince = 0
	}
	switch {
	case v.advised:
		g.pause(v.advice, true, b.step, now)
	case fresh:
		g.pause(delay(b.step, g.jitter()), false, b.step, now)
	}
}

// onTrial returns until when background work leaves what the provider grants again to people; the zero Time if it doesn't.
func (g *Gate) onTrial(now time.Time) time.Time {
	b := &g.backoff
	if g.peopleSince == 0 || !b.unproven.Load() || !b.trialEnd.After(now) {
		return time.Time{}
	}
	return b.trialEnd
}

// pause keeps everything from starting for d at least. Pauses are never shortened.
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
		g.tell(Event{Kind: EventPaused, Until: until, Step: step})
	case until.After(b.until):
		b.until = until // the timer finds out when it is over
		g.tell(Event{Kind: EventProlonged, Until: until, Step: step})
	default:
		return
	}
	if err := g.tooLong(now); err != nil {
		g.failAll(err)
	}
	g.inform()
}

// tooLong returns an error if a provider asked for more patience than requests have.
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

// pauseOver is the timer's.
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
	g.tell(Event{Kind: EventResumed})
	g.dispatch(now)
	g.inform()
}

// Pause keeps everything from starting for d, as a rate limit would, but leaves the steps of the back-off alone. It
// never shortens a pause, and is held to MaxRetryAfter like one. It is for a rate limit that is known from elsewhere, such as
// another gate of the same account.
func (g *Gate) Pause(d time.Duration) {
	g.mu.Lock()
	g.pause(d, true, 0, time.Now())
	g.unlock()
}

// Resume ends a pause now, whoever asked for it: a provider that named a wait of days by mistake, for example. The next rate
// limit begins another. It does nothing where there is no pause, and nothing to what [Gate.PauseBackground] holds back.
func (g *Gate) Resume() {
	g.mu.Lock()
	if g.backoff.paused {
		g.backoff.timer.Stop()
		g.resume(time.Now())
	}
	g.unlock()
}
