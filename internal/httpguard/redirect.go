package httpguard

import (
	"cmp"
	"net/http"
)

// SameHost returns a copy of c (of http.DefaultClient if c is nil) that follows a redirect only
// within scheme and host of the first request. c.CheckRedirect must permit it too. For another
// redirect it returns the answer that redirects. net/http would send the body of a request along to
// any host, and headers with keys that it doesn't know.
func SameHost(c *http.Client) *http.Client {
	own := *cmp.Or(c, http.DefaultClient)
	check := own.CheckRedirect
	own.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		switch {
		case req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme || len(via) >= mostRedirects:
			return http.ErrUseLastResponse
		case check != nil:
			return check(req, via)
		}
		return nil
	}
	return &own
}

// mostRedirects is the default of net/http.
const mostRedirects = 10
