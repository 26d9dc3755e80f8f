package main

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// A side is one of the two that are compared, and how the day went for it.
type side struct {
	name            string
	primary, backup *model
	gates           []*ratelimit.Gate // Pawl's
	ledger          *budget.Ledger
	call            func(ctx context.Context, c *call, onChunk func(provider.Chunk)) error

	mu     sync.Mutex // guards what follows
	lanes  map[string]*lane
	ended  []time.Duration // of each call, by id
	opened int             // how often a breaker did
}

// A lane has the results of the calls of a task.
type lane struct {
	asked, done, overBudget, gaveUp int
	waits                           waits // of those that are done
}

// A sample is how long a call that arrived at that time waited for the first word of the answer
// that was completed.
type sample struct{ at, wait time.Duration }

type waits []sample

// p returns the wait that a share q of the calls didn't exceed, by nearest rank; 0 if there are
// none.
func (w waits) p(q float64) time.Duration {
	if len(w) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(w), func(a, b sample) int { return int(a.wait - b.wait) })
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1].wait
}

// run simulates the day: all calls arrive at their times, on both sides. It returns when the last
// call has ended.
func (p *plan) run() (sides [2]*side, err error) {
	for i, name := range [...]string{"Pawl", "first-in first-out"} {
		s := &side{name: name, lanes: make(map[string]*lane), ended: make([]time.Duration, len(p.calls))}
		for _, task := range []string{chat, work, reindex, audit} {
			s.lanes[task] = &lane{}
		}
		s.primary, s.backup = p.models()
		sides[i] = s
	}
	if err := sides[0].withPawl(p); err != nil {
		return sides, err
	}
	sides[1].withLimiters()
	begin := time.Now()
	var calls sync.WaitGroup
	for i := range p.calls {
		c := &p.calls[i]
		pass(context.Background(), time.Until(begin.Add(c.at)))
		for _, s := range sides {
			calls.Go(func() { s.live(c) })
		}
	}
	calls.Wait()
	for _, g := range sides[0].gates {
		g.Close()
	}
	return sides, nil
}

