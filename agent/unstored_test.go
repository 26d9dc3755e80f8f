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
