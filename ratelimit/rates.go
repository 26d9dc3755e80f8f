package ratelimit

import "time"

// rates are the requests and tokens per minute of a gate.
type rates struct {
	requests, tokens bucket
}

func newRates(cfg *GateConfig, now time.Time) rates {
	return rates{newBucket(cfg.RequestsPerMinute, cfg.Burst, now), newBucket(cfg.TokensPerMinute, cfg.Burst, now)}
}

// limited reports whether there is a rate at all.
func (r *rates) limited() bool { return r.requests.perMinute > 0 || r.tokens.perMinute > 0 }

// ready reports whether a request of so many tokens may start now, after other requests have taken
// their part. If not, it returns why, and when it may.
func (r *rates) ready(tokens, othersRequests, othersTokens int64, now time.Time) (why DelayReason, until time.Time,
	ok bool) {
	if !r.limited() {
		return "", time.Time{}, true
	}
	requestsAt := r.requests.when(1, othersRequests, now)
	tokensAt := r.tokens.when(tokens, othersTokens, now)
	switch {
	case !requestsAt.After(now) && !tokensAt.After(now):
		return "", time.Time{}, true
	case tokensAt.After(requestsAt):
		return DelayTokens, tokensAt, false
	}
	return DelayRequests, requestsAt, false
}

// taken says from which buckets a call took something: those that existed when it started.
type taken struct{ request, tokens bool }

func (r *rates) take(tokens int64, now time.Time) taken {
	r.requests.add(-1, now)
	r.tokens.add(-tokens, now)
	return taken{request: r.requests.perMinute > 0, tokens: r.tokens.perMinute > 0}
}

// settle corrects what was taken for a request by what it used.
func (r *rates) settle(t taken, estimate int64, o *Outcome, now time.Time) {
	if t.request && o.Unsent {
		r.requests.add(1, now)
	}
	switch {
	case !t.tokens:
	case o.Unsent:
		r.tokens.add(estimate, now)
	case o.Tokens > 0:
		r.tokens.add(estimate-min(o.Tokens, maxTokens), now)
	}
}

// A bucket is a token bucket in integers: it holds up to a share of a minute's worth, may be in
// debt, and refills evenly. One token is 60 million units, so that each microsecond adds perMinute
// units.
type bucket struct {
	configured int64 // by the host; 0: none
	perMinute  int64 // in force; 0: no limit
	burst      float64
	level      int64
	at         time.Time // the time of level
}

const (
	bucketUnit = int64(time.Minute / time.Microsecond)
	// maxTokens bounds every figure that goes into a bucket, so that sums can't overflow.
	maxTokens = int64(1e10)
)

func newBucket(perMinute int64, burst float64, now time.Time) bucket {
	perMinute = min(max(perMinute, 0), maxTokens)
	b := bucket{configured: perMinute, perMinute: perMinute, burst: burst, at: now}
	b.level = b.most() * bucketUnit
	return b
}

// most returns what the bucket holds when it is full.
func (b *bucket) most() int64 { return max(int64(float64(b.perMinute)*b.burst), min(b.perMinute, 1)) }

// refill updates the level to now. Fractions of a microsecond are left for the next call.
func (b *bucket) refill(now time.Time) {
	passed := now.Sub(b.at) / time.Microsecond
	if passed <= 0 {
		return
	}
	b.at = b.at.Add(passed * time.Microsecond)
	capacity := b.most() * bucketUnit
	missing := capacity - b.level
	if int64(passed) >= missing/b.perMinute+1 {
		b.level = capacity
		return
	}
	b.level += int64(passed) * b.perMinute
}

// when returns the time from which n may be taken, after others have taken their part: when that
// much is available, or the bucket is full.
func (b *bucket) when(n, others int64, now time.Time) time.Time {
	if b.perMinute == 0 {
		return now
	}
	b.refill(now)
	// At least one, so that a debt also delays requests with an estimate of 0.
	need := min(max(n, 1), b.most()) + min(others, maxTokens)
	missing := need*bucketUnit - b.level
	if missing <= 0 {
		return now
	}
	const longest = int64(365 * 24 * time.Hour / time.Microsecond)
	rest := time.Duration(min((missing+b.perMinute-1)/b.perMinute, longest)) * time.Microsecond
	return now.Add(b.at.Sub(now) + rest) // b.at may differ from the wall clock
}

func (b *bucket) add(n int64, now time.Time) {
	if b.perMinute == 0 {
		return
	}
	b.refill(now)
	const deepest = -10 * maxTokens * bucketUnit // a debt that no call reaches, and with which no sum overflows
	b.level = max(min(b.level+min(max(n, -maxTokens), maxTokens)*bucketUnit, b.most()*bucketUnit), deepest)
}

// left returns what could be taken now; a debt is negative.
func (b *bucket) left(now time.Time) int64 {
	if b.perMinute == 0 {
		return 0
	}
	b.refill(now)
	if b.level < 0 {
		return -((-b.level + bucketUnit - 1) / bucketUnit)
	}
	return b.level / bucketUnit
}

// adopt applies what a provider says about its limit, and reports whether the rate in force
// changed. The host's figure is never exceeded. A limit with a period other than about a minute is
// ignored.
func (b *bucket) adopt(w Window, read, now time.Time) (changed bool) {
	const longestMinute = 61 * time.Second
	if !w.Reset.IsZero() && w.Reset.Sub(read) > longestMinute {
		return false
	}
	if w.Limit > 0 {
		limit := min(w.Limit, maxTokens)
		if b.configured > 0 {
			limit = min(limit, b.configured)
		}
		changed = b.rate(limit, now)
	}
	if w.Known && b.perMinute > 0 {
		b.refill(now)
		since := min(max(now.Sub(read), 0), time.Minute)
		most := min(max(w.Remaining, 0), maxTokens)*bucketUnit + int64(since/time.Microsecond)*b.perMinute
		b.level = min(b.level, most)
	}
	return changed
}

// rate changes the rate in force. What was taken isn't returned.
func (b *bucket) rate(perMinute int64, now time.Time) bool {
	if perMinute == b.perMinute {
		return false
	}
	if b.perMinute == 0 {
		b.perMinute, b.at = perMinute, now
		b.level = b.most() * bucketUnit
		return true
	}
	b.refill(now)
	was := b.most()
	b.perMinute = perMinute
	b.level += (b.most() - was) * bucketUnit
	return true
}
