package guard

import (
	"context"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/stream"
)

// Config configures a [Guard]. Each zero field means its documented default.
type Config struct {
	// Name identifies this guard in errors and events.
	Name string

	// Retry says by class how often failed calls are made, and how long to wait in between. A field
	// that is 0, and a class that isn't in it, have their default:
	//
	//	class         Attempts  Min     Max
	//	transient     5         100 ms  5 s
	//	rate_limited  10        1 s     60 s
	//	degraded      3         5 s     30 s
	//	all others    1         100 ms  5 s
	//
	// With a Gate, a rate-limited call waits in the gate, so the delays of that class aren't used;
	// its attempts are.
	Retry map[fault.Class]fault.Retry

	// MaxRetryAfter is the longest wait that the guard accepts from a provider. If the provider
	// advises more, the call fails at once. 0: 5 min.
	MaxRetryAfter time.Duration

	// FirstChunk is the longest time until an attempt's answer begins; see Alive. 0: 120 s. For no
	// limit, use a long one. If the provider is itself a Guard, or a Chain or Router of only
	// Guards, 0 means no limit for FirstChunk and Idle: the inner guards have their own limits, and
	// if the outer limit were reached first, the inner guards wouldn't retry, chains wouldn't move
	// on and breakers wouldn't count the failure.
	FirstChunk time.Duration
	// Idle is the longest silence of the provider within an answer, without the consumer's time. 0:
	// 120 s.
	Idle time.Duration
	// Alive is the longest time without a piece of an answer in which FirstChunk and Idle begin
	// anew with whatever else comes from the provider: pings, comments, events without content. A
	// model that thinks without showing it sends nothing else, for minutes. Providers say that such
	// a sign came by [stream.Alive]; those of this module do. A call that ends at this limit isn't
	// made again, since it would be paid for and take as long. 0: 10 min if FirstChunk and Idle
	// have their defaults, else such signs count for nothing, as with any time that isn't longer
	// than those.
	Alive time.Duration

	// Gate decides when an attempt may start; nil: at once. Use one gate per provider and
	// credential. An attempt waits in it according to the request's Interactive, Priority and
	// Labels.Session, yields Waiting chunks meanwhile, and holds a slot until its answer ends. A
	// preempted attempt is made again at the head of its session and doesn't count as an attempt; a
	// rate-limited one waits for the gate to open again, without a delay of its own. When the
	// attempt ends, the gate gets the rate limits in the provider's headers
	// (provider.Extra.RateLimits). A request with NoRestart isn't preempted once its answer has
	// begun, nor is an answer that has shown a call that the provider ran.
	Gate *ratelimit.Gate

	// Budget is the budget that each attempt reserves from; nil: no limit. An attempt reserves
	// tokens for the input (Count) and for the output: the request's MaxOutput or, without one,
	// 4,096, and 4,096 more whenever the answer has grown by that, at 3 bytes a token. A request
	// with MaxOutput is topped up only when its answer is twice as long, because the provider
	// enforces MaxOutput. An attempt that waits for the reservations of others holds no slot
	// meanwhile. A rejected top-up ends the answer with the *[budget.Error]; what was shown remains
	// valid.
	Budget *budget.Budget

	// Ledger records each attempt that reached the provider, however it ended; nil: none.
	Ledger *budget.Ledger

	// Breaker stops calls to a provider that keeps failing; nil: none. While it is open, calls fail
	// at once, with a *[circuit.OpenError] in a *[GaveUpError]. It gets errors of unknown class as
	// permanent ones, so that only transient and degraded errors count, unless its Config.Counts
	// decides otherwise.
	Breaker *circuit.Breaker

	// Recovery counts attempts after the first, except preempted ones, as recovery: they must fit
	// into [budget.Config].Recovery, which is 1,000 tokens per session by default. Requests whose
	// Labels.Kind is "recovery" always count as recovery.
	Recovery bool

	// Count returns the number of input tokens of a request, preferably too high rather than too
	// low. It is called before each call with a Gate or a Budget, so it must be quick and must not
	// call a server. nil: a token for each 3 bytes of instructions, messages, tools and schemas, 4
	// for each message and tool, and 2,000 for each piece of media.
	Count func(*provider.Request) int64

	// OnEvent, if it isn't nil, is called with each [Failure] before the wait for the next attempt,
	// and with each [Burst] and [Escalation]. It is called in the goroutine that ranges over the
	// answer, with the context given to Stream or one derived from it.
	OnEvent func(context.Context, Event)
}

// kindRecovery is the Labels.Kind of requests that work around a failure, and are limited by the
// budget's Recovery.
const kindRecovery = "recovery"

// The defaults of a Config, and the longest allowed time.
const (
	defaultRetryAfter = 5 * time.Minute
	defaultSilence    = 120 * time.Second
	defaultAlive      = 10 * time.Minute
	maxTime           = 365 * 24 * time.Hour
	forever           = time.Duration(math.MaxInt64)
)

