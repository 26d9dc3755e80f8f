package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/sse"
)

// all reads all events. The error is nil if the stream has ended.
func all(r *sse.Reader) (events []sse.Event, err error) {
	for {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		ev.Data = bytes.Clone(ev.Data)
		events = append(events, ev)
	}
}

func data(text string) sse.Event { return sse.Event{Data: []byte(text)} }

// The cases of the standard, and those where implementations differ.
var streams = map[string]struct {
	text string
	want []sse.Event
}{
	"one event": {"data: a\n\n", []sse.Event{data("a")}},
	"two lines": {"data: YHOO\ndata: +2\n\n", []sse.Event{data("YHOO\n+2")}},
	"comment, ids": {": test\n\ndata: first\nid: 1\n\ndata:second\nid\n\ndata:  third\n\n",
		[]sse.Event{{ID: "1", Data: []byte("first")}, data("second"), data(" third")}},
	"empty data":            {"data\n\ndata\ndata\n\n", []sse.Event{data(""), data("\n")}},
	"the blank is optional": {"data:test\n\ndata: test\n\n", []sse.Event{data("test"), data("test")}},
	"names": {"event: add\ndata: 1\n\nevent:\ndata: 2\n\n",
		[]sse.Event{{Type: "add", Data: []byte("1")}, data("2")}},
	"a name without data": {"event: add\n\ndata: 1\n\n", []sse.Event{data("1")}},
	"an id lasts": {"id: 7\ndata: 1\n\ndata: 2\n\n",
		[]sse.Event{{ID: "7", Data: []byte("1")}, {ID: "7", Data: []byte("2")}}},
	"an id without data": {"id: 7\n\ndata: 2\n\n", []sse.Event{{ID: "7", Data: []byte("2")}}},
	"an id with NUL": {"id: 7\ndata: 1\n\nid: 8\x00\ndata: 2\n\n",
		[]sse.Event{{ID: "7", Data: []byte("1")}, {ID: "7", Data: []byte("2")}}},
	"retry": {"retry: 1500\ndata: 1\n\nretry: 1x\ndata: 2\n\nretry: -1\ndata: 3\n\n",
		[]sse.Event{{Retry: 1500 * time.Millisecond, Data: []byte("1")}, data("2"), data("3")}},
	"a huge retry": {"retry: 9223372036854775807\ndata: 1\n\n",
		[]sse.Event{{Retry: 9223372036854 * time.Millisecond, Data: []byte("1")}}},
	"unknown fields":    {"foo: bar\ndata : no\nDATA: no\n data: no\ndata: yes\n\n", []sse.Event{data("yes")}},
	"a byte order mark": {"\xEF\xBB\xBFdata: a\n\n", []sse.Event{data("a")}},
	"a second mark":     {"data: a\n\n\xEF\xBB\xBFdata: b\n\ndata: c\n\n", []sse.Event{data("a"), data("c")}},
	"mixed line ends": {"data: a\r\n\rdata: b\n\ndata: c\rdata: d\r\n\r\n",
		[]sse.Event{data("a"), data("b"), data("c\nd")}},
	"no blank line": {"data: a\n\ndata: b\n", []sse.Event{data("a"), {Data: []byte("b"), Cut: true}}},
	"no end of line": {"data: a\n\nevent: x\ndata: b",
		[]sse.Event{data("a"), {Type: "x", Data: []byte("b"), Cut: true}}},
	"nothing to return":        {"data: a\n\nevent: x\n: c", []sse.Event{data("a")}},
	"JSON that isn't an event": {"{\"error\": 1}\n\ndata: a\n\n", []sse.Event{data("a")}},
	"empty":                    {"", nil},
}

func TestStreamsAreReadAsTheStandardSays(t *testing.T) {
	for name, c := range streams {
		for _, end := range []string{"\n", "\r\n", "\r"} {
			text := c.text
			if end != "\n" && !strings.Contains(text, "\r") {
				text = strings.ReplaceAll(text, "\n", end)
			}
			for how, r := range map[string]io.Reader{
				"whole": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
				"with its end": iotest.DataErrReader(strings.NewReader(text)),
			} {
				got, err := all(sse.NewReader(r, 0))
				require.NoError(t, err)
				require.Equal(t, c.want, got, "%s, %q, %s", name, end, how)
			}
		}
	}
}

