package providertest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

const story = "event: a\ndata: {\"text\":\"Zoë\"}\n\nevent: b\ndata: {\"text\":\"said\"}\n\nevent: c\ndata: {}\n\n"

func storyCase() *Case { return NewCase("story", 200, "text/event-stream", story) }

// ask makes a request, and returns the pieces in which the body was read, and how it ended.
func ask(t *testing.T, r *Replayer) (pieces []string, err error) {
	t.Helper()
	res, err := r.Client().Post(r.URL+"/v1/story?x=1", "application/json", strings.NewReader(`{"ask":"it"}`))
	require.NoError(t, err)
	defer res.Body.Close()
	buf := make([]byte, 4096)
	for {
		n, err := res.Body.Read(buf)
		if n > 0 {
			pieces = append(pieces, string(buf[:n]))
		}
		if errors.Is(err, io.EOF) {
			return pieces, nil
		}
		if err != nil {
			return pieces, err
		}
	}
}

func TestReplayAnswersExchangesInOrder(t *testing.T) {
	c := &Case{Name: "two", Exchanges: []Exchange{
		{Response: RecordedResponse{Status: 200, Body: "one",
			Headers: map[string]string{"content-type": "text/plain", "request-id": "r1", "content-length": "99"}}},
		{Response: RecordedResponse{Status: 429, Body: "two", Headers: map[string]string{"retry-after": "7"}}},
	}}
	r := Replay(t, c)
	first, err := r.Client().Post(r.URL+"/v1/x?key=1", "text/plain", strings.NewReader("hello"))
	require.NoError(t, err)
	body, err := io.ReadAll(first.Body)
	require.NoError(t, errors.Join(err, first.Body.Close()))
	require.Equal(t, "one", string(body))
	require.Equal(t, 200, first.StatusCode)
	require.Equal(t, "r1", first.Header.Get("Request-Id"))
	require.Equal(t, "text/plain", first.Header.Get("Content-Type"))
	require.Empty(t, first.Header.Get(exchangeHeader))

	second, err := r.Client().Get("https://api.example.com/v2/y")
	require.NoError(t, err)
	require.NoError(t, second.Body.Close())
	require.Equal(t, 429, second.StatusCode)
	require.Equal(t, "7", second.Header.Get("Retry-After"))
	require.Equal(t, "application/json", second.Header.Get("Content-Type"))

	asked := r.Requests()
	require.Len(t, asked, 2)
	require.Equal(t, "POST", asked[0].Method)
	require.Equal(t, "/v1/x?key=1", asked[0].Path)
	require.Equal(t, "hello", string(asked[0].Body))
	require.Equal(t, "text/plain", asked[0].Header.Get("Content-Type"))
	require.Equal(t, "/v2/y", asked[1].Path)
	require.Equal(t, "api.example.com", asked[1].Host)
	require.Empty(t, asked[1].Header.Get(hostHeader))
}

func TestAnyClientIsAnswered(t *testing.T) {
	r := Replay(t, storyCase(), SplitRandom(3))
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	res, err := client.Get(r.URL)
	require.NoError(t, err)
	defer res.Body.Close()
	require.NoError(t, iotest.TestReader(res.Body, []byte(story)))
}

func TestBodiesAreReadInThePiecesAskedFor(t *testing.T) {
	pieces, err := ask(t, Replay(t, storyCase(), SplitBytes()))
	require.NoError(t, err)
	require.Len(t, pieces, len(story))
	require.Equal(t, story, strings.Join(pieces, ""))

	pieces, err = ask(t, Replay(t, storyCase(), SplitAt(30, 5, 5, 0, 1000)))
	require.NoError(t, err)
	require.Equal(t, []string{story[:5], story[5:30], story[30:]}, pieces)

	one, err := ask(t, Replay(t, storyCase(), SplitRandom(1)))
	require.NoError(t, err)
	again, err := ask(t, Replay(t, storyCase(), SplitRandom(1)))
	require.NoError(t, err)
	other, err := ask(t, Replay(t, storyCase(), SplitRandom(2)))
	require.NoError(t, err)
	require.Equal(t, one, again)
	require.NotEqual(t, one, other)
	require.Equal(t, story, strings.Join(other, ""))
}

