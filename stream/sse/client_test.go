package sse_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream/sse"
)

// A pipes is a network in memory, so that fake time goes on: a Listener, and a dialer for it.
type pipes struct{ conns chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p.conns); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }

// A connection is what a server saw of a connection, and when.
type connection struct {
	at     time.Duration // since the first
	lastID string
	body   string
}

// serve answers the nth connection with the nth answer, and returns a client and what the server
// has seen. It must be called in a bubble.
func serve(t *testing.T, answers ...http.HandlerFunc) (client *http.Client, seen *[]connection) {
	p := pipes{make(chan net.Conn)}
	seen = new([]connection)
	began := time.Now()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*seen = append(*seen, connection{time.Since(began), sse.LastEventID(r), string(body)})
		answers[min(len(*seen), len(answers))-1](w, r)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(p) }()
	client = &http.Client{
		Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			p.conns <- far
			return near, nil
		}}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		_ = server.Close()
		<-done
	})
	return client, seen
}

// events answers with a stream.
func events(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		sse.SetHeader(w.Header())
		_, _ = io.WriteString(w, text)
	}
}

// status answers with a status, and the headers of pairs.
func status(code int, pairs ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(pairs); i += 2 {
			w.Header().Set(pairs[i], pairs[i+1])
		}
		w.WriteHeader(code)
	}
}

func get(t *testing.T) *http.Request {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://memory/", nil)
	require.NoError(t, err)
	return req
}

// texts returns the data of all events, and the error that ended them.
func texts(c *sse.Client, req *http.Request) (data []string, err error) {
	for ev, err := range c.Events(req) {
		if err != nil {
			return data, err
		}
		data = append(data, string(ev.Data))
	}
	return data, nil
}

// between requires that d is at least least, and a quarter above it at most.
func between(t *testing.T, least, d time.Duration) {
	t.Helper()
	require.GreaterOrEqual(t, d, least)
	require.LessOrEqual(t, d, least+least/4)
}

func TestAClientGoesOnAfterTheLastWholeEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, seen := serve(t, events("id: 1\ndata: a\n\nid: 2\ndata: cut"), events("data: b\n\nid: 3\n\n"),
			events("id:\ndata: c\n\n"), events("id: \x01\ndata: d\n\n"), status(204))
		req := get(t)
		req.Header.Set("Last-Event-ID", "0")
		data, err := texts(&sse.Client{HTTP: client}, req)
		require.NoError(t, err, "204 ends the sequence")
		require.Equal(t, []string{"a", "b", "c", "d"}, data)
		var ids []string
		for _, c := range *seen {
			ids = append(ids, c.lastID)
		}
		require.Equal(t, []string{"0", "1", "3", "", ""}, ids)
	})
}

func TestAClientWaitsLongerAfterEachConnectionWithoutAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := status(503)
		client, seen := serve(t, down, down, events(": nothing\n\n"), down, down, down, down, events("data: a\n\n"),
			down, status(204))
		var causes []error
		c := &sse.Client{HTTP: client, Waiting: func(err error, _ time.Duration) { causes = append(causes, err) }}
		data, err := texts(c, get(t))
		require.NoError(t, err)
		require.Equal(t, []string{"a"}, data)
		for i, seconds := range []time.Duration{1, 2, 4, 8, 16, 30, 30, 1, 2} {
			between(t, seconds*time.Second, (*seen)[i+1].at-(*seen)[i].at)
		}
		require.Len(t, causes, 9)
		require.Equal(t, fault.Degraded, fault.Of(causes[0]))
		require.ErrorIs(t, causes[7], io.EOF)
	})
}

func TestAClientWaitsAsLongAsTheServerAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, seen := serve(t, events("retry: 5000\n\n"), events("retry: 100\ndata: a\n\n"),
			status(429, "Retry-After", "90"), status(408), events("retry: 60000\n\n"), events(""), status(204))
		_, err := texts(&sse.Client{HTTP: client}, get(t))
		require.NoError(t, err)
		for i, wait := range []time.Duration{5 * time.Second, 100 * time.Millisecond, 90 * time.Second,
			400 * time.Millisecond, time.Minute, time.Minute} {
			between(t, wait, (*seen)[i+1].at-(*seen)[i].at)
		}
	})
}

func TestAClientDoesNotRepeatWhatWouldFailAgain(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"400": status(400), "401": status(401), "404": status(404), "501": status(501), "206": status(206),
		"304":    status(304),
		"a page": status(200, "Content-Type", "text/html"), "no content type": status(200, "Content-Type", ""),
		"large": events("data: " + strings.Repeat("x", 100) + "\n\n"),
	} {
		synctest.Test(t, func(t *testing.T) {
			client, seen := serve(t, answer)
			data, err := texts(&sse.Client{HTTP: client, Limit: 64}, get(t))
			require.Empty(t, data)
			require.Len(t, *seen, 1, name)
			var code *fault.HTTPError
			var kind *sse.ContentTypeError
			var large *sse.TooLargeError
			switch n, _ := strconv.Atoi(name); {
			case n > 0:
				require.ErrorAs(t, err, &code)
				require.Equal(t, n, code.Status)
				require.Equal(t, fault.Of(err), code.Class)
			case name == "large":
				require.ErrorAs(t, err, &large)
			default:
				require.ErrorAs(t, err, &kind, name)
			}
		})
	}
}

func TestAContextEndsAClient(t *testing.T) {
	enough := errors.New("enough")
	for name, answer := range map[string]http.HandlerFunc{
		"while it waits": status(503),
		"while it reads": func(w http.ResponseWriter, r *http.Request) {
			events("data: a\n\n")(w, r)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, _ := serve(t, answer)
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(100*time.Millisecond, func() { cancel(enough) })
			began := time.Now()
			_, err := texts(&sse.Client{HTTP: client}, get(t).WithContext(ctx))
			require.ErrorIs(t, err, enough, name)
			require.Equal(t, 100*time.Millisecond, time.Since(began), name)
		})
	}
}

func TestAClientSendsItsBodyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, seen := serve(t, events("data: a\n\n"), status(204))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://memory/",
			strings.NewReader("question"))
		require.NoError(t, err)
		_, err = texts(&sse.Client{HTTP: client}, req)
		require.NoError(t, err)
		require.Equal(t, "question", (*seen)[0].body)
		require.Equal(t, "question", (*seen)[1].body)

		req.GetBody = nil
		_, err = texts(&sse.Client{HTTP: client}, req)
		require.ErrorContains(t, err, "GetBody")
		require.Len(t, *seen, 2)
	})
}

func TestAServerThatIsntThereIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		client := &http.Client{
			Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
				tries++
				return nil, errors.New("refused")
			}}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := texts(&sse.Client{HTTP: client}, get(t).WithContext(ctx))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 4, tries, "at 0, 1, 3 and 7 seconds or a little later")
	})
}

// With a real server: leaving the sequence closes the connection.
func TestLeavingTheSequenceEndsTheConnection(t *testing.T) {
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		sse.SetHeader(w.Header())
		out := sse.NewWriter(w, sse.WriterConfig{Connection: http.NewResponseController(w)})
		for n := 1; r.Context().Err() == nil; n++ {
			if out.Write(sse.Event{ID: strconv.Itoa(n), Data: fmt.Append(nil, n)}) != nil {
				return
			}
		}
	}))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	c := sse.Client{HTTP: server.Client()}
	for ev, err := range c.Events(req) {
		require.NoError(t, err)
		if ev.ID == "3" {
			break
		}
	}
	<-gone
}
