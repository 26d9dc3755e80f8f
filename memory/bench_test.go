package memory_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// session is a conversation of n messages of some 100 tokens.
func session(n int) []provider.Message {
	out := []provider.Message{provider.User("the goal")}
	for i := 0; len(out) < n; i++ {
		out = append(out, step(fmt.Sprint(i), "look", fmt.Sprintf(`{"n":%d}`, i%500), strings.Repeat("some words of a result, ", 30))...)
	}
	return out
}

// grow calls step with a conversation that grows by two messages each time, from n to n + 1,000; then begin starts over.
func grow(b *testing.B, n int, begin, step func([]provider.Message)) {
	all := session(n + 1_000)
	at := len(all)
	b.ReportAllocs()
	for b.Loop() {
		if at += 2; at > len(all) {
			b.StopTimer()
			at = n
			begin(all[:at])
			at += 2
			b.StartTimer()
		}
		step(all[:at])
	}
}

// BenchmarkCountStep counts a step of two messages more, of a conversation of 1,000 and of 10,000 messages.
func BenchmarkCountStep(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := memory.NewMeter(nil)
			count := func(messages []provider.Message) { m.Count(&provider.Request{Messages: messages}) }
			grow(b, n, count, count)
		})
	}
}

// BenchmarkPrepare prepares a step of two messages more, when nothing is due.
func BenchmarkPrepare(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c, err := memory.New(memory.Config{Window: memory.Window{Size: 100_000_000}})
			if err != nil {
				b.Fatal(err)
			}
			prepare := func(messages []provider.Message) {
				if _, err := c.Prepare(b.Context(), &provider.Request{Messages: messages}, memory.Context{}); err != nil {
					b.Fatal(err)
				}
			}
			grow(b, n, prepare, prepare)
		})
	}
}

// BenchmarkCompact compacts 10,000 messages by the default steps without a model, and by the strategies that look at texts.
// The messages have been counted before.
func BenchmarkCompact(b *testing.B) {
	all := session(10_000)
	for name, steps := range map[string][]memory.Step{
		"default": nil, "relevance": {{Strategy: memory.Relevance{}}}, "importance": {{Strategy: memory.Importance{}}},
	} {
		b.Run(name, func(b *testing.B) {
			c, err := memory.New(memory.Config{Window: memory.Window{Size: 100_000_000}, Store: &memory.MapStore{}})
			if err != nil {
				b.Fatal(err)
			}
			req := &provider.Request{Messages: all}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				c.Meter().Count(req)
				b.StartTimer()
				if _, err := c.Compact(b.Context(), req, 100_000, steps); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
