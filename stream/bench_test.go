package stream_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream"
)

var limits = stream.Timeouts{First: time.Minute, Idle: time.Minute, Total: time.Hour}

// wrappers are functions that a chunk can pass through.
var wrappers = []struct {
	name  string
	calls float64 // most objects per call
	wrap  func(seq stream.Seq) stream.Seq
}{
	{"bare", 4, func(seq stream.Seq) stream.Seq { return seq }},
	{"Once", 6, stream.Once},
	{"Check", 7, stream.Check},
	{"Watchdog", 12, func(seq stream.Seq) stream.Seq { return watch(context.Background(), limits, fixed(seq)) }},
}

func drain(seq stream.Seq) (n int) {
	for range seq {
		n++
	}
	return n
}

// BenchmarkChunk measures the cost of a chunk in each wrapper, including the producer and the
// consumer: compare with bare.
func BenchmarkChunk(b *testing.B) {
	const n = 1000
	for _, w := range wrappers {
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				drain(w.wrap(words(n)))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n+2), "ns/chunk")
		})
	}
}

func TestNoWrapperAllocatesPerChunk(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, w := range wrappers {
		allocs := func(n int) float64 {
			return testing.AllocsPerRun(50, func() { drain(w.wrap(words(n))) })
		}
		few, many := allocs(500), allocs(2500)
		require.LessOrEqual(t, few, w.calls, w.name)
		require.LessOrEqual(t, many, few, w.name)
	}
}
