package provider

import (
	"net/http"
	"strings"
)

// RateLimits returns those headers of an answer that say what else a caller may ask for, nil if there are none. Adapters
// put them into the Extra of their Start, and a guard gives them to its gate (ratelimit.ParseQuota). They aren't part of
// an [Error], whose Wait says what has to be known of a refusal.
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
