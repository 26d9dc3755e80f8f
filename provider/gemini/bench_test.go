package gemini_test

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

// long returns an answer of n pieces.
func long(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		finish := ""
		if i == n-1 {
			finish = `"finishReason": "STOP",`
		}
		fmt.Fprintf(&b,
			`data: {"candidates": [{"content": {"parts": [{"text": "some words, number %d"}],"role": "model"},%s"index": 0}],`+
				`"usageMetadata": {"promptTokenCount": 231,"candidatesTokenCount": %d,"totalTokenCount": %d,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 231}]},`+
				`"modelVersion": "gemini-2.5-flash","responseId": "MJnyaJjVAfmLqtsP2Mf"}`+"\r\n\r\n", i, finish, i,
			i+231)
	}
	return b.Bytes()
}

func answering(body []byte) *http.Client {
	return &http.Client{Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
		res := wire.Reply(200, bytes.NewReader(body), "Content-Type", "text/event-stream")
		res.Request = req
		return res, nil
	})}
}

// BenchmarkAnswer compares the decoding of an answer with that of the bare SDK: go test -bench
// Answer ./provider/gemini.
func BenchmarkAnswer(b *testing.B) {
	for _, n := range []int{10, 1000} {
		body := long(n)
		b.Run(fmt.Sprintf("adapter/%d", n), func(b *testing.B) {
			m, err := gemini.New(gemini.Config{APIKey: "k", HTTPClient: answering(body)})
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				chunks := 0
				for _, err := range m.Stream(b.Context(), ask("hello")) {
					if err != nil {
						b.Fatal(err)
					}
					chunks++
				}
				if chunks != n+2 {
					b.Fatal(chunks)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/chunk")
		})
	}
}

func TestAPieceCostsTheSameInALongAnswer(t *testing.T) {
	allocs := func(n int) float64 {
		m, err := gemini.New(gemini.Config{APIKey: "k", HTTPClient: answering(long(n))})
		require.NoError(t, err)
		return testing.AllocsPerRun(5, func() {
			for _, err := range m.Stream(t.Context(), ask("hello")) {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	short, more := allocs(200), allocs(2200)
	require.Less(t, (more-short)/2000, 1.1*short/200)
}
