package ratelimit_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawlkit/pawl/ratelimit"
)

var sent = ratelimit.Outcome{}

// BenchmarkUncontended measures a free slot, which is the cost of every call. bare is the context
// alone.
func BenchmarkUncontended(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		ctx := context.Background()
		b.ReportAllocs()
		for b.Loop() {
			_, cancel := context.WithCancelCause(ctx)
			cancel(nil)
		}
	})
	tickets := map[string]ratelimit.AcquireRequest{
		"interactive": {Interactive: true},
		"background":  {Session: "s"},
	}
	for _, lane := range []string{"interactive", "background"} {
		for name, cfg := range map[string]ratelimit.GateConfig{
			"": {}, "+rates": {RequestsPerMinute: 1e9, TokensPerMinute: 1e9},
		} {
			b.Run(lane+name, func(b *testing.B) {
				g := ratelimit.NewGate(cfg)
				ctx := context.Background()
				b.ReportAllocs()
				for b.Loop() {
					l, err := g.Acquire(ctx, tickets[lane])
					if err != nil {
						b.Fatal(err)
					}
					l.Release(sent)
				}
			})
		}
	}
}

// BenchmarkParallel measures many goroutines with a slot each.
func BenchmarkParallel(b *testing.B) {
	g := ratelimit.NewGate(ratelimit.GateConfig{Slots: 1000})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l, err := g.Acquire(context.Background(), ratelimit.AcquireRequest{Session: "s"})
			if err != nil {
				b.Error(err)
				return
			}
			l.Release(sent)
		}
	})
}

// A crowd is n goroutines of 100 sessions that wait for a gate without a free slot; each can be
// canceled separately.
type crowd struct {
	gate *ratelimit.Gate
	held ratelimit.Lease
	gone sync.WaitGroup
}

// gather starts n goroutines, and returns when all are in the queue.
func gather(b *testing.B, n int, ctx func(i int) context.Context) *crowd {
	c := &crowd{gate: ratelimit.NewGate(ratelimit.GateConfig{Slots: 1, Queue: n})}
	held, err := c.gate.Acquire(context.Background(), ratelimit.AcquireRequest{NoPreempt: true})
	if err != nil {
		b.Fatal(err)
	}
	c.held = held
	var queued sync.WaitGroup
	queued.Add(n)
	sessions := make([]string, 100)
	for i := range sessions {
		sessions[i] = fmt.Sprint("s-", i)
	}
	for i := range n {
		t := ratelimit.AcquireRequest{Priority: 20 + 20*(i%4), Session: sessions[i%len(sessions)]}
		t.OnWait = func(ratelimit.Delay) { queued.Done() }
		c.gone.Go(func() {
			l, err := c.gate.Acquire(ctx(i), t)
			if err == nil {
				l.Release(sent)
			}
		})
	}
	queued.Wait()
	return c
}

// best is the shortest of several times, so that other load on the machine affects it less.
type best time.Duration

func (b *best) note(d time.Duration) {
	if *b == 0 || d < time.Duration(*b) {
		*b = best(d)
	}
}

func (b best) report(t *testing.B, requests int) {
	t.ReportMetric(float64(b)/float64(requests), "ns/request")
}

// BenchmarkWaiting has 100,000 requests arrive, and then start one after the other or leave;
// ns/request is that of the best round. It includes the requests' goroutines and the switches
// between them: bare is their cost without a gate.
func BenchmarkWaiting(b *testing.B) {
	const n = 100_000
	background := func(int) context.Context { return context.Background() }
	b.Run("bare", func(b *testing.B) {
		var comes, goes best
		for b.Loop() {
			began := time.Now()
			var queued, gone sync.WaitGroup
			queued.Add(n)
			next := make(chan struct{})
			for range n {
				gone.Go(func() {
					queued.Done()
					<-next
				})
			}
			queued.Wait()
			comes.note(time.Since(began))
			began = time.Now()
			close(next)
			gone.Wait()
			goes.note(time.Since(began))
		}
		b.ReportMetric(float64(comes)/n, "ns/come")
		b.ReportMetric(float64(goes)/n, "ns/go")
	})
	b.Run("enqueue", func(b *testing.B) {
		var took best
		for b.Loop() {
			began := time.Now()
			c := gather(b, n, background)
			took.note(time.Since(began))
			c.gate.Close()
			c.held.Release(sent)
			c.gone.Wait()
		}
		took.report(b, n)
	})
	b.Run("dispatch", func(b *testing.B) {
		var took best
		for b.Loop() {
			c := gather(b, n, background)
			began := time.Now()
			c.held.Release(sent)
			c.gone.Wait()
			took.note(time.Since(began))
		}
		took.report(b, n)
	})
	b.Run("cancel", func(b *testing.B) {
		var took best
		for b.Loop() {
			cancels := make([]context.CancelFunc, n)
			contexts := make([]context.Context, n)
			for i := range n {
				contexts[i], cancels[i] = context.WithCancel(context.Background())
			}
			c := gather(b, n, func(i int) context.Context { return contexts[i] })
			began := time.Now()
			for _, cancel := range cancels {
				cancel()
			}
			c.gone.Wait()
			took.note(time.Since(began))
			c.held.Release(sent)
		}
		took.report(b, n)
	})
}

// BenchmarkPerson has 10,000 background requests wait. Calls end as soon as they are preempted. It
// measures how long an interactive request takes to start: with a reserved slot, and with every
// slot in use.
func BenchmarkPerson(b *testing.B) {
	for name, keep := range map[string]float64{"kept": 0.2, "preempting": -1} {
		b.Run(name, func(b *testing.B) {
			const n = 10_000
			g := ratelimit.NewGate(ratelimit.GateConfig{Slots: 8, Queue: n + 8, ReservedShare: keep})
			ctx, cancel := context.WithCancel(context.Background())
			var gone sync.WaitGroup
			var queued atomic.Int64
			all := make(chan struct{})
			for i := range n + 8 {
				t := ratelimit.AcquireRequest{Session: fmt.Sprint("s-", i%100)}
				t.OnWait = func(ratelimit.Delay) {
					if queued.Add(1) == n {
						close(all)
					}
				}
				gone.Go(func() {
					l, err := g.Acquire(ctx, t)
					for preempts := 1; err == nil; preempts++ {
						<-l.Context().Done()
						if preempts%3 != 0 {
							l, err = l.Requeue(ctx, sent)
							continue
						}
						l.Release(sent) // it can't be preempted any more, and would never end
						l, err = g.Acquire(ctx, t)
					}
				})
			}
			<-all
			var waits []time.Duration
			for b.Loop() {
				began := time.Now()
				l, err := g.Acquire(context.Background(), ratelimit.AcquireRequest{Interactive: true})
				waits = append(waits, time.Since(began))
				if err != nil {
					b.Fatal(err)
				}
				l.Release(sent)
			}
			slices.Sort(waits)
			b.ReportMetric(float64(waits[len(waits)/2].Nanoseconds())/1e3, "p50-µs")
			b.ReportMetric(float64(waits[len(waits)*99/100].Nanoseconds())/1e3, "p99-µs")
			cancel()
			gone.Wait()
		})
	}
}
