package providertest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// transport is a http.RoundTripper made of a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func answering(status int, header http.Header, body io.Reader) transport {
	return func(req *http.Request) (*http.Response, error) {
		if req.Body != nil {
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return nil, err
			}
		}
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body), Request: req}, nil
	}
}

func send(t *testing.T, rt http.RoundTripper, url, body string, header ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := rt.RoundTrip(req)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, errors.Join(err, res.Body.Close()))
	return string(text)
}

// recorded returns the case that a Recorder has written.
func recorded(t *testing.T, r *Recorder) *Case {
	t.Helper()
	require.NoError(t, r.Err())
	c, err := ReadCase(r.path)
	require.NoError(t, err)
	return c
}

func TestWhatWasRecordedIsReplayed(t *testing.T) {
	original := &Case{Name: "loop", Exchanges: []Exchange{
		{Response: RecordedResponse{Status: 200, Body: story, Stream: true,
			Headers: map[string]string{"content-type": "text/event-stream", "request-id": "r1"}}},
		{Response: RecordedResponse{Status: 429, Body: `{"error":"<slow> & down"}`,
			Headers: map[string]string{"content-type": "application/json", "retry-after": "3"}}},
	}}
	live := Replay(t, original)
	rec := Record(filepath.Join(t.TempDir(), "sub", "weather.json"), live.Client().Transport)
	require.Equal(t, story, send(t, rec, live.URL+"/v1/messages", `{"model":"claude-x","n":1}`, "Content-Type",
		"application/json", "Anthropic-Version", "2023-06-01", "User-Agent", "me"))
	require.Equal(t, `{"error":"<slow> & down"}`, send(t, rec, live.URL+"/v1/messages", `{"model":"claude-x","n":2}`))
	require.Equal(t, `{"model":"claude-x","n":1}`, live.Requests()[0].Body)

	c := recorded(t, rec)
	require.Equal(t, "weather", c.Name)
	require.Equal(t, RecordedRequest{Method: "POST", URL: live.URL + "/v1/messages", Body: `{"model":"claude-x","n":1}`,
		Headers: map[string]string{"content-type": "application/json", "anthropic-version": "2023-06-01"}},
		c.Exchanges[0].Request)
	for i := range original.Exchanges {
		require.Equal(t, original.Exchanges[i].Response, c.Exchanges[i].Response)
	}

	again := Replay(t, c)
	require.Equal(t, story, send(t, again.Client().Transport, again.URL, ""))
	require.Equal(t, `{"error":"<slow> & down"}`, send(t, again.Client().Transport, again.URL, ""))
}

func TestSecretsAreNeverWritten(t *testing.T) {
	const key, org, cookie, query, custom = "k-0123456789abcdef", "acme-corp-17", "cookie-value-1", "query-key-99",
		"internal-host.example"
	header := http.Header{"Content-Type": {"text/event-stream"}, "Openai-Organization": {org},
		"Set-Cookie": {"sid=" + cookie + "; Path=/"}, "X-Request-Id": {"r-" + key}}
	answer := "data: you sent " + key + " as " + org + " from " + custom + " with sk-" + strings.Repeat("a1", 12) +
		" and org-ABCDEFGH12345 and bearer abcdefghij and " + cookie + "\n\n"
	rec := Record(filepath.Join(t.TempDir(), "c.json"), answering(200, header, strings.NewReader(answer)), custom)
	got := send(t, rec, "https://user:pass-word-1@api.example.com/v1/chat/completions?key="+query+"&alt=sse",
		`{"model":"m","key":"`+key+`","q":"`+query+`"}`,
		"Authorization", "Bearer "+key, "X-Api-Key", "x-"+key, "Api-Key", "az-0123456789", "X-Goog-Api-Key",
		"AIzaSyA-0123456789-0123456789-0123456789", "Cookie", "sid="+cookie)
	require.Equal(t, answer, got, "the caller gets the answer as it came")

	file, err := os.ReadFile(rec.path)
	require.NoError(t, err)
	for _, secret := range []string{key, org, cookie, query, custom, "pass-word-1", "az-0123456789", "AIza", "sk-a1",
		"org-ABCD", "abcdefghij"} {
		require.NotContains(t, string(file), secret)
	}
	x := recorded(t, rec).Exchanges[0]
	require.Equal(t, "https://api.example.com/v1/chat/completions?alt=sse&key=%5Bredacted%5D", x.Request.URL)
	require.Equal(t, "data: you sent [redacted] as [redacted] from [redacted] with [redacted] and [redacted] and "+
		"[redacted] and [redacted]\n\n", x.Response.Body)
	require.Equal(t, map[string]string{"content-type": "text/event-stream", "x-request-id": "r-[redacted]"},
		x.Response.Headers)
}

func TestASecretLearnedLateIsTakenOutOfWhatWasRecordedEarly(t *testing.T) {
	rec := Record(filepath.Join(t.TempDir(), "c.json"),
		answering(200, http.Header{}, strings.NewReader("the key is late-key-123")))
	send(t, rec, "https://api.example.com/", "")
	send(t, rec, "https://api.example.com/", "", "X-Api-Key", "late-key-123")
	require.Equal(t, "the key is [redacted]", recorded(t, rec).Exchanges[0].Response.Body)
}

