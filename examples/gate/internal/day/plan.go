package day

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

// Config says how large a day is. Two plans of the same Config are the same.
type Config struct {
	Seed     uint64
	Sessions int // 0: 50; at most MostSessions
	Hours    int // of the day, with noon in the middle; 0: 24; at most 24
}

// The ranges of a Config.
const (
	MostSessions = 200
	MostHours    = 24

	defaultSessions = 50
)

// A Plan has the events of a day; both sides get the same ones.
type Plan struct {
	Config
	Calls   []Call        // by the time at which they come
	Length  time.Duration // of the day; calls that came in it may end later
	Opens   time.Duration // the time of day at which it begins
	Floods  []Span        // when re-indexing comes, and how long it keeps on coming
	Outage  Span          // when the primary provider fails
	Squeeze Span          // when the primary provider grants half its rate
	Runaway Span          // when the job comes that runs away

	// The limits of the budget, for the whole day.
	Limit      budget.Limit // of everything
	AuditLimit budget.Limit // of the task [Audit], which runs away
}

// A Span is a part of the day, counted from its beginning.
type Span struct{ From, To time.Duration }

// Holds reports whether d is in s.
func (s Span) Holds(d time.Duration) bool { return s.From <= d && d < s.To }

// A Call is a request to a model that comes at its time.
type Call struct {
	ID       int
	At       time.Duration
	Session  string
	Person   bool   // a person is waiting
	Priority int    // of background calls
	Task     string // Chat, Work, Reindex or Audit
	Input    int64  // tokens
	Output   int64  // tokens of the answer
}

// The tasks for which calls are made.
const (
	Chat    = "chat"    // people's
	Work    = "work"    // agents', over the day: planning, execution, validation
	Reindex = "reindex" // floods of short calls of the lowest priority
	Audit   = "audit"   // a background job that went wrong and asks without end; its budget stops it
)

// The scale of a day: figures are for each session.
const (
	floodCalls  = 8
	auditCalls  = 6
	auditShare  = 0.6 // of what the audit asks for, that it may have
	budgetSlack = 1.1 // of what the plan expects to spend
)

// When the floods come, as parts of the day, and how long all calls of one take to arrive.
var floods = []float64{.11, .39, .5, .655, .9}

const (
	floodLasts  = 20 * time.Second
	auditAt     = .78
	auditLasts  = 2 * time.Minute
	squeezeAt   = .39   // with the second flood
	outageAt    = .6565 // in the fourth
	outageLasts = 20 * time.Minute
)

// NewPlan returns the plan of a day. A figure out of its range is brought into it.
func NewPlan(cfg Config) *Plan {
	cfg.Sessions = within(cfg.Sessions, defaultSessions, MostSessions)
	cfg.Hours = within(cfg.Hours, MostHours, MostHours)
	p := &Plan{Config: cfg, Length: time.Duration(cfg.Hours) * time.Hour}
	p.Opens = (MostHours*time.Hour - p.Length) / 2
	lasts := min(outageLasts, p.Length/6)
	p.Outage = p.span(outageAt, lasts)
	p.Squeeze = p.span(squeezeAt, lasts)
	r := rand.New(rand.NewPCG(cfg.Seed, 0x9e3779b97f4a7c15))
	for s := range cfg.Sessions {
		name := fmt.Sprintf("s-%03d", s+1)
		p.over(r, peoplePerHour, func(at time.Duration) {
			p.add(r, Call{At: at, Session: name, Person: true, Task: Chat})
		})
		p.over(r, workPerHour, func(at time.Duration) {
			p.add(r, Call{At: at, Session: name, Priority: stage(r), Task: Work})
		})
	}
	for _, part := range floods {
		flood := p.span(part, floodLasts)
		p.Floods = append(p.Floods, flood)
		p.burst(r, flood, floodCalls*cfg.Sessions, Call{Priority: ratelimit.Background, Task: Reindex})
	}
	p.Runaway = p.span(auditAt, auditLasts)
	p.burst(r, p.Runaway, auditCalls*cfg.Sessions, Call{Session: "s-001", Priority: ratelimit.Validation, Task: Audit})
	slices.SortStableFunc(p.Calls, func(a, b Call) int { return cmp.Compare(a.At, b.At) })
	for i := range p.Calls {
		p.Calls[i].ID = i + 1
	}
	p.setLimits()
	return p
}