// live makes one call and records its outcome.
func (s *side) live(c *call) {
	came := time.Now()
	var heard time.Time // the first word
	err := s.call(context.Background(), c, func(chunk provider.Chunk) {
		switch {
		case chunk.Kind == provider.KindReset:
			heard = time.Time{}
		case chunk.Kind == provider.KindText && heard.IsZero():
			heard = time.Now()
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[c.id-1] = c.at + time.Since(came)
	lane := s.lanes[c.task]
	lane.asked++
	switch {
	case err == nil:
		lane.done++
		lane.waits = append(lane.waits, sample{c.at, heard.Sub(came)})
	case errors.Is(err, budget.ErrExceeded):
		lane.overBudget++
	default:
		lane.gaveUp++
	}
}

// listen passes all chunks of an answer to onChunk, and returns the error that it ends with.
func listen(seq iter.Seq2[provider.Chunk, error], onChunk func(provider.Chunk)) error {
	for chunk, err := range seq {
		if err != nil {
			return err
		}
		onChunk(chunk)
	}
	return nil
}

// background returns the sums of all calls except those of people.
func (s *side) background() (all lane) {
	for task, l := range s.lanes {
		if task != chat {
			all.asked, all.done = all.asked+l.asked, all.done+l.done
			all.overBudget, all.gaveUp = all.overBudget+l.overBudget, all.gaveUp+l.gaveUp
		}
	}
	return all
}

// clear returns how long it took until all of a flood was done.
func (s *side) clear(p *plan, flood span) time.Duration {
	last := flood.from
	for i, c := range p.calls {
		if c.task == reindex && flood.holds(c.at) {
			last = max(last, s.ended[i])
		}
	}
	return last - flood.from
}

// withPawl makes s the side with Pawl: what a service configures, with the library's defaults for
// everything else.
func (s *side) withPawl(p *plan) error {
	s.ledger = budget.NewLedger(budget.LedgerConfig{})
	limits := budget.New(budget.Config{Global: p.limit, Tasks: map[string]budget.Limit{audit: p.auditLimit}})
	rules := circuit.LLM()
	rules.OnChange = func(c circuit.Change) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if c.To == circuit.Open {
			s.opened++
		}
	}
	var guarded []provider.Provider
	for _, m := range []*model{s.primary, s.backup} {
		gate := ratelimit.NewGate(
			ratelimit.GateConfig{Name: m.name, Slots: m.slots, RequestsPerMinute: int64(m.perMinute)})
		s.gates = append(s.gates, gate)
		g, err := guard.New(m, guard.Config{
			Name: m.name, Gate: gate, Breaker: circuit.New("llm:"+m.name, rules), Budget: limits, Ledger: s.ledger,
			Retry: map[fault.Class]fault.Retry{fault.Degraded: {Exact: true}}, // so that the day is the same each time
		})
		if err != nil {
			return err
		}
		guarded = append(guarded, g)
	}
	chain, err := guard.Failover(guarded...)
	s.call = func(ctx context.Context, c *call, onChunk func(provider.Chunk)) error {
		return listen(chain.Stream(ctx, c.request()), onChunk)
	}
	return err
}

// A naive caller calls a model behind a limiter of concurrent calls and calls per minute, first
// come first served, as many services have one. It doesn't know who waits. It retries as often as a
// guard does: after the provider's Retry-After, or after delays that double. It releases its slot
// before it waits, and then queues again behind all others.
type naive struct {
	*model
	slots chan struct{} // goroutines that wait for room in a channel get it in the order in which they came

	mu    sync.Mutex // guards what follows
	level float64    // requests that may go at once; less than 0: how many wait for their time
	at    time.Time
}

func newNaive(m *model) *naive {
	return &naive{model: m, slots: make(chan struct{}, m.slots), level: m.perMinute, at: time.Now()}
}

// reserve takes a request from the rate, and returns how long it must wait.
func (n *naive) reserve() time.Duration {
	now := time.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.level = min(n.level+now.Sub(n.at).Minutes()*n.perMinute, n.perMinute) - 1
	n.at = now
	return max(time.Duration(-n.level/n.perMinute*float64(time.Minute)), 0)
}

// call makes the call, and passes its chunks to onChunk.
func (n *naive) call(ctx context.Context, c *call, onChunk func(provider.Chunk)) error {
	for attempt := 1; ; attempt++ {
		err := n.once(ctx, c, onChunk)
		attempts, wait, longest := 1, time.Duration(0), time.Duration(0)
		switch fault.Of(err) {
		case fault.RateLimited:
			attempts, wait, longest = 10, time.Second, time.Minute
		case fault.Degraded:
			attempts, wait, longest = 3, 5*time.Second, 30*time.Second
		}
		if attempt >= attempts {
			return err
		}
		wait = min(wait<<(attempt-1), longest)
		if advice, ok := fault.RetryAfter(err); ok {
			wait = advice
		}
		pass(ctx, wait)
	}
}

func (n *naive) once(ctx context.Context, c *call, onChunk func(provider.Chunk)) error {
	n.slots <- struct{}{}
	defer func() { <-n.slots }()
	pass(ctx, n.reserve())
	return listen(n.Stream(ctx, c.request()), onChunk)
}

// withLimiters makes s the side without Pawl: a limiter of the same size for each provider. Calls
// that finally failed at the primary go to the backup.
func (s *side) withLimiters() {
	primary, backup := newNaive(s.primary), newNaive(s.backup)
	s.call = func(ctx context.Context, c *call, onChunk func(provider.Chunk)) error {
		err := primary.call(ctx, c, onChunk)
		if fault.Retryable(fault.Of(err)) {
			err = backup.call(ctx, c, onChunk)
		}
		return err
	}
}
