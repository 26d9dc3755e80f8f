package web

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/pawlkit/pawl/circuit/fault"
)

// longestURL is how long a URL may be, in bytes.
const longestURL = 8 << 10

// A hostRule is an entry of FetchConfig.Hosts.
type hostRule struct {
	name string // "*" for all
	sub  bool   // the subdomains of name, and not name
	port string // "": 80 and 443
}

// parseRule reads an entry of FetchConfig.Hosts.
func parseRule(entry string) (hostRule, error) {
	var r hostRule
	r.name = entry
	if host, port, err := net.SplitHostPort(entry); err == nil {
		r.name, r.port = host, port
	}
	r.name, r.sub = strings.CutPrefix(r.name, "*.")
	name, ok := asciiHost(r.name)
	if r.name == "*" && !r.sub {
		name, ok = "*", true
	}
	if n, err := strconv.ParseUint(r.port, 10, 16); r.port != "" && (err != nil || n == 0) || !ok {
		return r,
			fmt.Errorf(
				"web: Hosts has %q; give a host (example.com), its subdomains (*.example.com) or all hosts (*), with "+
					":port if it is neither 80 nor 443", entry)
	}
	r.name = name
	return r, nil
}

func (r hostRule) allows(host, port string) bool {
	switch {
	case r.port != port && (r.port != "" || port != "80" && port != "443"):
		return false
	case r.sub:
		return strings.HasSuffix(host, "."+r.name)
	}
	return r.name == "*" || r.name == host
}

// asciiHost returns a host as it is compared and dialed: a name in lower case, in ASCII and without
// the final dot, or an address in its canonical form.
func asciiHost(host string) (string, bool) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if strings.ContainsFunc(host, func(r rune) bool { return r > '~' }) {
		var err error
		if host, err = idna.Lookup.ToASCII(host); err != nil {
			return "", false
		}
	}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.String(), addr.Zone() == ""
	}
	odd := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.')
	}
	return host, host != "" && len(host) <= 253 && !strings.ContainsFunc(host, odd)
}

// check parses a URL, which may be relative to base, and returns it if it may be fetched.
func (f *Fetcher) check(base *url.URL, raw string) (*url.URL, error) {
	if len(raw) > longestURL {
		return nil, newError(raw, fault.Invalid, nil, "it is longer than %d bytes", longestURL)
	}
	u, err := base.Parse(raw)
	if err != nil || u.Opaque != "" || u.Hostname() == "" &&
		(u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "") {
		return nil, newError(raw, fault.Invalid, nil, "it is no URL; give one such as https://example.com/page")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, newError(raw, fault.Denied, ErrNotAllowed, "only http and https are allowed")
	}
	if u.User != nil {
		return nil, newError(raw, fault.Denied, ErrNotAllowed,
			"it contains a user name; leave out everything before and including the @")
	}
	host, ok := asciiHost(u.Hostname())
	if !ok {
		return nil, newError(raw, fault.Invalid, nil, "its host is no host name or address")
	}
	port := u.Port()
	if u.Host = host; strings.Contains(host, ":") {
		u.Host = "[" + host + "]"
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	} else {
		u.Host += ":" + port
	}
	for _, r := range f.hosts {
		if r.allows(host, port) {
			return u, nil
		}
	}
	return nil, newError(raw, fault.Denied, ErrNotAllowed, "its host, or its port, isn't allowed; allowed: %s", f.allowed)
}
