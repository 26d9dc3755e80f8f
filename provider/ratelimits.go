package provider

import (
	"net/http"
	"strings"
)

// RateLimits returns the headers of an answer that state rate limits, nil if there are none.
// Adapters put them into the Extra of their Start, and a guard passes them to its gate
// (ratelimit.ParseQuota). They aren't part of an [Error]; its Wait says how long to wait after a
// rejection.
func RateLimits(h http.Header) http.Header {
	var out http.Header
	for name, values := range h {
		if strings.Contains(name, "Ratelimit") { // X-Ratelimit-Limit-Requests, Anthropic-Ratelimit-Tokens-Reset
			if out == nil {
				out = make(http.Header)
			}
			out[name] = values
		}
	}
	return out
}
