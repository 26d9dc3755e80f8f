package fault_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

// serve starts a server on loopback, made ready by start, and returns its address and a client that
// trusts it.
func serve(t *testing.T, start func(*httptest.Server), h http.HandlerFunc) (string, *http.Client) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(s)
	t.Cleanup(s.Close)
	return s.URL, s.Client()
}

// get returns the error of a request or of reading its answer.
func get(ctx context.Context, c *http.Client, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

func untilCallerLeaves(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// reset closes the connection under h with a TCP reset.
func reset(t *testing.T, w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	if err := conn.(*net.TCPConn).SetLinger(0); err != nil {
		t.Error(err)
	}
	conn.Close()
}

func TestAConnectionThatIsRefusedIsDegraded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())

	err = get(t.Context(), new(http.Client), "http://"+l.Addr().String())

	require.Error(t, err)
	require.Equal(t, fault.Degraded, fault.Of(err), err)
}

func TestAConnectionThatIsResetIsTransient(t *testing.T) {
	t.Run("before the answer", func(t *testing.T) {
		url, client := serve(t, (*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) { reset(t, w) })
		err := get(t.Context(), client, url)
		require.Error(t, err)
		require.Equal(t, fault.Transient, fault.Of(err), err)
	})
	t.Run("within the answer", func(t *testing.T) {
		url, client := serve(t, (*httptest.Server).Start, func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte("half an ans"))
			http.NewResponseController(w).Flush()
			reset(t, w)
		})
		err := get(t.Context(), client, url)
		require.Error(t, err)
		require.Equal(t, fault.Transient, fault.Of(err), err)
	})
}

func TestAnAnswerThatIsCutIsTransient(t *testing.T) {
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("half an ans"))
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	t.Run("HTTP/1", func(t *testing.T) {
		url, client := serve(t, (*httptest.Server).Start, cut)
		err := get(t.Context(), client, url)
		require.Error(t, err)
		require.Equal(t, fault.Transient, fault.Of(err), err)
	})
	t.Run("HTTP/2", func(t *testing.T) {
		url, client := serve(t, func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() }, cut)
		err := get(t.Context(), client, url)
		require.ErrorContains(t, err, "stream error")
		require.Equal(t, fault.Transient, fault.Of(err), err)
	})
}

func TestAnUnknownAuthorityIsUserFixable(t *testing.T) {
	url, _ := serve(t, (*httptest.Server).StartTLS, untilCallerLeaves)

	err := get(t.Context(), new(http.Client), url)

	require.Error(t, err)
	require.Equal(t, fault.UserFixable, fault.Of(err), err)
}

func TestACertificateForAnotherHostIsUserFixable(t *testing.T) {
	url, client := serve(t, (*httptest.Server).StartTLS, untilCallerLeaves)
	client.Transport.(*http.Transport).TLSClientConfig.ServerName = "elsewhere.test"

	err := get(t.Context(), client, url)

	require.Error(t, err)
	require.Equal(t, fault.UserFixable, fault.Of(err), err)
}

func TestSomethingElseOnATLSPortIsUserFixable(t *testing.T) {
	t.Run("HTTP", func(t *testing.T) {
		url, client := serve(t, (*httptest.Server).Start, untilCallerLeaves)
		err := get(t.Context(), client, "https"+url[len("http"):])
		require.Error(t, err)
		require.Equal(t, fault.UserFixable, fault.Of(err), err)
	})
	t.Run("no HTTP", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		served := make(chan error, 1)
		go func() {
			conn, err := l.Accept()
			if err == nil {
				conn.Write([]byte("220 mail.test ESMTP\r\n"))
				io.Copy(io.Discard, conn)
				err = conn.Close()
			}
			served <- err
		}()
		err = get(t.Context(), new(http.Client), "https://"+l.Addr().String())
		require.Error(t, err)
		require.Equal(t, fault.UserFixable, fault.Of(err), err)
		require.NoError(t, l.Close())
		require.NoError(t, <-served)
	})
}

func TestAServerThatIsTooSlowIsTransientWhoeverSetTheTime(t *testing.T) {
	const wait = 20 * time.Millisecond
	url, client := serve(t, (*httptest.Server).Start, untilCallerLeaves)
	transport := client.Transport.(*http.Transport)

	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		defer cancel()
		err := get(ctx, client, url)
		require.Error(t, err)
		require.Equal(t, fault.Transient, fault.Of(err), err)
	})
	t.Run("client", func(t *testing.T) {
		err := get(t.Context(), &http.Client{Transport: transport, Timeout: wait}, url)
		require.Error(t, err)
		require.Equal(t, fault.Transient, fault.Of(err), err)
	})
	t.Run("transport", func(t *testing.T) {
		hasty := transport.Clone()
		hasty.ResponseHeaderTimeout = wait
		defer hasty.CloseIdleConnections()
		err := get(t.Context(), &http.Client{Transport: hasty}, url)
		require.Error(t, err)
		require.Equal(t, fault.Transient, fault.Of(err), err)
	})
	t.Run("connection", func(t *testing.T) {
		conn, err := net.Dial("tcp", url[len("http://"):])
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(wait)))
		_, err = conn.Read(make([]byte, 1))
		require.Error(t, err)
		require.Equal(t, fault.Transient, fault.Of(err), err)
	})
}

func TestACanceledRequestIsNoFailure(t *testing.T) {
	arrived := make(chan struct{})
	url, client := serve(t, (*httptest.Server).Start, func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		untilCallerLeaves(w, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { <-arrived; cancel() }()

	err := get(ctx, client, url)

	require.Error(t, err)
	require.Equal(t, fault.None, fault.Of(err), err)
}
