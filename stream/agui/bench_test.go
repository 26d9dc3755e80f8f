package agui_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/agui"
)

// BenchmarkWriter measures a delta of a text, with few and with many messages before it.
func BenchmarkWriter(b *testing.B) {
	for _, messages := range []int{1, 1000} {
		b.Run(fmt.Sprintf("%d messages", messages), func(b *testing.B) {
			w := agui.NewWriter(func([]byte) error { return nil })
			require.NoError(b, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"}))
			for i := range messages {
				require.NoError(b, w.Write(agui.TextMessageChunk{MessageID: fmt.Sprint("m", i)}))
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Write(agui.TextMessageChunk{MessageID: "m0", Delta: " and so on"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkParseRunInput reads a conversation of 500 messages.
func BenchmarkParseRunInput(b *testing.B) {
	data := []byte(input(`"messages":` +
		repeat(`{"id":"m","role":"user","content":"`+strings.Repeat("word ", 40)+`"}`, 500)))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agui.ParseRunInput(data); err != nil {
			b.Fatal(err)
		}
	}
}
