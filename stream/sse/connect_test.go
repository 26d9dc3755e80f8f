package sse_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream/sse"
)

// request returns a request without a body.
func request(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	return req
}

// follow returns the events of a connection as texts "id type data", and its error.
func follow(ctx context.Context, client *http.Client, req *http.Request, cfg sse.Config) (seen []string, err error) {
	for ev, err := range sse.Connect(ctx, client, req, cfg) {
		if err != nil {
			return seen, err
		}
		seen = append(seen, strings.TrimSpace(ev.ID+" "+ev.Type+" "+string(ev.Data)))
	}
	return seen, nil
}

var quick = sse.Config{MinWait: time.Microsecond, MaxWait: time.Millisecond}

// The server writes random pieces of the stream and then dies, often in the middle of an event.
func TestAClientMissesAndRepeatsNothing(t *testing.T) {
	const events = 200
	var inside atomic.Int32 // the middle of an event
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := 0
		_, _ = fmt.Sscan(sse.LastEventID(r), &next)
		if next++; next > events {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		var text strings.Builder
		for i := next; i <= events; i++ {
			fmt.Fprintf(&text, "id: %d\ndata: the event\ndata: %d\n\n", i, i)
		}
		sse.SetHeader(w.Header())
		n := rand.IntN(min(text.Len(), 300) + 1)
		_, _ = io.WriteString(w, text.String()[:n])
		_ = http.NewResponseController(w).Flush()
		if !strings.HasSuffix(text.String()[:n], "\n\n") {
			inside.Add(1)
		}
		if n%2 == 0 {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	cfg := quick
	cfg.Attempts = -1
	seen, err := follow(t.Context(), server.Client(), request(t, server.URL), cfg)
	require.NoError(t, err)
	require.Len(t, seen, events)
	for i, text := range seen {
		require.Equal(t, fmt.Sprintf("%d  the event\n%d", i+1, i+1), text)
	}
	require.Positive(t, inside.Load(), "no event was cut off")
}

// A reply answers a request.
type reply = func(*http.Request) (*http.Response, error)

// A script answers requests in memory, one after the other; the last answer stays.
type script struct {
	answers []reply
	begun   time.Time
	at      []time.Duration // of each request, since the first
	ids     []string
	bodies  []string
	header  http.Header // of the last request
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.at == nil {
		s.begun = time.Now()
	}
	s.at = append(s.at, time.Since(s.begun))
	s.ids = append(s.ids, strings.Join(r.Header.Values("Last-Event-ID"), "+"))
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.bodies = append(s.bodies, string(body))
	}
	s.header = r.Header
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return answer(r)
}

// answer returns an answer with pairs of header fields.
func answer(status int, body string, header ...string) reply {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Request: r,
			Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// refuses doesn't answer.
func refuses(*http.Request) (*http.Response, error) {
	return nil, fault.New(fault.Degraded, "connection refused")
}

func TestTheIDOfTheLastWholeEventIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []reply{
			answer(200, "id: 1\ndata: a\n\nid: 2\ndata: cut off"),
			answer(200, "data: goes on\n\nid: 2\ndata: b\n\nid: 3\n\n"),
			answer(200, "id: x\x00\ndata: c\n\nid: 4"),
			answer(200, "id\ndata: d\n\n"),
			answer(204, ""),
		}}
		req := request(t, "http://a.example")
		req.Header.Set("Last-Event-ID", "0")
		seen, err := follow(t.Context(), &http.Client{Transport: s}, req, sse.Config{})
		require.NoError(t, err)
		require.Equal(t, []string{"1  a", "1  goes on", "2  b", "3  c", "d"}, seen)
		require.Equal(t, []string{"0", "1", "3", "3", ""}, s.ids)
		require.Equal(t, "text/event-stream", s.header.Get("Accept"))
		require.Equal(t, "no-store", s.header.Get("Cache-Control"))
		require.Equal(t, "0", req.Header.Get("Last-Event-ID"), "the host's own request was changed")
	})
}

