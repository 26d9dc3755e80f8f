package providertest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

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

func TestWhatWasRecordedIsReplayed(t *testing.T) {
	original := &Case{Name: "loop", Exchanges: []Exchange{
		{Response: RecordedResponse{Status: 200, Body: story, Stream: true,
			Headers: map[string]string{"content-type": "text/event-stream", "request-id": "r1"}}},
		{Response: RecordedResponse{Status: 429, Body: `{"error":"<slow> & down"}`,
			Headers: map[string]string{"content-type": "application/json", "retry-after": "3"}}},
	}}
	path := filepath.Join(t.TempDir(), "sub", "weather.json")
	live := Replay(t, original, SplitRandom(4))
	rec := Record(path, RecordConfig{Next: live.Client().Transport})
	require.Equal(t, story, send(t, rec, live.URL+"/v1/messages", `{"model":"claude-x","n":1}`, "Content-Type",
		"application/json", "Anthropic-Version", "2023-06-01", "User-Agent", "me"))
	require.Equal(t, `{"error":"<slow> & down"}`, send(t, rec, live.URL+"/v1/messages", `{"model":"claude-x","n":2}`))
	require.NoError(t, rec.Err())

	c, err := ReadCase(path)
	require.NoError(t, err)
	require.Equal(t, rec.Case(), c)
	require.Equal(t, "weather", c.Name)
	require.Equal(t, "anthropic", c.Provider)
	require.Equal(t, "anthropic-messages", c.Wire)
	require.Equal(t, "claude-x", c.Model)
	require.True(t, c.Streaming)
	require.Equal(t, RecordedRequest{Method: "POST", URL: live.URL + "/v1/messages", Body: `{"model":"claude-x","n":1}`,
		Headers: map[string]string{"content-type": "application/json", "anthropic-version": "2023-06-01"}},
		c.Exchanges[0].Request)
	for i := range original.Exchanges {
		require.Equal(t, original.Exchanges[i].Response, c.Exchanges[i].Response)
	}

	again := Replay(t, c)
	require.Equal(t, story, send(t, again.Client().Transport, again.URL, ""))
	require.Equal(t, `{"error":"<slow> & down"}`, send(t, again.Client().Transport, again.URL, ""))
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing but the case is left in the folder")
}

func TestSecretsAreNeverWritten(t *testing.T) {
	const key, org, cookie, query, custom = "k-0123456789abcdef", "acme-corp-17", "cookie-value-1", "query-key-99",
		"internal-host.example"
	path := filepath.Join(t.TempDir(), "c.json")
	header := http.Header{"Content-Type": {"text/event-stream"}, "Openai-Organization": {org},
		"Set-Cookie": {"sid=" + cookie + "; Path=/"}, "X-Request-Id": {"r-" + key}}
	answer := "data: you sent " + key + " as " + org + " from " + custom + " with sk-" + strings.Repeat("a1", 12) +
		" and org-ABCDEFGH12345 and secret-42 and " + cookie + "\n\n"
	rec := Record(path, RecordConfig{Next: answering(200, header, strings.NewReader(answer)), Secrets: []string{custom},
		Patterns: []*regexp.Regexp{regexp.MustCompile(`secret-\d+`), nil}})
	got := send(t, rec, "https://user:pass-word-1@api.example.com/v1/chat/completions?key="+query+"&alt=sse",
		`{"model":"m","key":"`+key+`","q":"`+query+`"}`,
		"Authorization", "Bearer "+key, "X-Api-Key", "x-"+key, "Api-Key", "az-0123456789", "X-Goog-Api-Key",
		"AIzaSyA-0123456789-0123456789-0123456789", "Cookie", "sid="+cookie)
	require.Equal(t, answer, got, "the caller gets the answer as it came")

	file, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, secret := range []string{key, org, cookie, query, custom, "pass-word-1", "az-0123456789", "AIza", "sk-a1",
		"org-ABCD", "secret-42"} {
		require.NotContains(t, string(file), secret)
	}
	x := rec.Case().Exchanges[0]
	require.Equal(t, "https://api.example.com/v1/chat/completions?alt=sse&key=SCRUBBED", x.Request.URL)
	require.Equal(t,
		"data: you sent SCRUBBED as SCRUBBED from SCRUBBED with SCRUBBED and SCRUBBED and SCRUBBED and SCRUBBED\n\n",
		x.Response.Body)
	require.Equal(t, map[string]string{"content-type": "text/event-stream", "x-request-id": "r-SCRUBBED"},
		x.Response.Headers)
}

func TestASecretLearnedLateIsTakenOutOfWhatWasRecordedEarly(t *testing.T) {
	rec := Record(filepath.Join(t.TempDir(), "c.json"),
		RecordConfig{Next: answering(200, http.Header{}, strings.NewReader("the key is late-key-123"))})
	send(t, rec, "https://api.example.com/", "")
	send(t, rec, "https://api.example.com/", "", "X-Api-Key", "late-key-123")
	require.Equal(t, "the key is SCRUBBED", rec.Case().Exchanges[0].Response.Body)
}

