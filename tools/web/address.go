package web

import (
	"context"
	"net/netip"
	"slices"
	"syscall"

	"github.com/pawlkit/pawl/circuit/fault"
)

// special are networks that aren't public although they are within 0.0.0.0/0 or 2000::/3, from
// IANA's registries of special-purpose addresses (RFC 6890). All of IPv6 outside of 2000::/3 isn't
// public either: loopback, unique local, link-local, IPv4-mapped, NAT64.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24",
	"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/3",
	"168.63.129.16/32", // Azure's address for its own virtual machines
	"2001::/23",        // Teredo, ORCHID, benchmarking and others
	"2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

var globalIPv6 = netip.MustParsePrefix("2000::/3")

func prefixes(list ...string) (out []netip.Prefix) {
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

// public reports whether an address belongs to the public internet.
func public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.Is6() && !globalIPv6.Contains(a) { // also IPv4 in IPv6: the caller unmaps it
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// checkAddress is called by the dialer before it connects to an address. An error keeps it from
// sending anything.
func (f *Fetcher) checkAddress(_ context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	addr := ap.Addr().Unmap()
	if err != nil || !public(addr) && !slices.Contains(f.private, addr) {
		return newError("", fault.Denied, ErrPrivate, "the host has a private address, which isn't allowed")
	}
	return nil
}
