package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/tools"
)

// A showing handler shows what is logged to whoever reads the run, as a host might.
type showing struct{ slog.Handler }

func (showing) Enabled(context.Context, slog.Level) bool { return true }

func (showing) Handle(ctx context.Context, r slog.Record) error {
	return agent.Show(ctx, "log", r.Message)
}

// An unwilling store refuses appends once it is told so.
type unwilling struct {
	journal.Store
	on bool
}

func (s *unwilling) Append(ctx context.Context, a journal.Append) error {
	if s.on {
		return journal.Unusable("store: refused by order")
	}
	return s.Store.Append(ctx, a)
}

func TestALoggerAndRedactMayCallTheAgentWhenTheJournalRefusesAnAppend(t *testing.T) {
	store := &unwilling{Store: &journal.MapStore{}}
	var in context.Context
	refuse := tools.New(tools.Spec{Name: "refuse"}, func(ctx context.Context, _ Number) (string, error) {
		in, store.on = ctx, true
		return "ok", nil
	})
	redacted := 0
	cfg := agent.Config{Journal: store, Tools: []tools.Tool{refuse}, Logger: slog.New(showing{slog.DiscardHandler}),
		Redact: func(s string) string {
			if strings.Contains(s, "refused by order") {
				_ = agent.Show(in, "redacting", len(s))
				redacted++
			}
			return s
		}}
	a, _ := scripted(t, cfg, call("refuse", 1), say("Done."))
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.ErrorContains(t, err, "refused by order")
	require.Positive(t, redacted)
}

func TestRedactMayCallTheAgentWhenASourceFails(t *testing.T) {
	src := newCatalog("src")
	var in context.Context
	load := doing("load", func(ctx context.Context) error {
		in = ctx
		src.set(errors.New("no connection"))
		return agent.LoadTools(ctx)
	})
	a, _ := scripted(t,
		agent.Config{Tools: []tools.Tool{load}, Sources: []tools.Source{src}, Redact: func(s string) string {
			if strings.Contains(s, "no connection") {
				_ = agent.Show(in, "redacting", len(s))
			}
			return s
		}}, call("load", 1), say("Done."))
	all, _ := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.Len(t, of[*agent.Shown](all), 1)
	require.Len(t, of[*agent.SourceFailed](all), 1)
}
