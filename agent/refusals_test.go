package agent_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools"
)

// sentinels are what refusals match, with a refusal of each.
var sentinels = map[string]struct{ sentinel, refusal error }{
	"an open breaker":     {circuit.ErrOpen, &circuit.OpenError{Name: "model", RetryAfter: time.Second}},
	"a full queue":        {ratelimit.ErrFull, &ratelimit.QueueFullError{Gate: "model"}},
	"a long pause":        {ratelimit.ErrPauseTooLong, &ratelimit.PauseTooLongError{Gate: "model", Rest: time.Hour}},
	"a used-up allowance": {ratelimit.ErrUsedUp, &ratelimit.AllowanceError{Key: "ann"}},
	"a spent budget":      {budget.ErrExceeded, &budget.Error{}},
	"a denial":            {tools.ErrDenied, &tools.DenyError{Reason: "not today"}},
	"a guard":             {guard.ErrGaveUp, &guard.GaveUpError{Err: errors.New("no")}},
}

func TestARefusalMatchesItsSentinelHoweverItIsWrapped(t *testing.T) {
	for name, c := range sentinels {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				refuses := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
					return nil, fmt.Errorf("calling: %w", c.refusal)
				})
				guarded, err := guard.New(refuses, guard.Config{})
				require.NoError(t, err)
				for what, cfg := range map[string]agent.Config{
					"alone":   {Provider: refuses, NoGuard: true},
					"guarded": {Provider: refuses},
					"in a hook": {Provider: providertest.Script(), Hooks: []agent.Hooks{{
						BeforeStep: func(context.Context, *agent.Step) error { return agent.Abort(c.refusal) }}}},
					"in a chain": {Provider: guarded},
				} {
					_, err := newAgent(t, cfg).Run(t.Context(), agent.Input{Prompt: "go"})
					require.ErrorIs(t, err, c.sentinel, what)
					for other, o := range sentinels {
						if o.sentinel != c.sentinel && o.sentinel != guard.ErrGaveUp {
							require.NotErrorIs(t, err, o.sentinel, "%s: %s", what, other)
						}
					}
				}
			})
		})
	}
}