func TestTheSecretsOfARequestWithoutAnAnswerArentWritten(t *testing.T) {
	next := answering(200, http.Header{}, strings.NewReader("the key is lost-key-123"))
	rec := Record(filepath.Join(t.TempDir(), "c.json"), transport(func(req *http.Request) (*http.Response, error) {
		if req.Header.Get("X-Api-Key") != "" {
			return nil, errors.New("no route")
		}
		return next(req)
	}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example.com/", nil)
	require.NoError(t, err)
	req.Header.Set("X-Api-Key", "lost-key-123")
	_, err = rec.RoundTrip(req)
	require.Error(t, err)
	send(t, rec, "https://api.example.com/", "")
	require.Equal(t, "the key is [redacted]", recorded(t, rec).Exchanges[0].Response.Body)
}

func TestTheBodyOfARequestIsClosedThoughItCantBeRead(t *testing.T) {
	body, rest := io.Pipe()
	broken := errors.New("broken")
	go rest.CloseWithError(broken)
	rec := Record(filepath.Join(t.TempDir(), "c.json"), answering(200, http.Header{}, strings.NewReader("")))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.example.com/", body)
	require.NoError(t, err)
	_, err = rec.RoundTrip(req)
	require.ErrorIs(t, err, broken)
	_, err = body.Read(nil)
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestAnExchangeThatWasLeftEarlyIsRecordedAsFarAsItCame(t *testing.T) {
	body, rest := io.Pipe()
	defer rest.Close()
	go io.WriteString(rest, story[:9]) // the rest never comes
	rec := Record(filepath.Join(t.TempDir(), "c.json"), answering(200, http.Header{}, body))
	res, err := (&http.Client{Transport: rec}).Get("https://api.example.com/")
	require.NoError(t, err)
	_, err = io.ReadFull(res.Body, make([]byte, 9))
	require.NoError(t, err)
	require.NoFileExists(t, rec.path)
	require.NoError(t, res.Body.Close())
	require.NoError(t, res.Body.Close())
	x := recorded(t, rec).Exchanges
	require.Len(t, x, 1)
	require.Equal(t, story[:9], x[0].Response.Body)
	require.Equal(t, []string{"the client closed the body after 9 bytes, before its end was read"}, x[0].Notes)
}

func TestABodyThatBreaksOffIsRecordedWithANote(t *testing.T) {
	end := fmt.Errorf("from secret-host: %w", io.ErrUnexpectedEOF)
	broken := io.MultiReader(strings.NewReader(story[:5]), iotest.ErrReader(end))
	rec := Record(filepath.Join(t.TempDir(), "c.json"), answering(200, http.Header{}, broken), "secret-host")
	res, err := (&http.Client{Transport: rec}).Get("https://api.example.com/")
	require.NoError(t, err)
	_, err = io.ReadAll(res.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, res.Body.Close())
	x := recorded(t, rec).Exchanges[0]
	require.Equal(t, story[:5], x.Response.Body)
	require.Equal(t, []string{"the body broke off after 5 bytes: from [redacted]: unexpected EOF"}, x.Notes)
}

func TestCompressedBodiesAreLeftOut(t *testing.T) {
	next := answering(200, http.Header{"Content-Encoding": {"br"}}, strings.NewReader("squeezed k-0123456789"))
	rec := Record(filepath.Join(t.TempDir(), "c.json"), next)
	send(t, rec, "https://api.example.com/", "")
	x := recorded(t, rec).Exchanges[0]
	require.Empty(t, x.Response.Body)
	require.Equal(t, []string{`the body was left out: its encoding is "br"`}, x.Notes)
}

func TestRequestsWithoutAnAnswerAreNotRecorded(t *testing.T) {
	broken := errors.New("no route")
	rec := Record(filepath.Join(t.TempDir(), "c.json"),
		transport(func(*http.Request) (*http.Response, error) { return nil, broken }))
	_, err := (&http.Client{Transport: rec}).Get("https://api.example.com/")
	require.ErrorIs(t, err, broken)
	require.NoFileExists(t, rec.path)
}

func TestAFileThatCannotBeWrittenIsNoErrorOfTheExchange(t *testing.T) {
	rec := Record("/dev/null/x.json", answering(200, http.Header{}, strings.NewReader("fine")))
	require.Equal(t, "fine", send(t, rec, "https://api.example.com/", ""))
	require.ErrorContains(t, rec.Err(), "providertest: writing a case")
}

func TestExchangesAtOnceAreRecordedInTheOrderOfTheirRequests(t *testing.T) {
	c := storyCase()
	c.Exchanges = slices.Repeat(c.Exchanges, 8)
	live := Replay(t, c)
	rec := Record(filepath.Join(t.TempDir(), "c.json"), live.Client().Transport)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			client := &http.Client{Transport: rec}
			res, err := client.Post(live.URL, "application/json", strings.NewReader(`{"model":"m"}`))
			if err != nil {
				panic(err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		})
	}
	wg.Wait()
	exchanges := recorded(t, rec).Exchanges
	require.Len(t, exchanges, 8)
	for _, x := range exchanges {
		require.Equal(t, story, x.Response.Body)
		require.JSONEq(t, `{"model":"m"}`, x.Request.Body)
	}
}

// A recorder is a testing.TB that notes failures and doesn't fail.
type recorder struct {
	testing.TB

	mu       sync.Mutex // guards failures
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.failures, "\n")
}
