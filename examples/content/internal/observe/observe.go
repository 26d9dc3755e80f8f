package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/telemetry"
	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// A Config configures an [Observer].
type Config struct {
	Salt   string           // of the hashes of user ids
	Logger *slog.Logger     // gets the alerts; nil: nothing is logged
	Now    func() time.Time // nil: time.Now
}

// An Observer counts what happens, and knows which alerts are on. It is safe for concurrent use.
type Observer struct {
	*telemetry.Telemetry // its Hooks are for the agent, and its Provider is around the models
	cfg                  Config
	reader               *sdk.ManualReader
	events               metric.Int64UpDownCounter
	took                 metric.Float64Histogram // s

	mu     sync.Mutex
	rates  rates
	alerts map[string]*Alert // those that are on, by rule
	past   []Alert           // those that are over, newest first
	known  map[string]known  // the spans of sessions
}

// New returns an observer.
func New(cfg Config) (*Observer, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	o := &Observer{cfg: cfg, reader: sdk.NewManualReader(), rates: rates{}, alerts: map[string]*Alert{}}
	meters := sdk.NewMeterProvider(sdk.WithReader(o.reader))
	meter := meters.Meter("content")
	var errs [3]error
	o.Telemetry, errs[0] = telemetry.New(telemetry.Config{Metrics: meters})
	o.events, errs[1] = meter.Int64UpDownCounter("content.events")
	o.took, errs[2] = meter.Float64Histogram("content.seconds", metric.WithExplicitBucketBoundaries(.01, .05, .1, .25,
		.5, 1, 2.5, 5, 10, 30, 60, 120))
	return o, errors.Join(errs[:]...)
}

// Event counts what the assistant reports; see assistant.Config.
func (o *Observer) Event(ev assistant.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.cfg.Now()
	if ev.Category != "" && ev.Pipeline.Name == "" {
		o.count("error", string(ev.Category), 1)
	}
	switch ev.Kind {
	case assistant.RequestEnded:
		o.record("request", ev.Intent, ev.Took)
		o.rates.add("requests", now, faults[ev.Category])
	case assistant.PipelineBegan, assistant.PipelineRetried:
		o.count(string(ev.Kind), "", 1)
	case assistant.PipelineEnded:
		o.record("pipeline", ev.Pipeline.State, ev.Took)
		// what the status forbids has done nothing
		rolledBack := ev.Pipeline.State == assistant.PipelineFailed && ev.Category != portfolio.InvalidStatus
		if rolledBack {
			o.count("rollback", ev.Pipeline.Failed, 1)
		}
		o.rates.add("pipelines", now, rolledBack)
	}
}

// faults are the categories of errors that aren't the user's.
var faults = map[portfolio.Category]bool{
	portfolio.ToolExecutionFailed: true, portfolio.ToolTimeout: true, portfolio.AIProviderError: true,
	portfolio.AIRateLimit: true,
}

// Calls returns the ledger of the providers of models. It counts each attempt.
func (o *Observer) Calls() *budget.Ledger {
	return budget.NewLedgerWith(budget.LedgerConfig{Keep: -1, Sink: o.modelCall})
}

func (o *Observer) modelCall(e budget.Entry) {
	o.count("tokens", e.Kind, e.Tokens())
	o.count("provider call "+e.Outcome, e.Provider, 1)
	if e.Outcome != budget.CallDone && e.Outcome != budget.CallFailed {
		return // it was given up by its caller
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rates.add("calls "+e.Provider, o.cfg.Now(), e.Outcome == budget.CallFailed)
}

// hash returns the id of a user as it may be shown.
func (o *Observer) hash(user string) string { return portfolio.Hash(user, o.cfg.Salt) }

// The times of retention.
const (
	traceDays = 7 * 24 * time.Hour
	keptDays  = 30 * 24 * time.Hour
)

// Retain deletes the completed sessions and the logs of completed pipelines that nobody has used
// for 30 days.
func (o *Observer) Retain(ctx context.Context, s *assistant.Services) error {
	if _, err := s.Agent.Retain(ctx, agent.Retention{Idle: keptDays}); err != nil {
		return err
	}
	var failed error
	for head, err := range s.Journal.Heads(ctx,
		journal.Filter{Prefix: contenttools.PipelinePrefix, Kind: "plan", Status: string(plan.Completed)}) {
		if err == nil && head.Updated.Before(o.cfg.Now().Add(-keptDays)) {
			err = s.Journal.Delete(ctx, head.Session, journal.All)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("observe: deleting the logs of pipelines: %w", err))
		}
	}
	return failed
}
