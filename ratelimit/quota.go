package ratelimit

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Quota is what a provider's headers say about its limits. A gate applies it ([Outcome].Quota):
// it lowers its rates to the provider's, never raises them above the host's, and uses no more of
// them than the provider says is left.
type Quota struct {
	Requests Window
	Tokens   Window    // input and output together
	Input    Window    // input tokens, where they are counted apart
	Output   Window    // output tokens, where they are counted apart
	Read     time.Time // when the headers were received
}

// A Window is one limit of a [Quota]. A gate treats it as a limit per minute, unless Reset shows
// that it is for longer: then the gate ignores it.
type Window struct {
	Limit     int64     // 0: unknown
	Known     bool      // the provider said how much is left
	Remaining int64     // never negative
	Reset     time.Time // when all of Limit is available again; zero: unknown
}

// ParseQuota reads headers that were received at now, and reports whether they contain limits. It
// supports the forms
//
//	X-Ratelimit-{Limit,Remaining,Reset}-{Requests,Tokens}              OpenAI, Azure, Groq, Together and others
//	Anthropic-Ratelimit-{Requests,Tokens,Input-Tokens,Output-Tokens}-{Limit,Remaining,Reset}
//
// where a reset is a duration ("6m0s", "12ms"), seconds ("7", "59.5"), or a time of RFC 3339.
// Values that can't be parsed or are negative are ignored.
func ParseQuota(h http.Header, now time.Time) (Quota, bool) {
	q := Quota{Read: now}
	for _, w := range [...]struct {
		window *Window
		name   string
	}{
		{&q.Requests, "Requests"}, {&q.Tokens, "Tokens"}, {&q.Input, "Input-Tokens"}, {&q.Output, "Output-Tokens"},
	} {
		field := func(what string) string {
			if v := h.Get("Anthropic-Ratelimit-" + w.name + "-" + what); v != "" {
				return strings.TrimSpace(v)
			}
			return strings.TrimSpace(h.Get("X-Ratelimit-" + what + "-" + w.name))
		}
		if n, ok := parseCount(field("Limit")); ok {
			w.window.Limit = n
		}
		w.window.Remaining, w.window.Known = parseCount(field("Remaining"))
		w.window.Reset = parseReset(field("Reset"), now)
	}
	return q, q.says()
}

func (q *Quota) says() bool {
	for _, w := range [...]Window{q.Requests, q.Tokens, q.Input, q.Output} {
		if w.Known || w.Limit > 0 {
			return true
		}
	}
	return false
}

func parseCount(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	return n, true
}

func parseReset(text string, now time.Time) time.Time {
	const longest = 365 * 24 * time.Hour
	if text == "" {
		return time.Time{}
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds >= 0 && seconds <= longest.Seconds()) {
			return time.Time{}
		}
		return now.Add(time.Duration(seconds * float64(time.Second)))
	}
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 || d > longest {
			return time.Time{}
		}
		return now.Add(d)
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at
	}
	return time.Time{}
}

// adopt applies what a provider said about its limits. It is called under mu.
func (g *Gate) adopt(q *Quota, now time.Time) {
	read := q.Read
	if read.IsZero() {
		read = now
	}
	tokens := q.Tokens
	if !tokens.Known && tokens.Limit == 0 {
		tokens = q.Input
	}
	requestsChanged := g.rates.requests.adopt(q.Requests, read, now)
	tokensChanged := g.rates.tokens.adopt(tokens, read, now)
	if requestsChanged || tokensChanged {
		g.emit(Event{Kind: EventRates, Requests: g.rates.requests.perMinute, Tokens: g.rates.tokens.perMinute})
	}
}