func TestWhichAnswersEndTheSequence(t *testing.T) {
	one := answer(200, "data: a\n\n")
	for name, c := range map[string]struct {
		answer reply
		again  bool
		text   string
	}{
		"204":                 {answer(204, ""), false, ""},
		"200 without a type":  {answer(200, "x", "Content-Type", ""), false, `status 200 and the content type ""`},
		"200 of another type": {answer(200, "x", "Content-Type", "text/html"), false, `content type "text/html"`},
		"201":                 {answer(201, "x"), false, "status 201"},
		"a type in capitals":  {answer(200, "", "Content-Type", "Text/Event-Stream"), true, ""},
		"400":                 {answer(400, ""), false, "400"},
		"401":                 {answer(401, ""), false, "401"},
		"404":                 {answer(404, ""), false, "404"},
		"501":                 {answer(501, ""), false, "501"},
		"408":                 {answer(408, ""), true, ""},
		"429":                 {answer(429, ""), true, ""},
		"500":                 {answer(500, ""), true, ""},
		"503":                 {answer(503, ""), true, ""},
		"no answer":           {refuses, true, ""},
		"no such host": {func(*http.Request) (*http.Response, error) {
			return nil, fault.New(fault.UserFixable, "no such host")
		}, false, "no such host"},
		"a redirect to another host": {answer(307, "", "Location", "http://b.example/", "Content-Type", ""), false,
			"status 307"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: []reply{one, c.answer, one, answer(204, "")}}
				seen, err := follow(t.Context(), &http.Client{Transport: s}, request(t, "http://a.example/?key=secret"),
					sse.Config{})
				if c.text != "" {
					require.ErrorContains(t, err, c.text)
					require.NotContains(t, err.Error(), "secret")
					var h *fault.HTTPError
					var n *sse.NotStreamError
					require.True(t, errors.As(err, &h) || errors.As(err, &n) || fault.Of(err) == fault.UserFixable)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, c.again, len(seen) == 2)
			})
		})
	}
}

func TestTheWaitDoublesUpToItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []reply{refuses}}
		_, err := follow(t.Context(), &http.Client{Transport: s}, request(t, "http://a.example"), sse.Config{})
		require.EqualError(t, err,
			"sse: 10 connections in a row have failed, the last one: sse: connecting: connection refused")
		require.Equal(t, fault.Degraded, fault.Of(err))
		require.Len(t, s.at, 10)
		for i, want := range []int{2, 4, 8, 16, 32, 50, 50, 50, 50} {
			require.InEpsilon(t, time.Duration(want)*time.Second, s.at[i+1]-s.at[i], .2, i)
		}
	})
}

func TestTheServerSaysHowLongToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []reply{
			answer(200, "retry: 7000\ndata: a\n\n"),
			answer(200, "data: b\n\nretry: x\nretry: 0\n\n"),
			answer(200, "retry: 5000\n"),         // fails
			answer(503, "", "Retry-After", "40"), // fails, too
			answer(200, "retry: 9999999999999999999\ndata: c\n\n"),
			answer(200, "data: d\n\nretry: 9999999999\n\n"),
			answer(204, ""),
		}}
		seen, err := follow(t.Context(), &http.Client{Transport: s}, request(t, "http://a.example"), sse.Config{})
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "c", "d"}, seen)
		for i, want := range [][2]float64{{7, 8.4}, {7, 8.4}, {8, 12}, {40, 40}, {5, 6}, {60, 60}} { // from, to
			wait := (s.at[i+1] - s.at[i]).Seconds()
			require.GreaterOrEqual(t, wait, want[0], i)
			require.LessOrEqual(t, wait, want[1], i)
		}
	})
}

func TestNoFiguresOfWaitsOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []reply{answer(200, "retry: 9000000000000\ndata: a\n\n"), answer(204, "")}}
		_, err := follow(t.Context(), &http.Client{Transport: s}, request(t, "http://a.example"),
			sse.Config{MaxWait: math.MaxInt64})
		require.NoError(t, err)
		require.GreaterOrEqual(t, s.at[1]-s.at[0], 2_000_000*time.Hour)
	})
}

// A stream that is quiet for long, but for heartbeats, isn't one that fails.
func TestAConnectionThatLastsHasNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quiet := func(r *http.Request) (*http.Response, error) {
			pr, pw := io.Pipe()
			go func() { time.Sleep(time.Minute); pw.Close() }()
			res, err := answer(200, "")(r)
			res.Body = pr
			return res, err
		}
		s := &script{answers: []reply{quiet, quiet, quiet, answer(204, "")}}
		_, err := follow(t.Context(), &http.Client{Transport: s}, request(t, "http://a.example"),
			sse.Config{Attempts: 1})
		require.NoError(t, err)
		require.Len(t, s.at, 4)
	})
}

