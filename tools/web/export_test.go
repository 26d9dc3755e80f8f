package web

import (
	"context"
	"net"
	"net/http"
)

// The limits, for tests.
const (
	FetchTime  = fetchTime
	SearchTime = searchTime
	MostBytes  = mostBytes
)

// DialWith makes f connect by dial, for tests with fake time, which real sockets stop.
func (f *Fetcher) DialWith(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	f.client.Transport.(*http.Transport).DialContext = dial
}

// Public is public.
var Public = public

// Markdown is markdown.
var Markdown = markdown