// A Guard is a provider that wraps another one: it admits calls as its gate, budget and breaker
// allow, retries failed calls where that may help, and ends calls that hang. See the package
// comment for its guarantees. A Guard is safe for concurrent use.
type Guard struct {
	provider      provider.Provider
	name          string
	retry         map[fault.Class]fault.Retry
	maxRetryAfter time.Duration
	silence       stream.Timeouts
	onEvent       func(context.Context, Event)
	gate          *ratelimit.Gate
	budget        *budget.Budget
	ledger        *budget.Ledger
	breaker       *circuit.Breaker
	recovery      bool
	count         func(*provider.Request) int64
	info          provider.ModelInfo
	models        []provider.ModelInfo // that may answer requests that name none
	guarded       bool                 // there is a gate, a budget, a ledger or a breaker

	bursts bursts
}

// New returns a Guard of p. It returns [provider.ErrNilProvider] if p is nil, and a *[ConfigError]
// for an invalid value.
func New(p provider.Provider, cfg Config) (*Guard, error) {
	if isNil(p) {
		return nil, provider.ErrNilProvider
	}
	retry, err := fault.Retries(cfg.Retry, nil)
	if err != nil {
		return nil, &ConfigError{Field: "Retry", Problem: fmt.Sprintf("in %q: %v", cfg.Name, err), Err: err}
	}
	silence, most := defaultSilence, 1000
	if watched(p, &most) {
		silence = forever
	} else if name := hidden(p); name != "" && (cfg.FirstChunk == 0 || cfg.Idle == 0) {
		return nil, wrong(cfg.Name, "provider", fmt.Sprintf("%T", p), "it wraps a "+name+", which this guard "+
			"can't see; give it a method Unwrap() provider.Provider, or set FirstChunk and Idle")
	}
	alive := time.Duration(defaultAlive)
	if cfg.FirstChunk != 0 || cfg.Idle != 0 {
		alive = 1
	}
	for _, d := range []struct {
		field string
		value *time.Duration
		zero  time.Duration
	}{
		{"MaxRetryAfter", &cfg.MaxRetryAfter, defaultRetryAfter},
		{"FirstChunk", &cfg.FirstChunk, silence},
		{"Idle", &cfg.Idle, silence},
		{"Alive", &cfg.Alive, alive},
	} {
		if *d.value < 0 || *d.value > maxTime {
			return nil,
				wrong(cfg.Name, d.field, *d.value, "use more than 0 and at most a year, or 0 for the default")
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
		silence:       stream.Timeouts{First: cfg.FirstChunk, Idle: cfg.Idle, Alive: cfg.Alive},
		onEvent:       cfg.OnEvent,
		gate:          cfg.Gate,
		budget:        cfg.Budget,
		ledger:        cfg.Ledger,
		breaker:       cfg.Breaker,
		recovery:      cfg.Recovery,
		count:         cfg.Count,
		info:          info,
		models:        provider.InfosOf(p, ""),
		guarded:       cfg.Gate != nil || cfg.Budget != nil || cfg.Ledger != nil || cfg.Breaker != nil,
	}, nil
}

// watched reports whether every call of p goes through a Guard. It visits at most the given number
// of providers.
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

// hidden returns the type of a guard, a chain or a router that p has in a field without a method
// that returns it; "" if there is none.
func hidden(p provider.Provider) string {
	switch p.(type) {
	case interface{ Unwrap() provider.Provider }, interface{ Unwrap() []provider.Provider }:
		return ""
	}
	v := reflect.Indirect(reflect.ValueOf(p))
	if v.Kind() != reflect.Struct {
		return ""
	}
	for i := range v.NumField() {
		field := v.Field(i)
		if field.Kind() == reflect.Interface {
			field = field.Elem()
		}
		if !field.IsValid() {
			continue
		}
		switch field.Type() {
		case reflect.TypeFor[*Guard](), reflect.TypeFor[*Chain]():
			if !field.IsNil() {
				return strings.TrimPrefix(field.Type().String(), "*")
			}
		}
	}
	return ""
}

// Name returns the name from the Config.
func (g *Guard) Name() string { return g.name }

// Unwrap returns the provider that g guards.
func (g *Guard) Unwrap() provider.Provider { return g.provider }

// EndsWithContext reports whether the guarded provider declares that it ends with its context. The
// functions of the Config run within calls, so they must not block.
func (g *Guard) EndsWithContext() bool { return provider.EndsWithContext(g.provider) }

// Stream makes the call with all its attempts. The sequence follows the grammar of package
// provider, whatever the provider does: a violation becomes a *[provider.GrammarError], a missing
// End becomes [provider.ErrIncomplete], and a panic becomes a *[stream.PanicError].
func (g *Guard) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	if ctx == nil {
		ctx = context.Background()
	}
	c := &call{guard: g, ctx: ctx, req: req}
	return func(yield func(provider.Chunk, error) bool) { // stream.Once would take two allocations more
		if c.used.Swap(true) {
			yield(provider.Chunk{}, provider.ErrConsumed)
			return
		}
		c.run(yield)
	}
}

// isNil reports a provider that can't be called: nil, or a nil pointer or function in the
// interface.
func isNil(p provider.Provider) bool {
	if p == nil {
		return true
	}
	v := reflect.ValueOf(p)
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}
