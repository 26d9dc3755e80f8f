package assistant

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// Failover returns a provider that asks the first of these, and the next one when that fails. Each
// is asked up to four times, with waits from 2 s. When one is rate limited, its calls go to the
// next one if that is free, else they queue for up to 60 s. One that keeps failing isn't asked for
// 30 s ([circuit.LLM]). calls gets each attempt; nil: they aren't counted.
func Failover(logger *slog.Logger, calls *budget.Ledger, models ...provider.Provider) (provider.Provider, error) {
	retry := fault.Retry{Attempts: 4, Min: 2 * time.Second, Max: 30 * time.Second}
	guarded := make([]provider.Provider, len(models))
	for i, m := range models {
		name := fmt.Sprintf("model %d", i+1)
		g, err := guard.New(m,
			guard.Config{Name: name, Retry: map[fault.Class]fault.Retry{fault.Transient: retry, fault.Degraded: retry},
				MaxRetryAfter: time.Minute, Ledger: calls,
				Gate:    ratelimit.NewGate(ratelimit.GateConfig{Name: name, MaxRetryAfter: time.Minute}),
				Breaker: circuit.New(name, circuit.LLM())})
		if err != nil {
			return nil, err
		}
		guarded[i] = g
	}
	c, err := guard.NewChain(guard.ChainConfig{Name: "models", OnEvent: func(ctx context.Context, ev guard.Event) {
		if ev, ok := ev.(guard.MovedOn); ok {
			logger.WarnContext(ctx, "content: a provider fails, and the next one is asked", "from", ev.From,
				"to", ev.To, "error", ev.Err)
		}
	}}, guarded...)
	if err != nil {
		return nil, err
	}
	return c, nil
}