func TestTheEndOfTheContextEndsAnyWait(t *testing.T) {
	reached := make(chan bool, 1)
	for name, handler := range map[string]http.HandlerFunc{
		"for the answer": func(_ http.ResponseWriter, r *http.Request) {
			reached <- true
			<-r.Context().Done()
		},
		"for an event": func(w http.ResponseWriter, r *http.Request) {
			sse.SetHeader(w.Header())
			_, _ = io.WriteString(w, "id: 1\nda")
			_ = http.NewResponseController(w).Flush()
			reached <- true
			<-r.Context().Done()
		},
		"for the next connection": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			reached <- true
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("enough")
			go func() { <-reached; cancel(cause) }()
			seen, err := follow(ctx, server.Client(), request(t, server.URL), sse.Config{MinWait: time.Hour})
			require.Equal(t, cause, err)
			require.Empty(t, seen)
		})
	}
}

func TestALineWithoutAnEndEndsTheSequence(t *testing.T) {
	gone := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(gone) // a second request would panic
		sse.SetHeader(w.Header())
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 1000)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	_, err := follow(t.Context(), server.Client(), request(t, server.URL), sse.Config{Limit: 10_000})
	var large *sse.TooLargeError
	require.ErrorAs(t, err, &large)
	require.Equal(t, 10_000, large.Limit)
	<-gone
}

func TestCredentialsStayWithinTheHost(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic("another host was asked")
	}))
	defer other.Close()
	var mu sync.Mutex
	to := "/here"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Header.Get("Authorization")+r.Header.Get("X-Key") != "Bearer ab":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path != "/here":
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		case sse.LastEventID(r) == "1":
			w.WriteHeader(http.StatusNoContent)
		default:
			sse.SetHeader(w.Header())
			_, _ = io.WriteString(w, "id: 1\ndata: a\n\n")
		}
	}))
	defer server.Close()
	req := request(t, server.URL+"/events")
	req.Header.Set("Authorization", "Bearer a")
	req.Header.Set("X-Key", "b")
	seen, err := follow(t.Context(), server.Client(), req, quick)
	require.NoError(t, err)
	require.Equal(t, []string{"1  a"}, seen)
	mu.Lock()
	to = other.URL
	mu.Unlock()
	_, err = follow(t.Context(), server.Client(), req, quick)
	var not *sse.NotStreamError
	require.ErrorAs(t, err, &not)
	require.Equal(t, http.StatusTemporaryRedirect, not.Status)
	require.Equal(t, fault.Permanent, fault.Of(err))
}

func TestABodyIsSentWithEachRequest(t *testing.T) {
	s := &script{answers: []reply{
		answer(200, "data: a\n\n"), refuses, answer(204, "")}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://a.example",
		strings.NewReader("question"))
	require.NoError(t, err)
	seen, err := follow(t.Context(), &http.Client{Transport: s}, req, quick)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, seen)
	require.Equal(t, []string{"question", "question", "question"}, s.bodies)

	req.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("the file is gone") }
	_, err = follow(t.Context(), &http.Client{Transport: s}, req, quick)
	require.EqualError(t, err, "sse: reading the body of the request again: the file is gone")
	req.GetBody = nil
	for _, bad := range []*http.Request{req, nil, {}} {
		_, err = follow(t.Context(), &http.Client{Transport: s}, bad, quick)
		require.ErrorContains(t, err, "GetBody")
	}
}

func TestALoopThatIsLeftEndsTheConnection(t *testing.T) {
	gone := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sse.SetHeader(w.Header())
		_ = sse.NewWriter(w).Write(sse.Event{Data: []byte("a")})
		<-r.Context().Done()
		gone <- true
	}))
	defer server.Close()
	events := sse.Connect(t.Context(), server.Client(), request(t, server.URL), sse.Config{})
	for range 2 { // each range connects anew
		for range events {
			break
		}
		<-gone
	}
}
