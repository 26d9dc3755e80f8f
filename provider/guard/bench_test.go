package guard_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

// words answers with n pieces of text and allocates nothing but its sequence.
type words int

func (n words) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	text, end := provider.Text("word "), end
	return func(yield func(provider.Chunk, error) bool) {
		if !yield(start, nil) {
			return
		}
		for range int(n) {
			if !yield(text, nil) {
				return
			}
		}
		yield(end, nil)
	}
}

var wordPrices = provider.Prices{Input: provider.USD, Output: provider.USD}

func (words) Info() provider.ModelInfo { return provider.ModelInfo{ID: "words", Prices: &wordPrices} }

func drain(b testing.TB, p provider.Provider) {
	for _, err := range p.Stream(context.Background(), ask) {
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCall compares a guarded call with a bare one.
func BenchmarkCall(b *testing.B) {
	for _, n := range []int{1, 1000} {
		var p provider.Provider = words(n)
		g := newGuard(b, p, guard.Config{})
		for name, p := range map[string]provider.Provider{"bare": p, "guarded": g} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					drain(b, p)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n+2), "ns/chunk")
			})
		}
	}
}

// BenchmarkHeld reports what a guarded call that is held open in mid-stream costs, its goroutine
// included.
func BenchmarkHeld(b *testing.B) {
	const held = 2000
	for b.Loop() {
		g := newGuard(b, words(2), guard.Config{})
		before := inUse()
		leave := make(chan struct{})
		var ready, done sync.WaitGroup
		for range held {
			ready.Add(1)
			done.Go(func() {
				first := true
				for range g.Stream(context.Background(), ask) {
					if first {
						first = false
						ready.Done()
						<-leave
					}
				}
			})
		}
		ready.Wait()
		b.ReportMetric(float64(inUse()-before)/held, "B/call")
		close(leave)
		done.Wait()
	}
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

func TestAGuardedCallAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	allocs := func(p provider.Provider) float64 {
		return testing.AllocsPerRun(200, func() { drain(t, p) })
	}
	for _, n := range []int{1, 1000} {
		bare := allocs(words(n))
		guarded := allocs(newGuard(t, words(n), guard.Config{}))
		require.LessOrEqual(t, guarded-bare, 10.0, "%d chunks", n)
	}
}

// BenchmarkAbandonable measures what the wrapper costs for each chunk.
func BenchmarkAbandonable(b *testing.B) {
	const n = 1000
	for name, p := range map[string]provider.Provider{"bare": words(n),
		"abandonable": guard.Abandonable(words(n), guard.AbandonConfig{})} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				drain(b, p)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n+2), "ns/chunk")
		})
	}
}

func TestAChunkOfAnAbandonableProviderAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	few := testing.AllocsPerRun(50, func() { drain(t, guard.Abandonable(words(1), guard.AbandonConfig{})) })
	many := testing.AllocsPerRun(50, func() { drain(t, guard.Abandonable(words(1000), guard.AbandonConfig{})) })
	require.InDelta(t, few, many, 1)
}
