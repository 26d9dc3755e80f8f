package adapter

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// waitInText sets the Wait of an error that may be tried again from its message, unless it has one:
// "Please try again in 7.66s", "retry after 6 seconds", "in 1m30s". Errors inside a stream have no
// headers, and some servers send none.
func waitInText(e *provider.Error) {
	if e.Wait != nil || !fault.Retryable(e.Fault()) {
		return
	}
	m := waitText.FindStringSubmatch(e.Message)
	if m == nil {
		return
	}
	var wait time.Duration
	for _, one := range waitFigure.FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(one[1], 64)
		if err != nil || n > 1e9 {
			return
		}
		wait += time.Duration(n * float64(waitUnits[strings.ToLower(one[2])[:min(2, len(one[2]))]]))
	}
	if wait > 0 && wait <= mostWait {
		e.Wait = &wait
	}
}

// mostWait is the longest wait that is believed, of a text or a reset.
const mostWait = 365 * 24 * time.Hour

const figureAndUnit = `\d+(?:\.\d+)?\s?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h)\s?`

var (
	waitText   = regexp.MustCompile(`(?i)\b(?:try again|retry|(?:please|must|to) wait)\b[^.\n\d]{0,24}((?:` + figureAndUnit + `)+)(?:[^a-z]|$)`)
	waitFigure = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)\s?([a-z]+)`)
	// by the first letters of the unit
	waitUnits = map[string]time.Duration{"ms": time.Millisecond, "mi": time.Minute, "m": time.Minute,
		"s": time.Second, "se": time.Second, "h": time.Hour, "ho": time.Hour, "hr": time.Hour}
)

// resetWait returns how long to wait until the time in X-RateLimit-Reset, in seconds or
// milliseconds since 1970, as OpenRouter and others send it. Smaller figures mean different things
// with different servers.
func resetWait(h http.Header, now time.Time) (time.Duration, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(h.Get("X-Ratelimit-Reset")), 10, 64)
	if err != nil || n < 1e9 {
		return 0, false
	}
	at := time.Unix(n, 0)
	if n >= 1e12 {
		at = time.UnixMilli(n)
	}
	wait := at.Sub(now)
	return wait, wait > 0 && wait <= mostWait
}
