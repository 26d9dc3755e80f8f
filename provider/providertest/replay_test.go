package providertest

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

const story = "event: a\ndata: {\"text\":\"Zoë\"}\n\nevent: b\ndata: {\"text\":\"said\"}\n\nevent: c\ndata: {}\n\n"

func storyCase() *Case { return NewCase("story", 200, "text/event-stream", story) }

// ask makes a request, and returns the body.
func ask(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	res, err := client.Get(url)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, errors.Join(err, res.Body.Close()))
	return string(body)
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

	second, err := r.Client().Get("https://api.example.com/v2/y")
	require.NoError(t, err)
	require.NoError(t, second.Body.Close())
	require.Equal(t, 429, second.StatusCode)
	require.Equal(t, "7", second.Header.Get("Retry-After"))
	require.Equal(t, "application/json", second.Header.Get("Content-Type"))

	asked := r.Requests()
	require.Len(t, asked, 2)
	require.Equal(t, "POST", asked[0].Method)
	require.Equal(t, r.URL+"/v1/x?key=1", asked[0].URL)
	require.Equal(t, "hello", asked[0].Body)
	require.Equal(t, "text/plain", asked[0].Headers["content-type"])
	require.Equal(t, "http://api.example.com/v2/y", asked[1].URL)
}

func TestAnyClientIsAnswered(t *testing.T) {
	r := Replay(t, storyCase())
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	res, err := client.Get(r.URL)
	require.NoError(t, err)
	defer res.Body.Close()
	require.NoError(t, iotest.TestReader(res.Body, []byte(story)))
}

func TestClosingAReplayerEndsWhatItAnswers(t *testing.T) {
	r, err := NewReplayer(NewCase("large", 200, "text/plain", strings.Repeat("x", 16<<20)))
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
	require.Equal(t, story, ask(t, r.Client(), r.URL))
	require.Contains(t, ask(t, r.Client(), r.URL), "the case has 1 exchange, and this is request 2")
	tb.end()
	require.Contains(t, tb.String(), "1 exchange, and there was 1 more request")
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
	r := Replay(t, back)
	require.Equal(t, "\xff\x00\x01<&>", ask(t, r.Client(), r.URL))

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