func TestADroppedConnectionIsAnErrorAndAnEarlyEndIsNone(t *testing.T) {
	for _, at := range []int{0, 1, 20, len(story) - 1} {
		pieces, err := ask(t, Replay(t, storyCase(), CutAt(at)))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, story[:at], strings.Join(pieces, ""))

		pieces, err = ask(t, Replay(t, storyCase(), EndAt(at), SplitBytes()))
		require.NoError(t, err)
		require.Equal(t, story[:at], strings.Join(pieces, ""))
	}
	for _, beyond := range []ReplayOption{CutAt(len(story)), EndAt(len(story) + 5)} {
		pieces, err := ask(t, Replay(t, storyCase(), beyond))
		require.NoError(t, err)
		require.Equal(t, story, strings.Join(pieces, ""))
	}
}

func TestAHangingAnswerEndsWithItsClient(t *testing.T) {
	r := Replay(t, storyCase(), HangAt(7))
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	require.NoError(t, err)
	res, err := r.Client().Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	buf := make([]byte, 7)
	_, err = io.ReadFull(res.Body, buf)
	require.NoError(t, err)
	require.Equal(t, story[:7], string(buf))

	short, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	require.ErrorIs(t, r.Wait(short), context.DeadlineExceeded)
	cancel()
	require.NoError(t, r.Wait(t.Context()))
}

func TestClosingAReplayerEndsWhatHangs(t *testing.T) {
	r, err := NewReplayer(storyCase(), HangAt(0))
	require.NoError(t, err)
	res, err := r.Client().Get(r.URL)
	require.NoError(t, err)
	defer res.Body.Close()
	r.Close()
	r.Close()
	_, err = io.ReadAll(res.Body)
	require.Error(t, err)
	_, err = r.Client().Get(r.URL)
	require.Error(t, err)
}

func TestOptionsCanBeForOneExchange(t *testing.T) {
	c := storyCase()
	c.Exchanges = append(c.Exchanges, c.Exchanges[0])
	r := Replay(t, c, At(1, CutAt(3)), At(7, CutAt(0)), Loop())
	for range 2 {
		_, err := ask(t, r)
		require.NoError(t, err)
		_, err = ask(t, r)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
}

// endingTB is a recorder whose test ends when it is told to.
type endingTB struct {
	recorder
	cleanups []func()
}

func (e *endingTB) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

func (e *endingTB) end() {
	for _, f := range e.cleanups {
		f()
	}
}

func TestARequestTooManyFailsTheTest(t *testing.T) {
	tb := &endingTB{recorder: recorder{TB: t}}
	r := Replay(tb, storyCase())
	_, err := ask(t, r)
	require.NoError(t, err)
	res, err := r.Client().Get(r.URL)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusNotImplemented, res.StatusCode)
	tb.end()
	require.Contains(t, tb.String(), "1 exchange, and there were 1 request more")
}

func TestCasesThatCannotBeServedAreErrors(t *testing.T) {
	for _, tt := range []struct {
		c    *Case
		want string
	}{
		{nil, "there is no case"},
		{&Case{Name: "empty"}, "no exchanges"},
		{NewCase("odd", 99, "", ""), "status 99"},
		{&Case{Name: "code", Exchanges: []Exchange{{Response: RecordedResponse{Status: 200, Base64: true, Body: "?"}}}},
			"illegal base64"},
	} {
		_, err := NewReplayer(tt.c)
		require.ErrorContains(t, err, tt.want)
	}
}

func TestBytesThatAreNoTextSurviveAFile(t *testing.T) {
	path := t.TempDir() + "/sub/binary.json"
	c := NewCase("binary", 200, "application/vnd.amazon.eventstream", "\xff\x00\x01<&>")
	require.NoError(t, c.WriteFile(path))
	back, err := ReadCase(path)
	require.NoError(t, err)
	require.Equal(t, c, back)
	pieces, err := ask(t, Replay(t, back))
	require.NoError(t, err)
	require.Equal(t, "\xff\x00\x01<&>", strings.Join(pieces, ""))

	_, err = ReadCase(t.TempDir() + "/none.json")
	require.ErrorContains(t, err, "providertest: reading a case")
	require.ErrorContains(t, c.WriteFile("/dev/null/x"), "providertest: writing a case")
}

func TestTakeNeverLeavesTheCase(t *testing.T) {
	c := storyCase()
	c.Exchanges = append(c.Exchanges, c.Exchanges[0], c.Exchanges[0])
	for _, tt := range []struct{ i, n, want int }{{0, 1, 1}, {1, 9, 2}, {-1, 2, 2}, {3, 1, 0}, {9, 9, 0}, {0, -1, 0}} {
		require.Len(t, c.Take(tt.i, tt.n).Exchanges, tt.want)
	}
}
