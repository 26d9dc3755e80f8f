package request_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/request"
)

// A pipe is a listener with one connection in memory.
type pipe struct{ conns chan net.Conn }

func (p pipe) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipe) Close() error   { return nil }
func (p pipe) Addr() net.Addr { return &net.UnixAddr{} }

// serve sends a request to a handler that reads its body if read says so, and then waits for a
// minute. It returns the answer, how long it took, and what became of the handler.
func serve(t *testing.T, head string, read bool) (status int, took time.Duration, failed error) {
	near, far := net.Pipe()
	p := pipe{make(chan net.Conn, 1)}
	p.conns <- far
	ended := make(chan error, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request.Limit(w, r)
		if read {
			if _, err := request.ReadBody(w, r, 1<<10); err != nil {
				ended <- err
				w.WriteHeader(http.StatusRequestTimeout)
				return
			}
			time.Sleep(time.Minute)
		}
		ended <- r.Context().Err()
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(p)
	}()
	begun := time.Now()
	go func() { _, _ = io.Copy(near, strings.NewReader(head)) }()
	res, err := http.ReadResponse(bufio.NewReader(near), nil)
	require.NoError(t, err)
	took = time.Since(begun)
	require.NoError(t, res.Body.Close())
	require.NoError(t, near.Close())
	close(p.conns)
	<-served
	require.NoError(t, server.Close())
	time.Sleep(time.Second) // the server closes a connection half a second after such an answer
	return res.StatusCode, took, <-ended
}

func TestABodyThatNeverComesIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const half = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
		status, took, err := serve(t, half, true)
		require.ErrorIs(t, err, request.ErrSlow)
		require.Equal(t, http.StatusRequestTimeout, status)
		require.Equal(t, 30*time.Second, took)
		_, took, err = serve(t, half, false) // the server reads what is left of it before it answers
		require.NoError(t, err)
		require.Equal(t, 30*time.Second, took)
	})
}

func TestARequestWhoseBodyHasComeMayTakeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status, took, err := serve(t, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", true)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, time.Minute, took)
	})
}

func TestABodyThatIsTooLargeIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, err := serve(t, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000\r\n\r\n"+strings.Repeat("x", 2000), true)
		var large *http.MaxBytesError
		require.True(t, errors.As(err, &large), "%v", err)
	})
}
