package provider_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

// sink keeps a result, so that the compiler can't leave out what made it.
var sink *provider.Response

func BenchmarkCollectorPerTextChunk(b *testing.B) {
	var c provider.Collector
	start, text := provider.Start("m"), provider.Text("word ")
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%1000 == 0 { // an answer of 5 kB
			c.Reset()
			if err := c.Add(start); err != nil {
				b.Fatal(err)
			}
		}
		if err := c.Add(text); err != nil {
			b.Fatal(err)
		}
	}
}

var callReply = []provider.Chunk{
	provider.Start("m"),
	provider.ToolStart(0, "id-1", "weather"),
	provider.ToolDelta(0, `{"city":`),
	provider.ToolDelta(0, `"Oslo"}`),
	provider.ToolEnd(0),
	provider.End(provider.StopToolCalls, provider.Usage{Input: 10, Output: 5}),
}

func BenchmarkNormalizeArguments(b *testing.B) {
	for _, in := range []string{`{"a":1,"b":2}`, `{"path":"a/b.go","text":"` +
		strings.Repeat(`line of a file that is written\n`, 300) + `"}`} {
		b.Run(strconv.Itoa(len(in)), func(b *testing.B) {
			parts := []provider.Part{{Kind: provider.PartToolCall,
				Call: &provider.ToolCall{Input: json.RawMessage(in)}}}
			b.ReportAllocs()
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				provider.Normalize(parts)
			}
		})
	}
}

func BenchmarkCollectorOneCall(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var c provider.Collector
		for _, chunk := range callReply {
			if err := c.Add(chunk); err != nil {
				b.Fatal(err)
			}
		}
		sink = c.Response()
	}
}

func TestAChunkIsSmall(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(provider.Chunk{}), uintptr(64))
}

func TestCollectingCostsFewAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var c provider.Collector
	answer := func(chunks int) func() {
		return func() {
			c.Reset()
			_ = c.Add(provider.Start("m"))
			for range chunks {
				_ = c.Add(provider.Text("word "))
			}
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, answer(1)))
	require.LessOrEqual(t, testing.AllocsPerRun(100, answer(1000)), 12.0,
		"the text doubles its room, and nothing else grows")

	_ = c.Add(provider.Reasoning("Hm."))
	room := testing.AllocsPerRun(10_000, func() { _ = c.Add(provider.Reasoning("x")) })
	require.Zero(t, room, "amortised")

	call := testing.AllocsPerRun(100, func() {
		c.Reset()
		for _, chunk := range callReply {
			_ = c.Add(chunk)
		}
		sink = c.Response()
	})
	require.LessOrEqual(t, call, 7.0) // buffer of the arguments, Response, Parts, ToolCall, compact JSON
}
