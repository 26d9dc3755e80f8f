package anthropic_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

// long returns an answer of n pieces of text.
func long(n int) []byte {
	var b bytes.Buffer
	b.WriteString(
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\"," +
			"\"model\":\"claude-test\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n")
	for i := range n {
		fmt.Fprintf(&b,
			"event: content_block_delta\ndata: "+
				"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"piece %d of it \"}%s}\n\n",
			i, strings.Repeat(" ", i%16))
	}
	b.WriteString("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":9}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	return b.Bytes()
}

var lengths = []int{100, 10_000}

// BenchmarkDecode measures the cost of a chunk, and that of the bare SDK.
func BenchmarkDecode(b *testing.B) {
	for _, n := range lengths {
		body := long(n)
		client := &http.Client{Transport: rewound(body)}
		perChunk := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/chunk")
		}
		b.Run(fmt.Sprintf("adapter/%d", n), func(b *testing.B) {
			m, err := anthropic.New(anthropic.Config{APIKey: "k", HTTPClient: client})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range m.Stream(b.Context(), ask("x")) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			perChunk(b)
		})
	}
}

// A rewound answers every request with that body, and stores nothing.
type rewound []byte

func (r rewound) RoundTrip(req *http.Request) (*http.Response, error) {
	res := wire.Reply(200, bytes.NewReader(r), "Content-Type", "text/event-stream")
	res.Request = req
	return res, nil
}
