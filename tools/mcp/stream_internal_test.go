package mcp

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A repeated is a stream that says the same again and again.
type repeated struct {
	text string
	left int // bytes
	off  int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	for n := 0; n < len(p); {
		m := copy(p[n:], r.text[r.off:])
		r.off, n = (r.off+m)%len(r.text), n+m
	}
	r.left -= len(p)
	return len(p), nil
}

func eventsOf(from io.Reader) *eventStream {
	r := &requests{session: &session{calls: map[string]*running{}, tasks: map[string]bool{}},
		logger: slog.New(slog.DiscardHandler)}
	return r.events(io.NopCloser(from))
}

// An event without an end doesn't fill the memory, whatever its lines are.
func TestAnEventWithoutAnEndIsBounded(t *testing.T) {
	some, long := strings.Repeat("x", 1<<10), strings.Repeat("x", 9<<20)
	for name, from := range map[string]*repeated{
		"ids":          {text: "id: " + some + "\n", left: 40 << 20},
		"events":       {text: "event: " + some + "\n", left: 40 << 20},
		"data":         {text: "data: " + some + "\n", left: 40 << 20},
		"a long line":  {text: some, left: 40 << 20},
		"remarks":      {text: ": " + some + "\n", left: 40 << 20},
		"long lines":   {text: "id: " + long + "\nevent: " + long + "\n", left: 40 << 20},
		"long retries": {text: "id: " + long + "\nretry: " + long + "\n", left: 40 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			b, most := eventsOf(from), 0
			piece := make([]byte, 64<<10)
			var err error
			for err == nil {
				_, err = b.Read(piece)
				most = max(most, b.size())
			}
			require.LessOrEqual(t, most, maxReply+len(piece))
			switch name {
			case "ids", "events", "remarks":
				require.ErrorIs(t, err, io.EOF)
				require.LessOrEqual(t, most, 4<<10)
			default:
				require.ErrorContains(t, err, "more than 16777216 bytes")
			}
		})
	}
}

// Of the lines of an event that aren't data, the last ones count.
func TestTheLastMarksOfAnEventCount(t *testing.T) {
	all, err := io.ReadAll(eventsOf(strings.NewReader(
		"id: 1\nevent: x\nid: 2\nretry:5\nevent: message\ndata: " + aMessage + "\n\nid:3\n\ndata: " +
			aMessage + "\n\n")))
	require.NoError(t, err)
	require.Equal(t, "id: 2\nevent: message\nretry:5\ndata: "+aMessage+"\n\nid:3\n\ndata: "+aMessage+"\n\n",
		string(all))
}

// A byte order mark at the start of a stream belongs to no event.
func TestAStreamWithAByteOrderMark(t *testing.T) {
	for _, first := range []string{"data: ", "id: 1\ndata: "} {
		all, err := io.ReadAll(eventsOf(strings.NewReader("\xef\xbb\xbf" + first + aMessage + "\n\n")))
		require.NoError(t, err)
		require.Contains(t, string(all), "data: "+aMessage+"\n\n")
		require.NotContains(t, string(all), "\xef")
	}
}

// The end of a stream that belongs to no request comes late, and only once: the SDK reads on.
func TestTheEndOfAStreamComesLateOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := &lateEnd{ReadCloser: io.NopCloser(strings.NewReader(": hello\n")), done: t.Context().Done(),
			closed: make(chan struct{})}
		began := time.Now()
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.Equal(t, ": hello\n", string(text))
		_, _ = io.Copy(io.Discard, body)
		require.Equal(t, quiet, time.Since(began))
	})
}
