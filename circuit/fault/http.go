package fault

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// FromStatus returns the class of an HTTP status:
//
//	none          100 to 399
//	transient     408, 425
//	rate_limited  429
//	user_fixable  401, 402, 403
//	degraded      500 to 599, but for 501 and 505
//	permanent     everything else, also what is no status, such as 0
//
// A 404 or 410 is permanent and not [NotFound], because the path may be wrong. A caller that knows
// better uses [Wrap].
func FromStatus(code int) Class {
	switch code {
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return Transient
	case http.StatusTooManyRequests:
		return RateLimited
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return UserFixable
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return Permanent
	}
	switch {
	case code >= 100 && code < 400:
		return None
	case code >= 500 && code < 600:
		return Degraded
	}
	return Permanent
}

// FromHTTP returns nil if the status of res is one of 100 to 399, else an [*HTTPError]. For a nil
// response it returns a [Permanent] error. It neither reads nor closes the body; the caller must
// close it.
func FromHTTP(res *http.Response) error {
	if res == nil {
		return New(Permanent, "fault: nil HTTP response")
	}
	class := FromStatus(res.StatusCode)
	if class == None {
		return nil
	}
	e := &HTTPError{Status: res.StatusCode, Class: class, RequestID: requestID(res.Header)}
	e.Wait, _ = ParseRetryAfter(res.Header, time.Now())
	if req := res.Request; req != nil {
		e.Method = req.Method
		if e.Method == "" {
			e.Method = http.MethodGet // net/http's own default
		}
		e.URL = publicURL(req.URL)
	}
	return e
}

// An HTTPError is an HTTP response with a failure status. It holds no secrets unless the URL's path
// does.
type HTTPError struct {
	Status int    // such as 503
	Class  Class  // what Fault returns; None means that of Status
	Method string // of the request; empty if it isn't known
	// scheme, host and path of the request, after redirects; never user information, query or
	// fragment
	URL       string
	RequestID string        // the server's name for the request, at most 128 bytes; empty if it gave none
	Wait      time.Duration // how long the server asked to wait; 0 or less means that it didn't
}

// Error returns the request, the status, the server's request id and its advice, as far as they are
// known.
func (e *HTTPError) Error() string {
	var b strings.Builder
	b.WriteString("fault: ")
	if e.Method != "" || e.URL != "" {
		b.WriteString(strings.TrimSpace(e.Method + " " + e.URL))
		b.WriteString(": ")
	}
	b.WriteString("status " + strconv.Itoa(e.Status))
	if text := http.StatusText(e.Status); text != "" {
		b.WriteString(" " + text)
	}
	if e.RequestID != "" {
		b.WriteString(", request " + strconv.Quote(e.RequestID))
	}
	if e.Wait > 0 {
		b.WriteString(", retry after " + e.Wait.String())
	}
	return b.String()
}

// Fault returns the class: e.Class, or that of the status if e.Class is [None].
func (e *HTTPError) Fault() Class {
	if e.Class == None {
		return FromStatus(e.Status)
	}
	return e.Class
}

// RetryAfter returns e.Wait and whether it is more than 0.
func (e *HTTPError) RetryAfter() (time.Duration, bool) {
	if e.Wait <= 0 {
		return 0, false
	}
	return e.Wait, true
}

// requestIDs are the headers in which common services return a request's id.
var requestIDs = [...]string{"Request-Id", "X-Request-Id", "X-Amzn-Requestid", "Apim-Request-Id", "X-Ms-Request-Id"}

func requestID(h http.Header) string {
	const longest = 128
	for _, name := range requestIDs {
		if id := h.Get(name); id != "" {
			return id[:min(len(id), longest)]
		}
	}
	return ""
}

// publicURL drops the parts that may hold a secret. For an opaque URL it can't tell which parts
// these are.
func publicURL(u *url.URL) string {
	if u == nil {
		return ""
	}
	public := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return public.String()
}
