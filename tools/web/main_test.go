package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a DNS server on loopback. Each query of a name for addresses takes its next answer; the
// last one is repeated.
type names struct {
	mu      sync.Mutex
	answers map[string][][]string
	asked   map[string]int
}

// resolver starts the server and returns a Resolver that asks it alone.
func resolver(t *testing.T, answers map[string][][]string) *net.Resolver {
	t.Helper()
	n := &names{answers: answers, asked: make(map[string]int)}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.serve(conn)
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (n *names) serve(conn net.PacketConn) {
	buf := make([]byte, 1<<12)
	for {
		size, from, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		n.answer(&m)
		if out, err := m.Pack(); err == nil {
			_, _ = conn.WriteTo(out, from)
		}
	}
}

// answer fills in the addresses of the question. Only questions for A count: a lookup asks for A
// and AAAA.
func (n *names) answer(m *dnsmessage.Message) {
	q := m.Questions[0]
	name := strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")
	n.mu.Lock()
	list, known := n.answers[name]
	i := min(n.asked[name], len(list)-1)
	if q.Type == dnsmessage.TypeA {
		n.asked[name]++
	}
	n.mu.Unlock()
	if !known {
		m.RCode = dnsmessage.RCodeNameError
		return
	}
	for _, text := range list[i] {
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
		addr := netip.MustParseAddr(text)
		switch {
		case addr.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: addr.As4()}})
		case addr.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers,
				dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
}

// site starts a server on loopback. It returns a Fetcher that may read it, and its address,
// http://site.test with the port.
func site(t *testing.T, h http.HandlerFunc) (f *web.Fetcher, base string) {
	t.Helper()
	cfg, base := siteConfig(t, h)
	return fetcher(t, cfg), base
}

func siteConfig(t *testing.T, h http.HandlerFunc) (cfg web.FetchConfig, base string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	addr := netip.MustParseAddrPort(srv.Listener.Addr().String())
	base = fmt.Sprintf("http://site.test:%d", addr.Port())
	return web.FetchConfig{
		Hosts: []string{strings.TrimPrefix(base, "http://")}, Private: []netip.Addr{addr.Addr()},
		Resolver: resolver(t, map[string][][]string{"site.test": {{addr.Addr().String()}}}),
	}, base
}

func fetcher(t *testing.T, cfg web.FetchConfig) *web.Fetcher {
	t.Helper()
	f, err := web.NewFetcher(cfg)
	require.NoError(t, err)
	return f
}

// call runs a tool once.
func call(t *testing.T, tool tools.Tool, input any) tools.Outcome {
	t.Helper()
	reg, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	raw, err := json.Marshal(input)
	require.NoError(t, err)
	return reg.Run(t.Context(), tools.Call{Name: reg.Names()[0], Input: raw}, tools.Options{})
}