func TestAnExchangeThatWasLeftEarlyIsRecordedAsFarAsItCame(t *testing.T) {
	live := Replay(t, storyCase(), SplitAt(9), HangAt(9))
	rec := Record(filepath.Join(t.TempDir(), "c.json"), RecordConfig{Next: live.Client().Transport})
	client := &http.Client{Transport: rec}
	res, err := client.Get(live.URL)
	require.NoError(t, err)
	buf := make([]byte, 9)
	_, err = io.ReadFull(res.Body, buf) // comes through although the rest never does
	require.NoError(t, err)
	require.Empty(t, rec.Case().Exchanges)
	require.NoError(t, res.Body.Close())
	require.NoError(t, res.Body.Close())
	require.NoError(t, live.Wait(t.Context()))
	x := rec.Case().Exchanges
	require.Len(t, x, 1)
	require.Equal(t, story[:9], x[0].Response.Body)
	require.Equal(t, []string{"the client closed the body after 9 bytes, before its end was read"}, x[0].Notes)
	client.CloseIdleConnections()
}

func TestABodyThatBreaksOffIsRecordedWithANote(t *testing.T) {
	live := Replay(t, storyCase(), CutAt(5))
	rec := Record(filepath.Join(t.TempDir(), "c.json"), RecordConfig{Next: live.Client().Transport})
	res, err := (&http.Client{Transport: rec}).Get(live.URL)
	require.NoError(t, err)
	_, err = io.ReadAll(res.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, res.Body.Close())
	require.Equal(t, story[:5], rec.Case().Exchanges[0].Response.Body)
	require.Equal(t, []string{"the body broke off after 5 bytes: unexpected EOF"}, rec.Case().Exchanges[0].Notes)
}

func TestCompressedBodiesAreRecordedPlain(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := io.WriteString(w, `{"key":"k-0123456789"}`)
	require.NoError(t, errors.Join(err, w.Close()))
	next := answering(200, http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"application/json"}}, &packed)
	rec := Record(filepath.Join(t.TempDir(), "c.json"), RecordConfig{Next: next})
	send(t, rec, "https://api.example.com/", "", "Authorization", "k-0123456789")
	require.Equal(t, `{"key":"SCRUBBED"}`, rec.Case().Exchanges[0].Response.Body)

	next = answering(200, http.Header{"Content-Encoding": {"br"}}, strings.NewReader("squeezed k-0123456789"))
	rec = Record(filepath.Join(t.TempDir(), "c.json"), RecordConfig{Next: next})
	send(t, rec, "https://api.example.com/", "")
	require.Empty(t, rec.Case().Exchanges[0].Response.Body)
	require.Equal(t, []string{`the body was left out: its encoding "br" can't be undone here`},
		rec.Case().Exchanges[0].Notes)
}

func TestRequestsWithoutAnAnswerAreNotRecorded(t *testing.T) {
	broken := errors.New("no route")
	rec := Record(filepath.Join(t.TempDir(), "c.json"),
		RecordConfig{Next: transport(func(*http.Request) (*http.Response, error) { return nil, broken })})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.example.com/", nil)
	require.NoError(t, err)
	_, err = rec.RoundTrip(req)
	require.ErrorIs(t, err, broken)
	require.Empty(t, rec.Case().Exchanges)
}

func TestAFileThatCannotBeWrittenIsNoErrorOfTheExchange(t *testing.T) {
	rec := Record("/dev/null/x.json", RecordConfig{Next: answering(200, http.Header{}, strings.NewReader("fine"))})
	require.Equal(t, "fine", send(t, rec, "https://api.example.com/", ""))
	require.ErrorContains(t, rec.Err(), "providertest: writing a case")
}

func TestExchangesAtOnceAreRecordedInTheOrderOfTheirRequests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	live := Replay(t, storyCase(), SplitRandom(1), Loop())
	rec := Record(path, RecordConfig{Next: live.Client().Transport})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, live.URL,
				strings.NewReader(`{"model":"m"}`))
			if err != nil {
				panic(err)
			}
			res, err := rec.RoundTrip(req)
			if err != nil {
				panic(err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			_ = rec.Case()
		})
	}
	wg.Wait()
	require.NoError(t, rec.Err())
	c, err := ReadCase(path)
	require.NoError(t, err)
	require.Len(t, c.Exchanges, 8)
	for _, x := range c.Exchanges {
		require.Equal(t, story, x.Response.Body)
		require.True(t, json.Valid([]byte(x.Request.Body)))
	}
}

func TestTheAddressTellsTheFormat(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/messages": "anthropic-messages", "/v1/chat/completions": "openai-chat",
		"/v1/responses": "openai-responses",
		"/v1beta/models/gemini-x:streamGenerateContent": "gemini-generate-content", "/": "",
	} {
		rec := Record(filepath.Join(t.TempDir(), "c.json"),
			RecordConfig{Next: answering(200, http.Header{}, strings.NewReader(""))})
		send(t, rec, "https://api.example.com"+path, "")
		require.Equal(t, want, rec.Case().Wire)
		if want == "gemini-generate-content" {
			require.Equal(t, "gemini-x", rec.Case().Model)
		}
	}
}
