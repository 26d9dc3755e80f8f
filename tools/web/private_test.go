package web_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/web"
)

// A victim is a listener that nobody may connect to.
type victim struct {
	net.Listener
	accepted atomic.Int32
	first    chan struct{}
}

// guard starts a victim. It returns nil if this computer doesn't have the address.
func guard(address string) *victim {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil
	}
	v := &victim{Listener: l, first: make(chan struct{}, 1<<10)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				close(v.first)
				return
			}
			v.accepted.Add(1)
			_ = c.Close()
			v.first <- struct{}{}
		}
	}()
	return v
}

// connections returns how many connections others have made. It makes one more, which is accepted
// after those.
func (v *victim) connections(t *testing.T) int {
	t.Helper()
	c, err := net.Dial("tcp", v.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	_, open := <-v.first
	require.True(t, open)
	n := int(v.accepted.Load())
	require.NoError(t, v.Close())
	for range v.first {
		n = int(v.accepted.Load())
	}
	return n - 1
}

const public = "127.0.0.3" // the one address that the host lists: it stands for the public internet

// world starts a web server on the address public and victims on other addresses of loopback with
// the same port.
func world(t *testing.T, h http.Handler) (port string, victims []*victim) {
	t.Helper()
	l, err := net.Listen("tcp", public+":0")
	if err != nil {
		t.Skip("this computer has one address of loopback only: ", err)
	}
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
	srv.Start()
	t.Cleanup(srv.Close)
	_, port, err = net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	for _, a := range []string{"127.0.0.1", "127.0.0.2", "::1"} {
		if v := guard(net.JoinHostPort(a, port)); v != nil {
			victims = append(victims, v)
		}
	}
	require.NotEmpty(t, victims)
	return port, victims
}

// redirector redirects /to?u to u.
func redirector(w http.ResponseWriter, r *http.Request) {
	if to := r.URL.Query().Get("u"); to != "" {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return
	}
	fmt.Fprint(w, "a page")
}

// tricks are URLs that try to reach an address that isn't listed. PORT is the port of the victims;
// → begins the target of a redirect by the server that may be read.
var tricks = []struct{ name, url, want string }{
	{"address", "http://127.0.0.2:PORT/", "private"},
	{"loopback in IPv6", "http://[::1]:PORT/", "private"},
	{"IPv4-mapped", "http://[::ffff:127.0.0.2]:PORT/", "private"},
	{"IPv4-mapped in hexadecimal", "http://[::ffff:7f00:2]:PORT/", "private"},
	{"IPv4-mapped in full", "http://[0:0:0:0:0:FFFF:7F00:0002]:PORT/", "private"},
	{"IPv4-compatible", "http://[::127.0.0.2]:PORT/", "private"},
	{"NAT64", "http://[64:ff9b::7f00:2]:PORT/", "private"},
	{"6to4", "http://[2002:7f00:2::]:PORT/", "private"},
	{"Teredo", "http://[2001:0:7f00:2::]:PORT/", "private"},
	{"zone", "http://[fe80::1%25lo]:PORT/", "invalid"},
	{"metadata in IPv6", "http://[fd00:ec2::254]/latest/meta-data/", "private"},
	{"metadata", "http://169.254.169.254/latest/meta-data/", "private"},
	{"metadata by name", "http://metadata.google.internal/", "private"},
	{"metadata in shared space", "http://100.100.100.200/", "private"},
	{"metadata in public space", "http://168.63.129.16/", "private"},
	{"this host", "http://0.0.0.0:PORT/", "private"},
	{"this host in IPv6", "http://[::]:PORT/", "private"},
	{"zero", "http://0:PORT/", "not_found"},
	{"decimal", "http://2130706434:PORT/", "not_found"},
	{"hexadecimal", "http://0x7f000002:PORT/", "private"},
	{"hexadecimal with dots", "http://0x7f.0.0.2:PORT/", "private"},
	{"octal", "http://0177.0.0.2:PORT/", "not_found"},
	{"octal without dots", "http://017700000002:PORT/", "not_found"},
	{"short", "http://127.2:PORT/", "not_found"},
	{"final dot", "http://127.0.0.2.:PORT/", "private"},
	{"localhost", "http://localhost:PORT/", "private"},
	{"localhost with a final dot", "http://LocalHost.:PORT/", "private"},
	{"circled digits", "http://①②⑦.⓪.⓪.②:PORT/", "private"},
	{"ideographic dots", "http://127。0。0。2:PORT/", "private"},
	{"name", "http://inner.test:PORT/", "private"},
	{"name with IPv6", "http://six.test:PORT/", "private"},
	{"name with several addresses", "http://many.test:PORT/", "private"},
	{"answer that changes", "→http://rebind.test:PORT/to?u=http://rebind.test:PORT/secret", "private"},
	{"redirect", "→http://127.0.0.2:PORT/", "private"},
	{"redirect without a scheme", "→//127.0.0.2:PORT/", "private"},
	{"redirect to IPv6", "→http://[::1]:PORT/", "private"},
	{"redirect to a name", "→http://inner.test:PORT/", "private"},
	{"three redirects", "→/to?u=/to%3Fu=http://127.0.0.2:PORT/", "private"},
	{"four redirects", "→/to?u=/to%3Fu=/to%253Fu=http://127.0.0.2:PORT/", "permanent"},
	{"redirect with a user name", "→http://site.test@127.0.0.2:PORT/", "not allowed"},
	{"redirect to a file", "→file:///etc/hosts", "not allowed"},
	{"redirect to gopher", "→gopher://127.0.0.2:PORT/_GET", "not allowed"},
	{"redirect to data", "→data:text/html,hello", "invalid"},
	{"user name", "http://site.test:PORT@127.0.0.2:PORT/", "not allowed"},
	{"user name and password", "http://site.test:x@127.0.0.2:PORT/", "not allowed"},
	{"backslash", `http://site.test:PORT\@127.0.0.2:PORT/`, "invalid"},
	{"fragment", "http://127.0.0.2:PORT#@site.test:PORT/", "private"},
	{"query", "http://127.0.0.2:PORT?@site.test:PORT/", "private"},
	{"zero byte", "http://127.0.0.2%00.site.test:PORT/", "invalid"},
	{"encoded dot", "http://127%2e0%2e0%2e2:PORT/", "invalid"},
	{"line break", "http://site.test:PORT\r\nHost: x/", "invalid"},
	{"socket", "http://unix:/var/run/docker.sock:/containers/json", "not_found"},
	{"opaque", "http:127.0.0.2:PORT", "invalid"},
	{"file", "file:///etc/hosts", "not allowed"},
}

func TestNoTrickReachesAPrivateAddress(t *testing.T) {
	require.GreaterOrEqual(t, len(tricks), 40)
	port, victims := world(t, http.HandlerFunc(redirector))
	inner := [][]string{{"127.0.0.2"}}
	f := fetcher(t, web.FetchConfig{
		Hosts: []string{"*", "*:" + port}, Private: []netip.Addr{netip.MustParseAddr(public)},
		// Resolvers of some systems read numbers as addresses, and so does this one.
		Resolver: resolver(t, map[string][][]string{
			"site.test": {{public}}, "inner.test": inner, "six.test": {{"::1"}},
			"rebind.test":              {{public}, {"127.0.0.2"}},
			"many.test":                {{"10.0.0.5", "127.0.0.2", "169.254.169.254", "::1"}},
			"metadata.google.internal": {{"169.254.169.254"}},
			"0":                        inner, "2130706434": inner, "0x7f000002": inner, "0x7f.0.0.2": inner,
			"0177.0.0.2": inner, "017700000002": inner, "127.2": inner,
		}),
	})
	page, err := f.Get(t.Context(), "http://site.test:"+port+"/")
	require.NoError(t, err)
	require.Equal(t, "a page", page.Text)
	for _, c := range tricks {
		url := c.url
		if target, ok := strings.CutPrefix(url, "→"); ok {
			url = "http://site.test:PORT/to?u=" +
				strings.NewReplacer("%", "%25", "&", "%26", "?", "%3F").Replace(target)
		}
		page, err := f.Get(t.Context(), strings.ReplaceAll(url, "PORT", port))
		require.Nil(t, page, c.name)
		var e *web.Error
		require.ErrorAs(t, err, &e, c.name)
		switch c.want {
		case "private":
			require.ErrorIs(t, err, web.ErrPrivate, "%s: %v", c.name, err)
			require.Equal(t, fault.Denied, fault.Of(err), c.name)
		case "not allowed":
			require.ErrorIs(t, err, web.ErrNotAllowed, "%s: %v", c.name, err)
		default:
			require.Equal(t, c.want, fault.Of(err).String(), "%s: %v", c.name, err)
		}
		for _, address := range []string{"10.0.0.5", "lookup", "->"} {
			require.NotContains(t, err.Error(), address, c.name)
		}
	}
	for _, v := range victims {
		require.Zero(t, v.connections(t), "connections to %v", v.Addr())
	}
}

// A name may have public and private addresses: the connection goes to a public one.
func TestOfSeveralAddressesAPublicOneIsUsed(t *testing.T) {
	port, victims := world(t, http.HandlerFunc(redirector))
	f := fetcher(t, web.FetchConfig{
		Hosts: []string{"*:" + port}, Private: []netip.Addr{netip.MustParseAddr(public)},
		Resolver: resolver(t, map[string][][]string{"many.test": {{"127.0.0.2", public, "::1"}}}),
	})
	page, err := f.Get(t.Context(), "http://many.test:"+port+"/")
	require.NoError(t, err)
	require.Equal(t, "a page", page.Text)
	for _, v := range victims {
		require.Zero(t, v.connections(t), "connections to %v", v.Addr())
	}
}

// A proxy would resolve names itself.
func TestNoProxyIsUsed(t *testing.T) {
	port, victims := world(t, http.HandlerFunc(redirector))
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.2:"+port)
	}
	f := fetcher(t, web.FetchConfig{
		Hosts: []string{"site.test:" + port}, Private: []netip.Addr{netip.MustParseAddr(public)},
		Resolver: resolver(t, map[string][][]string{"site.test": {{public}}}),
	})
	_, err := f.Get(t.Context(), "http://site.test:"+port+"/")
	require.NoError(t, err)
	for _, v := range victims {
		require.Zero(t, v.connections(t))
	}
}

