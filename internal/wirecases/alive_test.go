package wirecases

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/stream"
)

// A thinking transport answers each request with pings, one each 20 s, and then with an answer.
type thinking struct {
	ping, done string
	thought    time.Duration
}

func (th thinking) RoundTrip(r *http.Request) (*http.Response, error) {
	out, in := io.Pipe()
	go func() {
		for range th.thought / (20 * time.Second) {
			select {
			case <-time.After(20 * time.Second):
			case <-r.Context().Done():
				in.CloseWithError(context.Cause(r.Context()))
				return
			}
			if _, err := io.WriteString(in, th.ping); err != nil {
				return
			}
		}
		_, _ = io.WriteString(in, th.done)
		in.Close()
	}()
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: out}, nil
}

// A model that thinks for minutes without showing it isn't silent while its server sends pings,
// comments or events without content; but not for ever.
func TestPingsAreSignsOfLife(t *testing.T) {
	ends := map[string]string{
		"chat": "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Bye.\"},\"finish_reason\":\"stop\"}]}\n\n",
		"responses": "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":" +
			"[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"Bye.\"}]}]}}\n\n",
		"claude": "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Bye.\"}}\n\n" +
			"data: {\"type\":\"message_stop\"}\n\n",
		"gemini": "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Bye.\"}]},\"finishReason\":\"STOP\"}]}\n\n",
	}
	for api, pings := range map[string][]string{
		"chat": {": OPENROUTER PROCESSING\n\n", "data: {\"choices\":[]}\n\n",
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"},
		"responses": {"event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":3}\n\n", ":\n\n",
			"event: response.in_progress\ndata: {\"type\":\"response.in_progress\",\"response\":{\"id\":\"r\"}}\n\n"},
		"claude": {"event: ping\ndata: {\"type\": \"ping\"}\n\n", ": ping\n\n"},
		"gemini": {": ping\n\n", "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}]}}]}\n\n"},
	} {
		for _, ping := range pings {
			call := func(t *testing.T, thought time.Duration) (*provider.Response, error) {
				p, err := apis[api].open("http://127.0.0.1",
					&http.Client{Transport: thinking{ping, ends[api], thought}})
				require.NoError(t, err)
				g, err := guard.New(p, guard.Config{Retry: map[fault.Class]fault.Retry{fault.Transient: {Attempts: 1}}})
				require.NoError(t, err)
				return provider.Generate(t.Context(), g, &provider.Request{MaxOutput: 1024,
					Messages: []provider.Message{provider.User("Hello.")}})
			}
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				res, err := call(t, 9*time.Minute)
				require.NoError(t, err, "%s %q", api, ping)
				require.Equal(t, "Bye.", res.Text())
				require.Equal(t, 9*time.Minute, time.Since(began))

				began = time.Now()
				_, err = call(t, time.Hour)
				var late *stream.TimeoutError
				require.ErrorAs(t, err, &late, "%s %q", api, ping)
				require.Equal(t, stream.TimeoutAlive, late.Kind, "%s %q", api, ping)
				require.Less(t, time.Since(began), 12*time.Minute)
			})
		}
	}
}
