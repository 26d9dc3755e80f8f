package ratelimit

import "time"

// A SoftLimit warns when usage comes near a limit, such as that of a subscription. It never delays or rejects
// anything.
type SoftLimit struct {
	// Requests and Tokens are the limits of a period; 0 or less is none.
	Requests, Tokens int64
	// Every is the length of a period, such as 7 * 24 * time.Hour; 0 or less: a day.
	Every time.Duration
	// From is the beginning of some period; zero: when the gate was made.
	From time.Time
	// Warn is the share of either limit at which to warn; 0: .8; negative or NaN: never. [EventSoftLimit] is reported
	// once per period, at the end of the call whose usage crosses the share.
	Warn float64
}

// softUse is what was used in the period of a soft limit.
type softUse struct {
	SoftLimit
	warnRequests, warnTokens int64 // from here on it warns; Unlimited for never
	requests, tokens         int64
	warned                   bool
}

func newSoftUse(limits []SoftLimit, now time.Time) []softUse {
	const day = 24 * time.Hour
	var uses []softUse
	for _, l := range limits {
		if l.Every <= 0 {
			l.Every = day
		}
		if l.From.IsZero() {
			l.From = now
		}
		l.From = l.From.Round(0) // without the monotonic clock, so that it is right after the machine has slept
		l.From = l.begun(now)
		uses = append(uses, softUse{SoftLimit: l, warnRequests: warnAt(l.Requests, l.Warn), warnTokens: warnAt(l.Tokens, l.Warn)})
	}
	return uses
}

// begun returns the beginning of the period that contains now.
func (l *SoftLimit) begun(now time.Time) time.Time {
	from := l.From.Add(now.Sub(l.From) / l.Every * l.Every)
	if from.After(now) { // division rounds towards zero
		from = from.Add(-l.Every)
	}
	return from
}

// roll moves From to the beginning of the period that contains now. Setting the clock back doesn't reopen an earlier
// period; if there is a whole period between now and the present one, the present one ends with the period that contains
// now.
func (u *softUse) roll(now time.Time) {
	passed := now.Sub(u.From)
	if -u.Every <= passed && passed < u.Every {
		return
	}
	u.From = u.begun(now)
	if passed > 0 {
		u.requests, u.tokens, u.warned = 0, 0, false
	}
}

func (u *softUse) crossed() bool { return u.requests >= u.warnRequests || u.tokens >= u.warnTokens }

// count counts a call that was sent against the soft limits. It is called under mu.
func (g *Gate) count(estimate int64, o *Outcome, now time.Time) {
	tokens := estimate
	if o.Tokens >= 0 {
		tokens = min(o.Tokens, maxTokens)
	}
	for i := range g.soft {
		u := &g.soft[i]
		u.roll(now)
		u.requests++
		u.tokens += tokens
		if u.crossed() && !u.warned {
			u.warned = true
			g.emit(Event{Kind: EventSoftLimit, SoftLimit: i, Requests: u.requests, Tokens: u.tokens, Until: u.From.Add(u.Every)})
		}
	}
}
