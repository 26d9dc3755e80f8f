package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestASwitchOfModesMovesTheTimeOfARun: to a later end, to an earlier one, and to none. A call
// works on under it.
func TestASwitchOfModesMovesTheTimeOfARun(t *testing.T) {
	const works = 30 * time.Minute
	for to, want := range map[string]time.Duration{
		"long": 0, "endless": 0, // it completes
		"short": 10 * time.Second, "start": time.Minute,
	} {
		t.Run(to, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limit := func(d time.Duration) *agent.Limits { return &agent.Limits{Duration: d} }
				a, err := agent.New(agent.Config{
					Provider: providertest.Script(call("work", 1), say("Done.")),
					Modes: []agent.Mode{
						{Name: "start", Limits: limit(time.Minute)}, {Name: "long", Limits: limit(time.Hour)},
						{Name: "endless", Limits: limit(-1)}, {Name: "short", Limits: limit(10 * time.Second)},
					},
					Tools: []tools.Tool{tools.New(tools.Spec{Name: "work", Timeout: 24 * time.Hour},
						func(ctx context.Context, _ Number) (string, error) {
							if err := agent.SwitchMode(ctx, to, ""); err != nil {
								return "", err
							}
							select {
							case <-ctx.Done():
								return "", ctx.Err()
							case <-time.After(works):
								return "worked", nil
							}
						})},
				})
				require.NoError(t, err)
				began := time.Now()
				res, _ := a.Run(t.Context(), agent.Input{Prompt: "Go."})
				if want == 0 {
					require.Equal(t, agent.Completed, res.Status, "%v", res.Err())
					require.Equal(t, works, time.Since(began))
					return
				}
				var over *agent.LimitError
				require.ErrorAs(t, res.Err(), &over)
				require.Equal(t, machine.LimitDuration, over.Limit)
				require.EqualValues(t, want, over.Max)
				require.Equal(t, want, time.Since(began))
			})
		})
	}
}
