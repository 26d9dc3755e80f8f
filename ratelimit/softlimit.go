package ratelimit

import "time"

// A SoftLimit warns when use comes near a limit, such as that of a subscription. It never holds anything back.
type SoftLimit struct {
	// Requests and Tokens are the limits of a period; 0 or less is none.
	Requests, Tokens int64
	// Every is the length of a period, such as 7 * 24 * time.Hour; 0 or less: a day.
	Every time.Duration
	// From is the beginning of some period; zero: when the gate was made.
	From time.Time
	// Warn is the share of either limit at which to warn; 0 or less, or above 1: 0.8. [EventSoftLimit] comes once a period,
	// with the end of the call whose use crosses it.
	Warn float64
}

// softUse is what was used in the period of a soft limit.
type softUse struct {
	SoftLimit
	requests, tokens int64
	warned           bool
}

func newSoftUse(limits []SoftLimit, now time.Time) []softUse {
	const day = 24 * time.Hour
	var uses []softUse
	for _, l := range limits {
		if l.Every <= 0 {
			l.Every = day
		}
		if !(l.Warn > 0 && l.Warn <= 1) {
			l.Warn = 0.8
		}
		if l.From.IsZero() {
			l.From = now
		}
		u := softUse{SoftLimit: l}
		u.roll(now)
		uses = append(uses, u)
	}
	return uses
}

// roll moves From to the beginning of the period that now is in.
func (u *softUse) roll(now time.Time) {
	passed := now.Sub(u.From)
	if passed >= 0 && passed < u.Every {
		return
	}
	periods := passed / u.Every
	if passed < 0 && passed%u.Every != 0 {
		periods--
	}
	u.From = u.From.Add(periods * u.Every)
	u.requests, u.tokens, u.warned = 0, 0, false
}

func (u *softUse) crossed() bool {
	return u.Requests > 0 && float64(u.requests) >= u.Warn*float64(u.Requests) ||
		u.Tokens > 0 && float64(u.tokens) >= u.Warn*float64(u.Tokens)
}

// count counts a call that was sent against the soft limits. It is called under mu.
func (g *Gate) count(estimate int64, o *Outcome, now time.Time) {
	tokens := estimate
	if o.Tokens >= 0 {
		tokens = min(o.Tokens, mostTokens)
	}
	for i := range g.soft {
		u := &g.soft[i]
		u.roll(now)
		u.requests++
		u.tokens += tokens
		if u.crossed() && !u.warned {
			u.warned = true
			g.tell(Event{Kind: EventSoftLimit, Requests: u.requests, Tokens: u.tokens, Until: u.From.Add(u.Every)})
		}
	}
}
