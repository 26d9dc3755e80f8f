package openai

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestEventsAreReadInEveryFraming(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"plain":              {"data: {1}\n\ndata: {2}\n\n", []string{"{1}", "{2}"}},
		"carriage returns":   {"data: {1}\r\rdata: {2}\r\r", []string{"{1}", "{2}"}},
		"both":               {"data: {1}\r\n\r\ndata: {2}\r\n\r\n", []string{"{1}", "{2}"}},
		"mixed":              {"data: {1}\r\n\ndata: {2}\r\r\n\n", []string{"{1}", "{2}"}},
		"no blank":           {"data:{1}\n\ndata:  {2}\n\n", []string{"{1}", " {2}"}},
		"several lines":      {"data: {\ndata\ndata: }\n\n", []string{"{\n\n}"}},
		"names and comments": {": hi\n\nevent: x\nid: 1\nretry: 5\ndata: {1}\nnonsense\n\n: bye\n", []string{"{1}"}},
		"no end":             {"data: {1}\n\ndata: {2}", []string{"{1}", "{2}"}},
		"no final blank":     {"data: {1}\n", []string{"{1}"}},
		"no data":            {"event: x\n\ndata\n\n", []string{""}},
		"without a field":    {"{\"error\":1}\n\ndata: {2}\n\n", []string{`{"error":1}`, "{2}"}},
		"a byte order mark":  {"\xef\xbb\xbfdata: {1}\n\n", []string{"{1}"}},
		"a long line":        {"data: " + strings.Repeat("x", 20_000) + "\n\ndata: {2}\n\n", []string{strings.Repeat("x", 20_000), "{2}"}},
		"nothing":            {"\n \n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.body), iotest.OneByteReader(strings.NewReader(c.body)), iotest.DataErrReader(strings.NewReader(c.body))} {
				ev := newEvents(r)
				if _, err := ev.first(); err != nil {
					require.Equal(t, io.EOF, err)
				}
				var got []string
				for {
					data, err := ev.next()
					if err == io.EOF {
						break
					}
					require.NoError(t, err)
					got = append(got, string(data))
				}
				require.Equal(t, c.want, got)
			}
		})
	}
}

func TestErrorEventsAreRecognized(t *testing.T) {
	ev := newEvents(strings.NewReader("event: error\n\ndata: 1\n\nevent:error\ndata: 2\n\ndata: 3\n\n"))
	for _, want := range []bool{false, true, false} {
		_, err := ev.next()
		require.NoError(t, err)
		require.Equal(t, want, ev.isErr)
	}
}

// endless is a line without an end.
type endless struct{ n int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	e.n += len(b)
	return len(b), nil
}

func TestALineAboveTheLimitIsAnError(t *testing.T) {
	r := &endless{}
	_, err := newEvents(r).next()
	require.ErrorIs(t, err, errTooLarge)
	require.Less(t, r.n, 4*maxEvent)
	_, err = newEvents(&endless{}).rest()
	require.ErrorIs(t, err, errTooLarge)
}

func TestAnErrorOfTheConnectionIsPassedOn(t *testing.T) {
	boom := errors.New("boom")
	ev := newEvents(io.MultiReader(strings.NewReader("data: {1}\n\ndata: {2"), iotest.ErrReader(boom)))
	data, err := ev.next()
	require.NoError(t, err)
	require.Equal(t, "{1}", string(data))
	_, err = ev.next()
	require.ErrorIs(t, err, boom)
}
