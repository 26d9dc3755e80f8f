package mcp

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

// newBreaker returns the breaker of a server. It opens after 5 failures in a row: statuses of 500
// and above, connections that are refused, pings without an answer.
func newBreaker(server string) *circuit.Breaker {
	return circuit.New("mcp:"+server, circuit.Config{Consecutive: 5, Rate: -1, Cooldown: 10 * time.Second,
		ClosesAfter: 1, ProbeTimeout: 90 * time.Second})
}

// ofServer returns what the error of a request says about the server: nil, that it answers; an
// error of class none, nothing.
func ofServer(err error) error {
	var (
		no     *refusal
		answer *jsonrpc.Error
		dial   *net.OpError
		header *headerError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &no):
		if no.http.Status < 500 {
			return nil
		}
		return fault.Wrap(fault.Degraded, err)
	case errors.As(err, &header): // of the host, or of another server
	case errors.As(err, &dial) && dial.Op == "dial":
		return fault.Wrap(fault.Transient, err)
	case errors.As(err, &answer) && answer.Code != codeRejected:
		return nil
	}
	return fault.Wrap(fault.None, err)
}

// count tells the breaker of a failure that no call had.
func (s *Server) count(failure error) {
	if permit, open := s.breaker.Allow(); open == nil {
		permit.Done(failure)
	}
}

// ping asks, in the background, whether the server still answers on a session on which a call took
// too long. If it doesn't, the session is closed.
func (c *conn) ping(s *session) {
	s.mu.Lock()
	pinged := s.pinged
	s.pinged = true
	s.mu.Unlock()
	if pinged {
		return
	}
	c.server.inBackground(func() {
		ctx, stop := c.server.whileOpen(context.Background())
		defer stop()
		ctx, cancel := context.WithTimeout(ctx, c.server.cfg.Connect)
		defer cancel()
		_ = s.Ping(ctx, nil) // an error is an answer, too
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c.server.count(fault.New(fault.Transient, "mcp: the server doesn't answer"))
			c.drop(s)
		}
		s.mu.Lock()
		s.pinged = false
		s.mu.Unlock()
	})
}
