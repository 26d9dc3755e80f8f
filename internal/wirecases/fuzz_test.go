package wirecases

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// An answering transport answers each request with the same body.
type answering []byte

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(a))}, nil
}

// fuzz tries what an adapter makes of bodies that begin as those of the cases: it returns an answer
// that is complete, whose calls have names, or an error, and doesn't panic.
func fuzz(f *testing.F, name string) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(f, err)
	seeds := 0
	for _, path := range files {
		if c := read(f, path); c.api == name && c.answer != "" {
			_, body, _ := strings.Cut(c.answer, "\n\n")
			f.Add([]byte(body))
			seeds++
		}
	}
	require.NotZero(f, seeds)
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := apis[name].open("http://127.0.0.1", &http.Client{Transport: answering(body)})
		require.NoError(t, err)
		res, err := provider.Generate(t.Context(), p, &provider.Request{MaxOutput: 1024,
			Messages: []provider.Message{provider.User("Hello.")}, Tools: []provider.Tool{{Name: "weather"}}})
		if err != nil {
			return
		}
		require.True(t, res.Complete)
		called := false
		for i := range res.Parts {
			if call := res.Parts[i].Call; call != nil { // of the host's tools or of the provider's
				called = true
				require.True(t, call.Name != "" || res.Parts[i].Kind == provider.PartProviderCall)
			}
		}
		require.True(t, called || res.Stop != provider.StopToolCalls, "calls were announced, and none came")
	})
}

func FuzzChat(f *testing.F)      { fuzz(f, "chat") }
func FuzzResponses(f *testing.F) { fuzz(f, "responses") }
func FuzzClaude(f *testing.F)    { fuzz(f, "claude") }
func FuzzGemini(f *testing.F)    { fuzz(f, "gemini") }
