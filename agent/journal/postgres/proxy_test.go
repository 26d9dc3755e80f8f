package postgres_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// A proxy stands between a store and the server. Once armed with a part of a statement, it lets the
// next message that holds it through, waits for the server's answer, and cuts the connection
// instead of passing that on.
type proxy struct {
	listener net.Listener
	network  string
	address  string
	all      sync.WaitGroup
	passing  sync.RWMutex // held for writing while nothing passes: the server is away

	mu    sync.Mutex
	armed []byte
	cut   int
}

func newProxy(t *testing.T, dsn string) *proxy {
	t.Helper()
	cfg, err := pgconn.ParseConfig(dsn)
	require.NoError(t, err)
	p := &proxy{}
	p.network, p.address = pgconn.NetworkAddress(cfg.Host, cfg.Port)
	p.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p.all.Go(p.accept)
	t.Cleanup(func() {
		p.listener.Close()
		p.all.Wait()
	})
	return p
}

// through returns dsn by way of the proxy.
func (p *proxy) through(dsn string) string {
	return fmt.Sprintf("%s host=127.0.0.1 port=%s", dsn, strconv.Itoa(p.listener.Addr().(*net.TCPAddr).Port))
}

func (p *proxy) arm(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = []byte(part)
}

func (p *proxy) cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut
}

// block lets nothing pass until release is called.
func (p *proxy) block() (release func()) {
	p.passing.Lock()
	return sync.OnceFunc(p.passing.Unlock)
}

// pass waits until something may pass.
func (p *proxy) pass() {
	p.passing.RLock()
	defer p.passing.RUnlock()
}

// fires reports whether this is the message that the proxy is armed for, and disarms it.
func (p *proxy) fires(message []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.armed == nil || !bytes.Contains(message, p.armed) {
		return false
	}
	p.armed = nil
	p.cut++
	return true
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.address)
		if err != nil {
			client.Close()
			continue
		}
		p.all.Go(func() { p.carry(client, server) })
	}
}

func (p *proxy) carry(client, server net.Conn) {
	var mute sync.Mutex // held while the server's answer isn't passed on
	silent := false
	var back sync.WaitGroup
	back.Go(func() {
		defer client.Close()
		buf := make([]byte, 1<<16)
		for {
			n, err := server.Read(buf)
			if err != nil {
				return
			}
			mute.Lock()
			cut := silent
			mute.Unlock()
			if cut {
				return
			}
			p.pass()
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	buf := make([]byte, 1<<16)
	for {
		n, err := client.Read(buf)
		if err != nil {
			break
		}
		if p.fires(buf[:n]) {
			mute.Lock()
			silent = true
			mute.Unlock()
		}
		p.pass()
		if _, err := server.Write(buf[:n]); err != nil && err != io.EOF {
			break
		}
	}
	server.Close()
	back.Wait()
}
