package agent_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/tools"
)

// A slowHandler takes a second for each record.
type slowHandler struct{ slog.Handler }

func (slowHandler) Enabled(context.Context, slog.Level) bool { return true }

func (slowHandler) Handle(context.Context, slog.Record) error {
	<-time.After(time.Second)
	return nil
}

func TestAFactThatTheJournalRefusesIsNotShownWhileThatIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &unwilling{Store: journal.NewMemory()}
		refuse := tools.New(tools.Spec{Name: "refuse"}, func(context.Context, Number) (string, error) {
			store.on = true
			return "ok", nil
		})
		a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{refuse}, Logger: slog.New(slowHandler{})},
			call("refuse", 1), say("Done."))
		all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
		require.ErrorContains(t, err, "refused by order")
		require.Empty(t, of[*agent.ToolFinished](all))
		require.Len(t, of[*agent.RunEnded](all), 1)
	})
}

func TestTheEndOfARunWhoseContextResetTheJournalRefusesIsOfThatRun(t *testing.T) {
	mem := small()
	mem.ContextReset = noted()
	reset := tools.New(tools.Spec{Name: "reset"}, func(ctx context.Context, _ Number) (string, error) {
		return "ok", agent.RequestContextReset(ctx)
	})
	a, _ := scripted(t,
		agent.Config{Journal: refusesResets{journal.NewMemory()}, Memory: mem, Tools: []tools.Tool{reset}},
		call("reset", 1), say("Done."))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.ErrorContains(t, err, "refused by order")
	ends := of[*agent.RunEnded](all)
	require.Len(t, ends, 1)
	require.Equal(t, of[*agent.RunStarted](all)[0].Run(), ends[0].Run())
	require.Equal(t, ends[0].Run(), ends[0].Result.Run)
}

// A refusesResets store refuses context resets.
type refusesResets struct{ journal.Store }

func (s refusesResets) Append(ctx context.Context, a journal.Append) error {
	if len(a.Records) > 1 && a.Records[len(a.Records)-1].Kind == "run_started" {
		return journal.Unusable("store: refused by order")
	}
	return s.Store.Append(ctx, a)
}
