package guard

import (
	"context"
	"iter"
	"reflect"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
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
	FirstChunk time.Duration
	// Idle is the longest silence of the provider within an answer. The time that the consumer takes doesn't count.
	// 0: 120 s.
	Idle time.Duration
	// Total is the longest that a call may take with all its attempts and waits, and the time that its consumer takes;
	// 0: no limit.
	Total time.Duration

	// OnRetry, if it isn't nil, is told of each failed attempt that will be followed by another, before the wait. It is
	// called in the goroutine that ranges over the answer.
	OnRetry func(context.Context, Failure)
}

// A Failure is an attempt that failed and will be followed by another.
type Failure struct {
	Name    string // of the guard
	Attempt int    // that failed; the first is 1
	Class   fault.Class
	Err     error
	Wait    time.Duration // before the next attempt
}

// The defaults of a Config, and the longest time that it takes.
const (
	defaultRetryAfter = 5 * time.Minute
	defaultSilence    = 120 * time.Second
	maxTime           = 365 * 24 * time.Hour
)

// A Guard is a provider that stands between another one and its callers: it makes failed calls again where that may
// help, and ends those that hang. See the package comment for what it guarantees. A Guard is safe for concurrent use.
type Guard struct {
	provider      provider.Provider
	name          string
	retry         retries
	maxRetryAfter time.Duration
	silence       stream.Timeouts
	total         time.Duration
	onRetry       func(context.Context, Failure)
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
	for _, d := range []struct {
		field string
		value *time.Duration
		zero  time.Duration
	}{
		{"MaxRetryAfter", &cfg.MaxRetryAfter, defaultRetryAfter},
		{"FirstChunk", &cfg.FirstChunk, defaultSilence},
		{"Idle", &cfg.Idle, defaultSilence},
		{"Total", &cfg.Total, 0},
	} {
		if *d.value < 0 || *d.value > maxTime {
			return nil, &ConfigError{cfg.Name, d.field, *d.value, "use more than 0 and at most a year, or 0 for the default"}
		}
		if *d.value == 0 {
			*d.value = d.zero
		}
	}
	return &Guard{
		provider:      p,
		name:          cfg.Name,
		retry:         retry,
		maxRetryAfter: cfg.MaxRetryAfter,
		silence:       stream.Timeouts{First: cfg.FirstChunk, Idle: cfg.Idle},
		total:         cfg.Total,
		onRetry:       cfg.OnRetry,
	}, nil
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
	return c.run
}

// isNil reports a provider that can't be called: nil, or a nil pointer or function in the interface.
func isNil(p provider.Provider) bool {
	if p == nil {
		return true
	}
	v := reflect.ValueOf(p)
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil()
}
