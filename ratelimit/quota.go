package ratelimit

import (
	"net/http"
	"time"
)

// A Quota is what a provider's headers say of its limits.
type Quota struct {
	Requests Window
	Tokens   Window // input and output together
	Input    Window // input tokens, where they are counted apart
	Output   Window // output tokens, where they are counted apart
}

// A Window is one limit of a [Quota].
type Window struct {
	Known     bool      // the provider said how much is left
	Limit     int64     // in a period, a minute mostly; 0 if unknown
	Remaining int64     // never negative
	Reset     time.Time // when all of Limit is there again; zero if unknown
}

// ParseQuota reads the headers of a response and reports whether they had anything to say.
func ParseQuota(h http.Header, now time.Time) (Quota, bool) { return Quota{}, false }