func TestAReaderReturnsAnEventBeforeTheNextOneComes(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		in, out := io.Pipe()
		go func() {
			_, _ = io.WriteString(out, "data: a"+end+end)
			<-t.Context().Done()
		}()
		ev, err := sse.NewReader(in, 0).Next()
		require.NoError(t, err)
		require.Equal(t, "a", string(ev.Data))
		require.NoError(t, out.Close())
	}
}

func TestBareJSONIsAnEvent(t *testing.T) {
	const text = "data: a\n\n{\n  \"error\": {\"message\": \"a } \\\" {\"}\n}\ndata: " +
		"b\n\n{\"x\":1}\n[1,\n2]\n{\"cut\": [\n1"
	r := sse.NewReader(iotest.OneByteReader(strings.NewReader(text)), 0)
	r.BareJSON = true
	got, err := all(r)
	require.NoError(t, err)
	require.Equal(t, []sse.Event{data("a"), data("{\n  \"error\": {\"message\": \"a } \\\" {\"}\n}"), data("b"),
		data("{\"x\":1}"), data("[1,\n2]"),
		{Data: []byte("{\"cut\": [\n1"), Cut: true}}, got)
}

// endless repeats a text.
type endless struct {
	text string
	n    int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[e.n%len(e.text)]
		e.n++
	}
	return len(p), nil
}

func TestAnEventAboveTheLimitIsAnError(t *testing.T) {
	for name, text := range map[string]string{"one line": "data: aaaaaaaaa",
		"many lines": "data: aaaaaaaaaaaaaaaaaaaaaaaa\n", "JSON": "{\n", "a comment": ": a"} {
		in := &endless{text: text}
		if name == "one line" || name == "a comment" {
			in.text = "a"
		}
		r := sse.NewReader(io.MultiReader(strings.NewReader(text), in), 100_000)
		r.BareJSON = true
		_, err := r.Next()
		var tooLarge *sse.TooLargeError
		require.ErrorAs(t, err, &tooLarge, name)
		require.Equal(t, 100_000, tooLarge.Limit)
		require.ErrorContains(t, err, "100000 bytes")
		require.Less(t, in.n, 500_000, "no more is read than needed")
		_, again := r.Next()
		require.Equal(t, err, again)
	}
	exact := strings.Repeat("a", 1000)
	got, err := all(sse.NewReader(strings.NewReader("data: "+exact+"\n\n"), 1000))
	require.NoError(t, err)
	require.Equal(t, []sse.Event{data(exact)}, got)
}

func TestAnErrorOfTheInputIsReturned(t *testing.T) {
	broken := errors.New("broken")
	r := sse.NewReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)), 0)
	ev, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, data("a"), ev)
	for range 2 {
		_, err = r.Next()
		require.Equal(t, broken, err)
	}
}

// reference reads a stream with LF ends the way the standard words it, line by line.
func reference(text string) (out []sse.Event) {
	text = strings.TrimPrefix(text, "\xEF\xBB\xBF")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	var id string
	var ev sse.Event
	var parts []string
	for i, line := range lines {
		if line == "" {
			if len(parts) > 0 && i < len(lines)-1 {
				ev.Data, ev.ID = []byte(strings.Join(parts, "\n")), id
				out = append(out, ev)
				parts = nil
			}
			if len(parts) == 0 {
				ev = sse.Event{}
			}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			parts = append(parts, value)
		case "event":
			ev.Type = value
		case "id":
			if !strings.Contains(value, "\x00") {
				id = value
			}
		}
	}
	if len(parts) > 0 {
		ev.Data, ev.ID, ev.Cut = []byte(strings.Join(parts, "\n")), id, true
		out = append(out, ev)
	}
	return out
}

func FuzzReader(f *testing.F) {
	for _, c := range streams {
		f.Add(c.text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		if strings.Contains(text, "retry") || strings.HasPrefix(text, "\xEF\xBB\xBF\xEF\xBB\xBF") {
			t.Skip()
		}
		got, err := all(sse.NewReader(iotest.OneByteReader(strings.NewReader(text)), 0))
		require.NoError(t, err)
		require.Equal(t, reference(text), got)
		again, err := all(sse.NewReader(strings.NewReader(text), 0))
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
