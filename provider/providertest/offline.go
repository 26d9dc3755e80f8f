package providertest

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Offline returns a transport that refuses every request that isn't for this machine, with an error
// of class [fault.Permanent] that names the host. Requests to loopback addresses and to localhost
// go on to what [http.DefaultTransport] is now, so that a test can use [net/http/httptest].
func Offline() http.RoundTripper { return offline{next: http.DefaultTransport} }

// NoNetwork makes [Offline] the [http.DefaultTransport] until the test ends, so that a real call by
// mistake is an error and not a bill. It doesn't reach clients with a transport of their own; give
// those Offline. The switch is for the whole process: like [testing.T.Setenv], NoNetwork can't be
// used in parallel tests, and panics there as Setenv does.
func NoNetwork(t testing.TB) {
	t.Helper()
	t.Setenv("PAWL_NO_NETWORK", "1") // keeps parallel tests out
	before := http.DefaultTransport
	http.DefaultTransport = Offline()
	t.Cleanup(func() { http.DefaultTransport = before })
}

type offline struct{ next http.RoundTripper }

// RoundTrip refuses req or passes it on.
func (o offline) RoundTrip(req *http.Request) (*http.Response, error) {
	host := ""
	if req.URL != nil {
		host = req.URL.Hostname()
	}
	ip := net.ParseIP(host)
	if ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost") {
		return o.next.RoundTrip(req)
	}
	if req.Body != nil {
		req.Body.Close()
	}
	return nil,
		fault.Errorf(fault.Permanent,
			"providertest: a test tried to call %q over the network; use a scripted model, a recording or a server "+
				"on loopback", host)
}

// CloseIdleConnections passes the wish on.
func (o offline) CloseIdleConnections() {
	if c, ok := o.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