// call returns the call that a request was made of; it is empty for another request.
func (p *Plan) call(req *provider.Request) *Call {
	id, err := strconv.Atoi(req.Labels.Run)
	if err != nil || id < 1 || id > len(p.Calls) {
		return &Call{}
	}
	return &p.Calls[id-1]
}

func within(n, unset, most int) int {
	if n <= 0 {
		return unset
	}
	return min(n, most)
}

func (p *Plan) span(part float64, lasts time.Duration) Span {
	from := time.Duration(part * float64(p.Length)).Round(time.Minute)
	return Span{from, from + lasts}
}

// Clock returns the time of day at that point of the plan, as clocks show it.
func (p *Plan) Clock(at time.Duration) string {
	at = (p.Opens + at).Round(time.Minute)
	return fmt.Sprintf("%02d:%02d", int(at.Hours())%MostHours, int(at.Minutes())%60)
}

// peoplePerHour is how often the people of a session ask at that hour of the day: most at noon,
// some in the evening.
func peoplePerHour(hour float64) float64 {
	return 2 + 12*bell(hour, 12, 2.5) + 6*bell(hour, 19.5, 1.5)
}

// workPerHour is how many calls the agents of a session make.
func workPerHour(hour float64) float64 { return .5 + 2*bell(hour, 14, 4) }

func bell(x, middle, width float64) float64 {
	return math.Exp(-(x - middle) * (x - middle) / (width * width))
}

// over calls put with times at which something comes that comes so many times an hour, by chance.
func (p *Plan) over(r *rand.Rand, perHour func(float64) float64, put func(time.Duration)) {
	const most = 15 // more than any rate
	for at := time.Duration(0); ; {
		at += time.Duration(r.ExpFloat64() / most * float64(time.Hour))
		if at >= p.Length {
			return
		}
		if r.Float64()*most < perHour((p.Opens + at).Hours()) {
			put(at)
		}
	}
}

// burst adds n calls like c that come within a span, those without a session of all sessions in
// turn.
func (p *Plan) burst(r *rand.Rand, within Span, n int, c Call) {
	for i := range n {
		each := c
		each.At = within.From + time.Duration(r.Float64()*float64(within.To-within.From))
		if each.Session == "" {
			each.Session = fmt.Sprintf("s-%03d", i%p.Sessions+1)
		}
		p.add(r, each)
	}
}

func stage(r *rand.Rand) int {
	return [...]int{ratelimit.Planning, ratelimit.Execution, ratelimit.Execution, ratelimit.Validation}[r.IntN(4)]
}

// add adds a call of that task's usual size.
func (p *Plan) add(r *rand.Rand, c Call) {
	between := func(low, high int64) int64 { return low + r.Int64N(high-low) }
	switch c.Task {
	case Chat:
		c.Input, c.Output = between(500, 6000), between(60, 500)
	case Reindex:
		c.Input, c.Output = between(1000, 3000), between(100, 500)
	default:
		c.Input, c.Output = between(1000, 8000), between(100, 900)
	}
	p.Calls = append(p.Calls, c)
}

// setLimits gives the day a budget that it keeps to if no job runs away.
func (p *Plan) setLimits() {
	const dear = 10 * time.Minute // so long before an outage begins, calls may have to wait until it has
	var all, audit int64
	for i := range p.Calls {
		c, prices := &p.Calls[i], primaryPrices
		if p.Outage.From-dear <= c.At && c.At < p.Outage.To {
			prices = backupPrices
		}
		cost := int64(prices.Cost(c.usage()))
		all += cost
		if c.Task == Audit {
			audit += cost
		}
	}
	usd := func(micros float64) float64 { return math.Ceil(micros/1e4) / 100 } // whole cents
	allowed := auditShare * float64(audit)
	p.AuditLimit = budget.Limit{USD: usd(allowed), Period: budget.Day}
	p.Limit = budget.Limit{USD: usd(budgetSlack * (float64(all-audit) + allowed)), Period: budget.Day}
}
