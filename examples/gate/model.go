package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// What the providers charge for a million tokens. The backup is more expensive.
var (
	primaryPrices = prices(3, 15)
	backupPrices  = prices(5, 25)
)

func prices(in, out provider.Money) provider.Prices {
	in *= provider.USD
	return provider.Prices{Input: in, Output: out * provider.USD, CacheRead: in, CacheWrite: in}
}

// A model is a simulated provider. It limits requests per minute, writes a number of tokens per
// second, and fails at certain hours. How long an answer takes depends only on the call, so that
// both sides get the same answers. It counts what it bills, also for answers that were cut off. It
// is safe for concurrent use.
type model struct {
	// fixed at creation
	name      string
	plan      *plan
	born      time.Time
	slots     int     // calls that its users make at a time
	perMinute float64 // requests
	speed     float64 // tokens a second
	prices    provider.Prices
	fails     bool // in the plan's outage and squeeze

	mu                      sync.Mutex     // guards what follows
	level                   float64        // requests that may come at once
	at                      time.Time      // the time of level
	requests, refused, down int            // all that came in, 429s, 529s
	billed, audit           provider.Money // for all, and for the job that runs away
}

// models returns the two providers of a side.
func (p *plan) models() (primary, backup *model) {
	now := time.Now()
	return &model{name: "primary", plan: p, born: now, slots: 8, perMinute: 80, level: 80, at: now, speed: 60,
			prices: primaryPrices, fails: true},
		&model{name: "backup", plan: p, born: now, slots: 4, perMinute: 40, level: 40, at: now, speed: 45,
			prices: backupPrices}
}

// Info names the model and its prices.
func (m *model) Info() provider.ModelInfo {
	return provider.ModelInfo{Provider: m.name, ID: m.name + "-1", Prices: &m.prices}
}

// EndsWithContext returns true.
func (m *model) EndsWithContext() bool { return true }

// Stream answers a request of a call.
func (m *model) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		id, _ := strconv.Atoi(req.Labels.Run)
		c := &m.plan.calls[id-1]
		if !pass(ctx, 5*time.Millisecond+m.chance("way", id, 20*time.Millisecond)) {
			yield(provider.Chunk{}, context.Cause(ctx))
			return
		}
		if after, err := m.admit(); err != nil {
			if !pass(ctx, after) {
				err = context.Cause(ctx)
			}
			yield(provider.Chunk{}, err)
			return
		}
		m.answer(ctx, c, yield)
	}
}

// admit accepts the request, or rejects it after a time, as a provider does.
func (m *model) admit() (after time.Duration, err error) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests++
	if m.fails && m.plan.outage.holds(now.Sub(m.born)) {
		m.down++
		return 300 * time.Millisecond,
			&provider.Error{Provider: m.name, Class: fault.Degraded, Status: 529, Type: "overloaded_error"}
	}
	rate := m.perMinute
	if m.fails && m.plan.squeeze.holds(now.Sub(m.born)) {
		rate /= 2
	}
	m.level = min(m.level+now.Sub(m.at).Minutes()*rate, rate)
	m.at = now
	if m.level < 1 {
		m.refused++
		wait := time.Duration(math.Ceil((rate/20-m.level)/rate*60)) * time.Second // until a twentieth is there
		return 40 * time.Millisecond, &provider.Error{Provider: m.name, Class: fault.RateLimited, Status: 429,
			Type: "rate_limit_error", Wait: &wait}
	}
	m.level--
	return 0, nil
}

// answer streams the answer in five pieces, and bills what was sent.
func (m *model) answer(ctx context.Context, c *call, yield func(provider.Chunk, error) bool) {
	used := provider.Usage{Input: c.input}
	defer func() {
		cost := m.prices.Cost(used)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.billed += cost
		if c.task == audit {
			m.audit += cost
		}
	}()
	if !pass(ctx, 350*time.Millisecond+m.chance("word", c.id, 900*time.Millisecond)) {
		yield(provider.Chunk{}, context.Cause(ctx))
		return
	}
	if !yield(provider.Start(m.name+"-1"), nil) {
		return
	}
	for i := range int64(5) {
		n := c.output*(i+1)/5 - c.output*i/5
		used.Output += n
		if !yield(provider.Text(text(n)), nil) {
			return
		}
		if !pass(ctx, time.Duration(float64(n)/m.speed*float64(time.Second))) {
			yield(provider.Chunk{}, context.Cause(ctx))
			return
		}
	}
	yield(provider.End(provider.StopDone, used), nil)
}

// chance returns a time up to most that depends only on the call. No two are equal, so calls that
// wake at the same moment have a fixed order.
func (m *model) chance(of string, id int, most time.Duration) time.Duration {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%s/%d/%d", m.name, of, m.plan.seed, id)
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(id)))
	return time.Duration(r.Int64N(int64(most)))
}

// pass waits, and reports false if ctx ended first.
func pass(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

var filler = strings.Repeat("so much text, ", 40_000/14)

// text returns a text of so many tokens, of four bytes each.
func text(tokens int64) string { return filler[:min(tokens*4, int64(len(filler)))] }
