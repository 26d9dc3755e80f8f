package circuit_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

var errDown = fault.New(fault.Degraded, "down")

// never is a configuration that never opens by itself, but counts like the others.
func never() circuit.Config {
	return circuit.Config{Consecutive: 10_000, Rate: 1, Window: 20}
}

// calls are the most frequent calls of a breaker. Each function returns one round.
var calls = []struct {
	name  string
	round func(b *circuit.Breaker) func()
}{
	{"clean", func(b *circuit.Breaker) func() {
		return func() {
			p, _ := b.Allow()
			p.Done(nil)
		}
	}},
	{"one of ten fails", func(b *circuit.Breaker) func() {
		n := 0
		return func() {
			p, _ := b.Allow()
			if n++; n%10 == 0 {
				p.Done(errDown)
			} else {
				p.Done(nil)
			}
		}
	}},
	{"canceled", func(b *circuit.Breaker) func() {
		return func() {
			p, _ := b.Allow()
			p.Done(context.Canceled)
		}
	}},
	{"Do", func(b *circuit.Breaker) func() {
		fn := func(context.Context) (int, error) { return 1, nil }
		return func() { _, _ = circuit.Do(context.Background(), b, fn) }
	}},
	{"Ready", func(b *circuit.Breaker) func() {
		return func() { _ = b.Ready() }
	}},
}

func BenchmarkBreaker(b *testing.B) {
	for _, c := range calls {
		b.Run(c.name, func(b *testing.B) {
			round := c.round(circuit.New("bench", never()))
			b.ReportAllocs()
			for b.Loop() {
				round()
			}
		})
		b.Run(c.name+", parallel", func(b *testing.B) {
			breaker := circuit.New("bench", never())
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				round := c.round(breaker)
				for pb.Next() {
					round()
				}
			})
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	breaker := circuit.New("bench", circuit.Config{Consecutive: 1})
	p, _ := breaker.Allow()
	p.Done(errDown)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := breaker.Allow(); err == nil {
			b.Fatal(errors.New("an open breaker lets a call pass"))
		}
	}
}

func BenchmarkSetGet(b *testing.B) {
	set := circuit.NewSet(circuit.Network())
	set.Get("network:cms")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			set.Get("network:cms")
		}
	})
}

func BenchmarkSetGetNewInAFullSet(b *testing.B) {
	set := circuit.NewSet(circuit.Network())
	for i := range most {
		set.Get(strconv.Itoa(-i))
	}
	keys := make([]string, 3*most)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		set.Get(keys[i%len(keys)])
	}
}
