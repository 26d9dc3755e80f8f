package guard

import (
	"context"
	"iter"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/stream"
)

// Config says how a [Guard] treats the calls of its provider. The zero Config is the documented default throughout.
type Config struct {
	// Name tells this guard from others, in errors and events.
	Name string

	// Retry says by class how often failed calls are made again. A class that isn't in it keeps its default; see [Retry].
	Retry map[fault.Class]Retry

	// MaxRetryAfter is the longest wait that is taken from a provider. When it advises more, the call fails at once.
	// 0: 5 min.
	MaxRetryAfter time.Duration

	// FirstChunk is the longest that an attempt may take to begin its answer; 0: 120 s. To have no limit, use a long one.
	// Around a Guard, or a Chain or Router of Guards alone, 0 is no limit, and so it is for Idle: those within have their
	// own, and if the outer one were the first to lose its patience, no attempt would be made again within, no chain
	// would move on and no breaker would learn of it.
	FirstChunk time.Duration
	// Idle is the longest silence of the provider within an answer. The time that the consumer takes doesn't count.
	// 0: 120 s.
	Idle time.Duration
	// Total is the longest that a call may take with all its attempts and waits, and the time that its consumer takes;
	// 0: no limit.
	Total time.Duration

	// Gate decides when an attempt may go to the provider; nil: at once. It belongs to one provider and credential, and
	// so to the guards of that one alone. An attempt waits in it by the request's Interactive, Priority and
	// Labels.Session, says so by Waiting chunks, and holds a slot until its answer is over. An attempt that is
	// preempted is made again at no cost in attempts, at the head of its session; one that is rate limited waits for
	// the gate to open again, with no delay of its own. What the provider's headers say of its limits
	// (provider.Extra.RateLimits), the gate is told when the attempt is over. A request with NoRestart is no victim once its answer has
	// begun, nor is an answer that has shown a call that the provider ran.
	Gate *ratelimit.Gate

	// Budget is what is reserved from before an attempt is made; nil: nothing is limited. Reserved are the tokens of
	// the input (Count) and of the output: the request's MaxOutput or, without one, 4,096, and 4,096 more whenever the
	// answer has grown by that, at 3 bytes a token. A request with MaxOutput is topped up only when its answer is twice
	// as long as that, because the provider holds it to what it was told. An attempt that has to wait for the
	// reservations of others holds no slot meanwhile. A top-up that is refused ends the answer with the
	// *[ratelimit.BudgetError]; what was shown stands.
	Budget *ratelimit.Budget

	// Ledger is told of each attempt that reached the provider, however it ended; nil: nobody is.
	Ledger *ratelimit.Ledger

	// Breaker stops calls to a provider that keeps failing; nil: nothing does. While it is open, calls fail at once, with a
	// *[circuit.OpenError] in a *[GaveUpError].
	Breaker *circuit.Breaker

	// Recovery has attempts after the first, preempted ones apart, counted as recovery:
	// [ratelimit.BudgetConfig].Recovery must have room for them, which by default are 1,000 tokens for a session.
	// Requests whose Labels.Kind is [KindRecovery] always do.
	Recovery bool

	// Count returns how many input tokens a request takes; it should rather be too many. It is called before each call
	// that has a Gate or a Budget, so it must be quick, and ask no server. nil: a token for each 3 bytes of
	// instructions, messages, tools and schemas, 4 for each message and tool, and 2,000 for each piece of media.
	Count func(*provider.Request) int64

	// OnRetry, if it isn't nil, is told of each failed attempt that will be followed by another, before the wait. It is
	// called in the goroutine that ranges over the answer, with the context given to Stream or one derived from it. OnEvent
	// is told as well.
	OnRetry func(context.Context, Failure)

	// OnEvent, if it isn't nil, is told of each [Failure], [Burst] and [Escalation].
	OnEvent func(context.Context, Event)
}

// KindRecovery is the Labels.Kind of requests that work around a failure, and are limited by the budget's Recovery.
const KindRecovery = "recovery"

// The defaults of a Config, and the longest time that it takes.
const (
	defaultRetryAfter = 5 * time.Minute
	defaultSilence    = 120 * time.Second
	maxTime           = 365 * 24 * time.Hour
	forever           = time.Duration(math.MaxInt64)
)

