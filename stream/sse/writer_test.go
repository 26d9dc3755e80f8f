package sse_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/sse"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(letters string) string {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteByte(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	for range 2000 {
		var out bytes.Buffer
		w := sse.NewWriter(&out)
		var want []sse.Event
		id := ""
		for range r.IntN(5) {
			ev := sse.Event{ID: word("ab: "), Type: word("ab: "), Data: []byte(word("a :\n\"{")),
				Retry: time.Duration(r.IntN(3)) * time.Second}
			require.NoError(t, w.Write(ev))
			require.NoError(t, w.Comment(word("a\n")))
			if ev.ID != "" {
				id = ev.ID
			}
			ev.ID = id
			want = append(want, ev)
		}
		got, err := all(sse.NewReader(&out, 0))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestAnEventCannotContainAnother(t *testing.T) {
	var out bytes.Buffer
	w := sse.NewWriter(&out)
	for _, ev := range []sse.Event{{ID: "1\ndata: x"}, {ID: "1\r"}, {ID: "\x00"}, {Type: "a\n\ndata: x"}, {Type: "\r"},
		{Retry: -1}} {
		var invalid *sse.InvalidEventError
		require.ErrorAs(t, w.Write(ev), &invalid)
	}
	require.Zero(t, out.Len())
	require.NoError(t, w.Write(sse.Event{Data: []byte("a\rb\r\nc\n\ndata: d")}))
	got, err := all(sse.NewReader(&out, 0))
	require.NoError(t, err)
	require.Equal(t, []sse.Event{data("a\nb\nc\n\ndata: d")}, got)
}

// A failing connection counts writes, and fails from the nth one on.
type failing struct {
	writes, flushes, deadlines int
	at                         int
	unsupported                bool
}

var errGone = errors.New("gone")

func (f *failing) Write(p []byte) (int, error) {
	if f.writes++; f.writes >= f.at && f.at > 0 {
		return 0, errGone
	}
	return len(p), nil
}

func (f *failing) Header() http.Header { return http.Header{} }

func (f *failing) WriteHeader(int) {}

func (f *failing) FlushError() error { f.flushes++; return f.supported() }

func (f *failing) SetWriteDeadline(time.Time) error { f.deadlines++; return f.supported() }

func (f *failing) supported() error {
	if f.unsupported {
		return http.ErrNotSupported
	}
	return nil
}

func TestTheLastEventIDIsOneThatAWriterWrites(t *testing.T) {
	for sent, want := range map[string]string{"": "", "5": "5", "é": "é", "a\x00b": "", "a\nb": "", "\xff": ""} {
		r := &http.Request{Header: http.Header{"Last-Event-Id": {sent}}}
		require.Equal(t, want, sse.LastEventID(r), "%q", sent)
	}
}

func TestEachEventIsFlushedWithinATimeLimit(t *testing.T) {
	for _, unsupported := range []bool{false, true} {
		c := &failing{at: 3, unsupported: unsupported}
		w := sse.NewWriter(c)
		require.NoError(t, w.Write(data("a")))
		require.NoError(t, w.Comment("b"))
		require.Equal(t, &failing{writes: 2, flushes: 2, deadlines: 2, at: 3, unsupported: unsupported}, c)
		require.Equal(t, errGone, w.Write(data("c")))
		require.Equal(t, errGone, w.Write(data("d")))
		require.Equal(t, errGone, w.Comment("e"))
		require.Equal(t, 3, c.writes, "nothing is written after an error")
	}
}

func TestEventsOfAResponseAreFlushed(t *testing.T) {
	rw := httptest.NewRecorder()
	require.NoError(t, sse.NewWriter(rw).Write(data("a")))
	require.True(t, rw.Flushed)
}

func TestHeartbeatsAreWrittenWhileNothingElseIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &failing{}
		w := sse.NewWriter(c)
		stop := w.Heartbeat(10 * time.Second)
		<-time.After(35 * time.Second)
		synctest.Wait()
		require.Equal(t, 3, c.writes)
		for range 10 { // no more are needed
			require.NoError(t, w.Write(data("a")))
			<-time.After(5 * time.Second)
		}
		require.Equal(t, 13, c.writes)
		stop()
		stop()
		<-time.After(time.Minute)
		require.Equal(t, 13, c.writes)

		c.at = 15
		stop = w.Heartbeat(time.Second)
		<-time.After(time.Minute)
		synctest.Wait()
		require.Equal(t, 15, c.writes, "the error ended it")
		require.Equal(t, errGone, w.Write(data("b")))
		stop()
	})
}

// An impatient response sets much shorter deadlines than it is told.
type impatient struct{ http.ResponseWriter }

func (w impatient) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w impatient) SetWriteDeadline(at time.Time) error {
	soon := time.Now().Add(time.Until(at) / 600)
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(soon)
}

// TestAReaderThatStallsIsDisconnected over a real connection.
func TestAReaderThatStallsIsDisconnected(t *testing.T) {
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		w := sse.NewWriter(impatient{rw})
		big := bytes.Repeat([]byte("a"), 1<<20)
		for range 1000 {
			if err := w.Write(sse.Event{Data: big}); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}))
	defer server.Close()
	res, err := http.Get(server.URL)
	require.NoError(t, err)
	defer res.Body.Close()
	require.ErrorContains(t, <-ended, "timeout") // nothing is read
	_, err = io.Copy(io.Discard, res.Body)
	require.Error(t, err, "the answer isn't complete")
}

func TestAWriterIsSafeForConcurrentUse(t *testing.T) {
	var out bytes.Buffer
	w := sse.NewWriter(&out)
	stop := w.Heartbeat(time.Microsecond)
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for range 100 {
				_ = w.Write(sse.Event{Type: "t", Data: []byte("one\ntwo")})
			}
		})
	}
	writers.Wait()
	stop()
	got, err := all(sse.NewReader(&out, 0))
	require.NoError(t, err)
	require.Len(t, got, 800)
	for _, ev := range got {
		require.Equal(t, sse.Event{Type: "t", Data: []byte("one\ntwo")}, ev)
	}
}
