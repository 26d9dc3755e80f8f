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
		out = append(out, step(fmt.Sprint(i), "look", fmt.Sprintf(`{"n":%d}`, i%500),
			strings.Repeat("some words of a result, ", 30))...)
	}
	return out
}

// grow calls step with a conversation that grows by two messages each time, from n to n + 1,000;
// then begin starts over.
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

// BenchmarkCountStep counts a step of two messages more, of a conversation of 1,000 and of 10,000
// messages.
func BenchmarkCountStep(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := memory.NewMeter(nil)
			count := func(messages []provider.Message) { m.Count(&provider.Request{Messages: messages}) }
			grow(b, n, count, count)
		})
	}
}

// BenchmarkPrepare prepares a step of two messages more, when nothing is due: of a conversation of
// 1,000 and of 10,000 messages; with rules for subgoals and phases and a finder; with context,
// which goes into a message far back; of messages that are copied for each step; and with what a
// provider counted learned after each.
func BenchmarkPrepare(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
		cfg  memory.Config
		more memory.Context
		copy bool
	}{
		{"1000", 1_000, memory.Config{}, memory.Context{}, false},
		{"10000", 10_000, memory.Config{}, memory.Context{}, false},
		{"10000 subgoals", 10_000, memory.Config{Subgoals: subgoals,
			Rules: []memory.Rule{{When: memory.OnSubgoal()}, {When: memory.OnPhase()}, {When: memory.AtShare(.7)}}},
			memory.Context{}, false},
		{"10000 context", 10_000, memory.Config{}, memory.Context{User: "ann", Screen: strings.Repeat("button ", 100)},
			false},
		{"10000 copied", 10_000, memory.Config{}, memory.Context{}, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.cfg.Window.Size = 100_000_000
			comp, err := memory.New(c.cfg)
			if err != nil {
				b.Fatal(err)
			}
			prepare := func(messages []provider.Message) {
				if c.copy {
					messages = append([]provider.Message(nil), messages...)
				}
				p, err := comp.Prepare(b.Context(), &provider.Request{Messages: messages}, c.more)
				if err != nil {
					b.Fatal(err)
				}
				comp.Meter().Learn(p.Count.Total)
			}
			grow(b, c.n, prepare, prepare)
		})
	}
}

// BenchmarkCompact compacts 10,000 messages by the default steps without a model, by the strategies
// that look at texts, and with subgoals: 1,600 of them, half of which are within others. The
// messages have been counted before.
func BenchmarkCompact(b *testing.B) {
	var parts []provider.Message
	for i := 0; len(parts) < 10_000; i++ {
		if parts == nil {
			parts = append(parts, provider.User("the goal"))
		}
		name := fmt.Sprint(i)
		parts = append(parts, step("b"+name, "begin", `{"name":"g`+name+`"}`, "ok")...)
		if i%2 == 1 {
			parts = append(parts, step("d"+name, "done", `{"facts":["the id is `+name+`"]}`, "ok")...)
			parts = append(parts, step("e"+name, "done", `{"summary":"it stands"}`, "ok")...)
		}
		for k := range 4 {
			parts = append(parts, step(fmt.Sprint(name, "-", k), "look", fmt.Sprint(i, k),
				strings.Repeat("some words of a result, ", 30))...)
		}
	}
	for _, c := range []struct {
		name     string
		messages []provider.Message
		cfg      memory.Config
		steps    []memory.Step
	}{
		{"default", session(10_000), memory.Config{}, nil},
		{"relevance", session(10_000), memory.Config{}, []memory.Step{{Strategy: memory.Relevance{}}}},
		{"importance", session(10_000), memory.Config{}, []memory.Step{{Strategy: memory.Importance{}}}},
		{"subgoals", parts, memory.Config{Subgoals: subgoals}, nil},
		{"subgoals slide", parts, memory.Config{Subgoals: subgoals}, []memory.Step{{Strategy: memory.Slide{}}}},
		{"no steps", session(10_000), memory.Config{}, []memory.Step{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.cfg.Window, c.cfg.Store = memory.Window{Size: 100_000_000}, &memory.MapStore{}
			comp, err := memory.New(c.cfg)
			if err != nil {
				b.Fatal(err)
			}
			req := &provider.Request{Messages: c.messages}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				comp.Meter().Count(req)
				b.StartTimer()
				if _, err := comp.Compact(b.Context(), req, memory.Context{}, 100_000, c.steps); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSqueeze brings 10,000 messages within a window that holds a hundredth of them, without
// any step.
func BenchmarkSqueeze(b *testing.B) {
	comp, err := memory.New(memory.Config{Window: memory.Window{Size: 20_000}, Rules: []memory.Rule{},
		Steps: []memory.Step{}})
	if err != nil {
		b.Fatal(err)
	}
	req := &provider.Request{Messages: session(10_000)}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		comp.Meter().Count(req)
		b.StartTimer()
		if _, err := comp.Prepare(b.Context(), req, memory.Context{}); err != nil {
			b.Fatal(err)
		}
	}
}
