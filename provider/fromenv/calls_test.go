package fromenv_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
)

// A loopback answers every call with what a provider has answered, or with a status.
type loopback struct {
	*httptest.Server
	status int

	mu    sync.Mutex // guards what follows
	asked []string   // method and path, the headers with a key, and the model
}

func serve(t *testing.T, answer string, status int) *loopback {
	t.Helper()
	body := []byte(answer)
	if strings.HasPrefix(answer, "../") {
		var err error
		body, err = os.ReadFile(answer)
		require.NoError(t, err)
	}
	l := &loopback{status: status}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header
		l.mu.Lock()
		l.asked = append(l.asked, strings.TrimSpace(fmt.Sprint(r.URL.Path, " ", h.Get("X-Api-Key"),
			h.Get("Authorization"), h.Get("X-Goog-Api-Key"), " ", h.Get("X-Title"))))
		l.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		if strings.HasPrefix(answer, "{") {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(l.status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(l.Close)
	return l
}

const said = `data: {"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}

data: [DONE]

`

var hello = &provider.Request{Messages: []provider.Message{provider.User("hello")}}

func TestEachProviderIsCalledAsTheEnvironmentSays(t *testing.T) {
	for _, tc := range []struct {
		address, answer string
		set             vars
		asked           string
	}{
		{"ANTHROPIC_BASE_URL", "../anthropic/testdata/hello.sse",
			vars{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "m"}, "/v1/messages k"},
		{"ANTHROPIC_BASE_URL", "../anthropic/testdata/hello.sse",
			vars{"ANTHROPIC_AUTH_TOKEN": "k", "ANTHROPIC_MODEL": "m"}, "/v1/messages Bearer k"},
		{"OPENAI_BASE_URL", said, vars{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "m"}, "/chat/completions Bearer k"},
		{"OPENAI_BASE_URL", said, vars{"OPENAI_MODEL": "m"}, "/chat/completions"},
		{"GOOGLE_GEMINI_BASE_URL", "../gemini/testdata/hello.sse", vars{"GEMINI_API_KEY": "k", "GEMINI_MODEL": "m"},
			"/v1beta/models/m:streamGenerateContent k"},
		{"OPENROUTER_BASE_URL", said, vars{"OPENROUTER_API_KEY": "k", "OPENROUTER_MODEL": "m",
			"OPENROUTER_HEADERS": "X-Title: My site"}, "/chat/completions Bearer k My site"},
		{"OLLAMA_HOST", said, vars{"OLLAMA_MODEL": "m"}, "/v1/chat/completions"},
	} {
		t.Run(fmt.Sprint(tc.set), func(t *testing.T) {
			l := serve(t, tc.answer, http.StatusOK)
			p, _, err := fromenv.From(tc.set.with(tc.address, l.URL).get)
			require.NoError(t, err)
			res, err := provider.Generate(t.Context(), p, hello)
			require.NoError(t, err)
			require.NotEmpty(t, res.Message().Parts)
			require.Equal(t, []string{tc.asked}, l.asked)
		})
	}
}

// What is limited is asked once, however many calls follow.
func TestAChainAsksTheNextAtOnceIfTheFirstIsRateLimited(t *testing.T) {
	limited := serve(t, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`,
		http.StatusTooManyRequests)
	free := serve(t, said, http.StatusOK)
	p, about, err := fromenv.From(vars{"ANTHROPIC_API_KEY": "a", "ANTHROPIC_MODEL": "m",
		"ANTHROPIC_BASE_URL": limited.URL, "OPENAI_MODEL": "n", "OPENAI_BASE_URL": free.URL}.get)
	require.NoError(t, err)
	require.Contains(t, about, ", then openai n at 127.0.0.1:")
	for range 3 {
		res, err := provider.Generate(t.Context(), p, hello)
		require.NoError(t, err)
		require.Equal(t, "hello", res.Text())
	}
	require.Len(t, limited.asked, 1)
	require.Len(t, free.asked, 3)
}

func TestImagesAreMadeByTheirModel(t *testing.T) {
	l := serve(t, `{"data":[{"b64_json":"AQI="}]}`, http.StatusOK)
	p, _, err := fromenv.ImagesFrom(vars{"OPENAI_BASE_URL": l.URL, "OPENAI_IMAGE_MODEL": "painter"}.get)
	require.NoError(t, err)
	res, err := provider.Generate(t.Context(), p, &provider.Request{Messages: hello.Messages,
		Images: &provider.ImageOptions{}})
	require.NoError(t, err)
	require.Len(t, res.Files(), 1)
	require.Equal(t, []string{"/images/generations"}, l.asked)
}
