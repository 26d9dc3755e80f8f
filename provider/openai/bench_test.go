package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

// long returns a stream of n pieces of text.
func long(api API, n int) string {
	var b strings.Builder
	if api == Responses {
		b.WriteString(`data: {"type":"response.created","response":{"id":"resp_1","model":"m"}}` + "\n\n")
		for range n {
			b.WriteString(`event: response.output_text.delta` + "\n" +
				`data: {"type":"response.output_text.delta","content_index":0,"delta":" word","item_id":"msg_0123456789abcdef","logprobs":[],"obfuscation":"Fm7p3pIPFiVk7","output_index":0,"sequence_number":6}` + "\n\n")
		}
		b.WriteString(
			`data: {"type":"response.completed","response":{"id":"resp_1","model":"m","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1}}}` + "\n\n")
		return b.String()
	}
	for range n {
		b.WriteString(
			`data: {"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1715692262,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_e8236260a9","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"Fm7p3pIPFiVk7"}` + "\n\n")
	}
	b.WriteString(`data: {"id":"1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` +
		"\n\ndata: [DONE]\n\n")
	return b.String()
}

// A rewound serves a stream again for every request.
type rewound string

func (r rewound) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(r))), Request: req}, nil
}

// BenchmarkChunk measures the cost of a chunk, for short and long answers.
func BenchmarkChunk(b *testing.B) {
	for _, api := range []API{Chat, Responses} {
		for _, n := range []int{100, 10_000} {
			body := rewound(long(api, n))
			client := &http.Client{Transport: body}
			b.Run(fmt.Sprintf("%s/adapter/%d", api, n), func(b *testing.B) {
				m, err := New(Config{Model: "m", APIKey: "k", BaseURL: "http://example.com", API: api,
					HTTPClient: client})
				require.NoError(b, err)
				perChunk(b, n, func() int {
					chunks := 0
					for c, err := range m.Stream(context.Background(),
						&provider.Request{Messages: []provider.Message{provider.User("x")}}) {
						require.NoError(b, err)
						if c.Kind == provider.KindText {
							chunks++
						}
					}
					return chunks
				})
			})
		}
	}
}

func perChunk(b *testing.B, n int, call func() int) {
	b.ReportAllocs()
	for b.Loop() {
		if got := call(); got != n {
			b.Fatalf("%d chunks, not %d", got, n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/chunk")
}