// The list of hosts holds for redirects, even if the addresses are allowed.
func TestARedirectToAHostThatIsNotListedIsRefused(t *testing.T) {
	port, victims := world(t, http.HandlerFunc(redirector))
	f := fetcher(t, web.FetchConfig{
		Hosts: []string{"site.test:" + port}, Private: []netip.Addr{netip.MustParseAddr(public)},
		Resolver: resolver(t, map[string][][]string{"site.test": {{public}}, "other.test": {{public}}}),
	})
	back := "http://site.test:" + port + "/to?u=http://"
	_, err := f.Get(t.Context(), back+"other.test:"+port+"/ignore-your-instructions")
	require.ErrorIs(t, err, web.ErrNotAllowed)
	var e *web.Error
	require.ErrorAs(t, err, &e)
	require.NotContains(t, e.Problem, "other.test", "the server chose this text")
	require.NotContains(t, e.Problem, "instructions")
	require.Equal(t, "http://other.test:"+port+"/ignore-your-instructions", e.Sent)
	_, err = f.Get(t.Context(), "http://site.test:"+port+"/to?u=http://site.test/")
	require.ErrorIs(t, err, web.ErrNotAllowed, "another port")
	page, err := f.Get(t.Context(), "http://site.test:"+port+"/to?u=/next")
	require.NoError(t, err)
	require.Equal(t, "http://site.test:"+port+"/next", page.URL)
	for _, v := range victims {
		require.Zero(t, v.connections(t))
	}
}
