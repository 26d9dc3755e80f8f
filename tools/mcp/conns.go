package mcp

import (
	"slices"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// What nobody uses is forgotten: with each user's credential, a connection and a list of tools
// would stay for good.
const (
	mostConns  = 1000             // more are kept only while they are used
	forgotten  = 10 * time.Minute // after the last use
	sweepEvery = time.Minute
)

// conns are the connections of a server. It is guarded by the server's mu.
type conns struct {
	byCredential map[string]*conn
	// those of SignIn, which have the tokens: they stay until the server is closed
	handlers map[string]auth.OAuthHandler
	swept    time.Time
}

// use returns the connection with a credential. It isn't forgotten until done is called.
func (s *Server) use(credential string) (c *conn, done func(), err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, nil, ErrClosed
	}
	var over []*conn
	c = s.conns.byCredential[credential]
	if c == nil {
		over = s.conns.sweep()
		c = &conn{server: s, credential: credential, connecting: semaphore.NewWeighted(1),
			listing: semaphore.NewWeighted(1)}
		s.conns.byCredential[credential] = c
	}
	c.users++
	s.mu.Unlock()
	for _, old := range over {
		s.inBackground(old.close)
	}
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.users--
		c.used = time.Now()
	}, nil
}

// sweep makes room for another connection, and returns those that are forgotten: what nobody has
// used for a while, and a tenth of the rest if there are too many.
func (cs *conns) sweep() (over []*conn) {
	now := time.Now()
	full := len(cs.byCredential) >= mostConns
	if !full && now.Sub(cs.swept) < sweepEvery {
		return nil
	}
	cs.swept = now
	var idle []*conn
	for _, c := range cs.byCredential {
		if c.users == 0 && !c.signingIn() {
			idle = append(idle, c)
		}
	}
	slices.SortFunc(idle, func(a, b *conn) int { return a.used.Compare(b.used) })
	for i, c := range idle {
		if now.Sub(c.used) >= forgotten || full && i < mostConns/10 {
			delete(cs.byCredential, c.credential)
			over = append(over, c)
		}
	}
	return over
}
