package day

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
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// What the providers charge for a million tokens. The backup is more expensive.
var (
	primaryPrices = provider.Prices{Input: 3 * provider.USD, Output: 15 * provider.USD, CacheRead: 3 * provider.USD,
		CacheWrite: 3 * provider.USD}
	backupPrices = provider.Prices{Input: 5 * provider.USD, Output: 25 * provider.USD, CacheRead: 5 * provider.USD,
		CacheWrite: 5 * provider.USD}
)

// A Model is a simulated provider. It limits requests per minute, writes a number of tokens per
// second, and fails at certain hours. How long an answer takes depends only on the call, so that
// both sides get the same answers. It counts what it bills, also for answers that were cut off. It
// is safe for concurrent use.
type Model struct {
	// fixed at creation
	name      string
	seed      uint64
	perMinute float64 // requests
	speed     float64 // tokens a second
	prices    provider.Prices
	plan      *Plan
	born      time.Time
	fails     bool // in the plan's outage and squeeze

	mu     sync.Mutex // guards what follows
	level  float64    // requests that may come at once
	at     time.Time  // the time of level
	counts Counts
}

// Counts are what a [Model] has seen.
type Counts struct {
	Requests int // all that came in
	Refused  int // with 429
	Down     int // with 529
	Broken   int // answers that were broken off
	Running  int
	Most     int // that ran at the same time
	Billed   provider.Money
	Audit    provider.Money // of it, for the task [Audit]
}

// The pace of a provider.
const (
	wayTakes      = 5 * time.Millisecond  // at least, from here to there
	wayMore       = 20 * time.Millisecond // and at most so much more
	refusalTakes  = 40 * time.Millisecond
	failureTakes  = 300 * time.Millisecond
	firstWord     = 350 * time.Millisecond // at least, once it is let in
	firstWordMore = 900 * time.Millisecond // and at most so much more
	pieces        = 5                      // of an answer
)

func newModel(name string, p *Plan, perMinute int, speed float64, prices provider.Prices, fails bool) *Model {
	now := time.Now()
	return &Model{
		name: name, seed: p.Seed, perMinute: float64(perMinute), speed: speed, prices: prices, plan: p, born: now,
		fails: fails,
		level: float64(perMinute), at: now,
	}
}

// Info names the model and its prices.
func (m *Model) Info() provider.ModelInfo {
	return provider.ModelInfo{Provider: m.name, ID: m.name + "-1", Prices: &m.prices}
}

// Counts returns what m has seen so far.
func (m *Model) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts
}

// EndsWithContext returns true.
func (m *Model) EndsWithContext() bool { return true }

// Stream answers a request of [Call.request].
func (m *Model) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	var used atomic.Bool
	return func(yield func(provider.Chunk, error) bool) {
		if used.Swap(true) {
			yield(provider.Chunk{}, provider.ErrConsumed)
			return
		}
		c := m.plan.call(req)
		if !pass(ctx, wayTakes+m.chance("way", c.ID, wayMore)) {
			yield(provider.Chunk{}, context.Cause(ctx))
			return
		}
		if err := m.admit(ctx); err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		m.answer(ctx, c, yield)
	}
}

// admit accepts the request, or rejects it as a provider does.
func (m *Model) admit(ctx context.Context) error {
	now := time.Now()
	at := now.Sub(m.born)
	m.mu.Lock()
	m.counts.Requests++
	if m.fails && m.plan.Outage.Holds(at) {
		m.counts.Down++
		m.mu.Unlock()
		return m.refuse(ctx, failureTakes,
			&provider.Error{Class: fault.Degraded, Status: 529, Type: "overloaded_error"})
	}
	rate := m.perMinute
	if m.fails && m.plan.Squeeze.Holds(at) {
		rate /= 2
	}
	m.level = min(m.level+now.Sub(m.at).Minutes()*rate, rate)
	m.at = now
	if m.level < 1 {
		m.counts.Refused++
		wait := time.Duration(math.Ceil((rate/20-m.level)/rate*60)) * time.Second // until a twentieth is there
		m.mu.Unlock()
		return m.refuse(ctx, refusalTakes,
			&provider.Error{Class: fault.RateLimited, Status: 429, Type: "rate_limit_error", Wait: &wait})
	}
	m.level--
	m.counts.Running++
	m.counts.Most = max(m.counts.Most, m.counts.Running)
	m.mu.Unlock()
	return nil
}

func (m *Model) refuse(ctx context.Context, after time.Duration, err *provider.Error) error {
	err.Provider = m.name
	if !pass(ctx, after) {
		return context.Cause(ctx)
	}
	return err
}

// answer streams the answer in pieces, and bills what was sent.
func (m *Model) answer(ctx context.Context, c *Call, yield func(provider.Chunk, error) bool) {
	used := provider.Usage{Input: c.Input}
	whole := false
	defer func() { m.bill(c, used, whole) }()
	if !pass(ctx, firstWord+m.chance("word", c.ID, firstWordMore)) {
		yield(provider.Chunk{}, context.Cause(ctx))
		return
	}
	if !yield(provider.Start(m.name+"-1"), nil) {
		return
	}
	for i := range int64(pieces) {
		n := c.Output*(i+1)/pieces - c.Output*i/pieces
		used.Output += n
		if !yield(provider.Text(text(n)), nil) {
			return
		}
		if !pass(ctx, time.Duration(float64(n)/m.speed*float64(time.Second))) {
			yield(provider.Chunk{}, context.Cause(ctx))
			return
		}
	}
	whole = true
	yield(provider.End(provider.StopDone, used), nil)
}

func (m *Model) bill(c *Call, u provider.Usage, whole bool) {
	cost := m.prices.Cost(u)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts.Running--
	m.counts.Billed += cost
	if c.Task == Audit {
		m.counts.Audit += cost
	}
	if !whole {
		m.counts.Broken++
	}
}

// chance returns a time up to most that depends only on the call. No two are equal, so calls that
// wake at the same moment have a fixed order.
func (m *Model) chance(of string, id int, most time.Duration) time.Duration {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%s/%d/%d", m.name, of, m.seed, id)
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

// bytesPerToken of the text in requests and answers.
const bytesPerToken = 4

var filler = strings.Repeat("so much text, ", 40_000/14)

func text(tokens int64) string { return filler[:min(tokens*bytesPerToken, int64(len(filler)))] }

// request returns the call as a request to a model, which finds it in the plan by its Labels.Run.
func (c *Call) request() *provider.Request {
	return &provider.Request{
		Messages:    []provider.Message{provider.User(text(c.Input))},
		MaxOutput:   int(c.Output) + 100,
		Interactive: c.Person,
		Priority:    c.Priority,
		Labels:      provider.Labels{Session: c.Session, Task: c.Task, Run: strconv.Itoa(c.ID)},
	}
}

func (c *Call) usage() provider.Usage { return provider.Usage{Input: c.Input, Output: c.Output} }
