package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// dayLength is the length of a day; calls that came in it may end later.
const dayLength = 24 * time.Hour

// A plan has the events of a day; both sides get the same ones.
type plan struct {
	seed     uint64
	sessions int
	calls    []call // by the time at which they come
	floods   []span // when re-indexing comes, and how long it keeps on coming
	outage   span   // when the primary provider fails
	squeeze  span   // when the primary provider grants half its rate
	runaway  span   // when the job comes that runs away

	limit, auditLimit budget.Limit // of the whole day, and of the job that runs away
}

// A span is a part of the day, counted from its beginning.
type span struct{ from, to time.Duration }

func (s span) holds(d time.Duration) bool { return s.from <= d && d < s.to }

// A call is a request to a model that comes at its time.
type call struct {
	id       int
	at       time.Duration
	session  string
	priority int // of background calls
	task     string
	input    int64 // tokens
	output   int64 // tokens of the answer
}

// The tasks for which calls are made.
const (
	chat    = "chat"    // people's
	work    = "work"    // agents', over the day: planning, execution, validation
	reindex = "reindex" // floods of short calls of the lowest priority
	audit   = "audit"   // a background job that went wrong and asks without end; its budget stops it
)

// request returns the call as a request to a model, which finds it in the plan by its Labels.Run.
func (c *call) request() *provider.Request {
	return &provider.Request{
		Messages:    []provider.Message{provider.User(text(c.input))},
		MaxOutput:   int(c.output) + 100,
		Interactive: c.task == chat,
		Priority:    c.priority,
		Labels:      provider.Labels{Session: c.session, Task: c.task, Run: strconv.Itoa(c.id)},
	}
}

// newPlan returns the plan of a day. Two plans of the same figures are the same.
func newPlan(seed uint64, sessions int) *plan {
	p := &plan{seed: seed, sessions: sessions}
	p.outage = spanOf(.6565, 20*time.Minute) // in the fourth flood
	p.squeeze = spanOf(.39, 20*time.Minute)  // with the second
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	stages := [...]int{ratelimit.Planning, ratelimit.Execution, ratelimit.Execution, ratelimit.Validation}
	for s := range sessions {
		name := fmt.Sprintf("s-%03d", s+1)
		p.over(r, peoplePerHour, func(at time.Duration) { p.add(r, call{at: at, session: name, task: chat}) })
		p.over(r, workPerHour, func(at time.Duration) {
			p.add(r, call{at: at, session: name, priority: stages[r.IntN(len(stages))], task: work})
		})
	}
	for _, part := range []float64{.11, .39, .5, .655, .9} {
		flood := spanOf(part, 20*time.Second)
		p.floods = append(p.floods, flood)
		p.burst(r, flood, 8*sessions, call{priority: ratelimit.Background, task: reindex})
	}
	p.runaway = spanOf(.78, 2*time.Minute)
	p.burst(r, p.runaway, 6*sessions, call{session: "s-001", priority: ratelimit.Validation, task: audit})
	slices.SortStableFunc(p.calls, func(a, b call) int { return cmp.Compare(a.at, b.at) })
	for i := range p.calls {
		p.calls[i].id = i + 1
	}
	p.setLimits()
	return p
}

// spanOf returns the span that begins after that part of the day.
func spanOf(part float64, lasts time.Duration) span {
	from := time.Duration(part * float64(dayLength)).Round(time.Minute)
	return span{from, from + lasts}
}

// peoplePerHour is how often the people of a session ask at that hour of the day, and workPerHour
// how many calls its agents make.
func peoplePerHour(hour float64) float64 { return 2 + 12*bell(hour, 12, 2.5) + 6*bell(hour, 19.5, 1.5) }
func workPerHour(hour float64) float64   { return .5 + 2*bell(hour, 14, 4) }

func bell(x, middle, width float64) float64 {
	return math.Exp(-(x - middle) * (x - middle) / (width * width))
}

// over calls put with random times of the day. perHour returns how many there are in an hour, by
// the hour of the day.
func (p *plan) over(r *rand.Rand, perHour func(float64) float64, put func(time.Duration)) {
	const most = 15 // more than any rate
	for at := time.Duration(0); ; {
		at += time.Duration(r.ExpFloat64() / most * float64(time.Hour))
		if at >= dayLength {
			return
		}
		if r.Float64()*most < perHour(at.Hours()) {
			put(at)
		}
	}
}

// burst adds n calls like c that come within a span, those without a session of all sessions in
// turn.
func (p *plan) burst(r *rand.Rand, within span, n int, c call) {
	for i := range n {
		each := c
		each.at = within.from + time.Duration(r.Float64()*float64(within.to-within.from))
		if each.session == "" {
			each.session = fmt.Sprintf("s-%03d", i%p.sessions+1)
		}
		p.add(r, each)
	}
}

// add adds a call of that task's usual size.
func (p *plan) add(r *rand.Rand, c call) {
	between := func(low, high int64) int64 { return low + r.Int64N(high-low) }
	switch c.task {
	case chat:
		c.input, c.output = between(500, 6000), between(60, 500)
	case reindex:
		c.input, c.output = between(1000, 3000), between(100, 500)
	default:
		c.input, c.output = between(1000, 8000), between(100, 900)
	}
	p.calls = append(p.calls, c)
}

// setLimits gives the day a budget that it keeps to if no job runs away, and that job a part of
// what it asks for.
func (p *plan) setLimits() {
	const dear = 10 * time.Minute // so long before an outage begins, calls may have to wait until it has
	var all, audits int64
	for i := range p.calls {
		c, prices := &p.calls[i], primaryPrices
		if p.outage.from-dear <= c.at && c.at < p.outage.to {
			prices = backupPrices
		}
		cost := int64(prices.Cost(provider.Usage{Input: c.input, Output: c.output}))
		all += cost
		if c.task == audit {
			audits += cost
		}
	}
	usd := func(micros float64) float64 { return math.Ceil(micros/1e4) / 100 } // whole cents
	allowed := .6 * float64(audits)
	p.auditLimit = budget.Limit{USD: usd(allowed), Period: budget.Day}
	p.limit = budget.Limit{USD: usd(1.1 * (float64(all-audits) + allowed)), Period: budget.Day}
}