// A Guard is a provider that stands between another one and its callers: it lets calls through as its gate, budget and
// breaker allow, makes failed calls again where that may help, and ends those that hang. See the package comment for
// what it guarantees. A Guard is safe for concurrent use.
type Guard struct {
	provider      provider.Provider
	name          string
	retry         retries
	maxRetryAfter time.Duration
	silence       stream.Timeouts
	total         time.Duration
	onRetry       func(context.Context, Failure)
	onEvent       func(context.Context, Event)
	gate          *ratelimit.Gate
	budget        *ratelimit.Budget
	ledger        *ratelimit.Ledger
	breaker       *circuit.Breaker
	recovery      bool
	count         func(*provider.Request) int64
	info          provider.ModelInfo
	guarded       bool // there is a gate, a budget, a ledger or a breaker

	bursts bursts
}

// New returns a Guard of p. It returns [provider.ErrNilProvider] if p is nil, and a *[ConfigError] for a figure that
// makes no sense.
func New(p provider.Provider, cfg Config) (*Guard, error) {
	if isNil(p) {
		return nil, provider.ErrNilProvider
	}
	retry, err := resolve(&cfg)
	if err != nil {
		return nil, err
	}
	silence, most := defaultSilence, 1000
	if watched(p, &most) {
		silence = forever
	}
	for _, d := range []struct {
		field string
		value *time.Duration
		zero  time.Duration
	}{
		{"MaxRetryAfter", &cfg.MaxRetryAfter, defaultRetryAfter},
		{"FirstChunk", &cfg.FirstChunk, silence},
		{"Idle", &cfg.Idle, silence},
		{"Total", &cfg.Total, 0},
	} {
		if *d.value < 0 || *d.value > maxTime {
			return nil, &ConfigError{cfg.Name, d.field, *d.value, "use more than 0 and at most a year, or 0 for the default"}
		}
		if *d.value == 0 {
			*d.value = d.zero
		}
	}
	info, _ := provider.Info(p)
	return &Guard{
		provider:      p,
		name:          cfg.Name,
		retry:         retry,
		maxRetryAfter: cfg.MaxRetryAfter,
		silence:       stream.Timeouts{First: cfg.FirstChunk, Idle: cfg.Idle},
		total:         cfg.Total,
		onRetry:       cfg.OnRetry,
		onEvent:       cfg.OnEvent,
		gate:          cfg.Gate,
		budget:        cfg.Budget,
		ledger:        cfg.Ledger,
		breaker:       cfg.Breaker,
		recovery:      cfg.Recovery,
		count:         cfg.Count,
		info:          info,
		guarded:       cfg.Gate != nil || cfg.Budget != nil || cfg.Ledger != nil || cfg.Breaker != nil,
	}, nil
}

// watched reports whether every call of p goes through a Guard. It looks at so many providers at most.
func watched(p provider.Provider, most *int) bool {
	if *most--; *most < 0 || isNil(p) {
		return false
	}
	switch p := p.(type) {
	case *Guard:
		return true
	case interface{ Unwrap() provider.Provider }:
		return watched(p.Unwrap(), most)
	case interface{ Unwrap() []provider.Provider }:
		all := p.Unwrap()
		return len(all) > 0 && !slices.ContainsFunc(all, func(p provider.Provider) bool { return !watched(p, most) })
	}
	return false
}

// Name returns the name from the Config.
func (g *Guard) Name() string { return g.name }

// Unwrap returns the provider that g guards.
func (g *Guard) Unwrap() provider.Provider { return g.provider }

// Stream makes the call with all its attempts. The sequence keeps to the grammar of package provider, whatever the
// provider does: what it breaks comes out as a *[provider.GrammarError], a missing End as [provider.ErrIncomplete], a
// panic as a *[stream.PanicError].
func (g *Guard) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	c := &call{guard: g, ctx: ctx, req: req}
	return func(yield func(provider.Chunk, error) bool) {
		if c.used.Swap(true) {
			yield(provider.Chunk{}, provider.ErrConsumed)
			return
		}
		c.yield = yield
		c.run()
	}
}

// isNil reports a provider that can't be called: nil, or a nil pointer or function in the interface.
func isNil(p provider.Provider) bool {
	if p == nil {
		return true
	}
	v := reflect.ValueOf(p)
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}
