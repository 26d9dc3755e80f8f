package durable

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A model is the fake model as Pawl's provider. It knows its step by the messages of the request.
type model struct{ made *made }

// EndsWithContext returns true: an answer is at hand and never waits.
func (m model) EndsWithContext() bool { return true }

// Stream answers the call of a step.
func (m model) Stream(_ context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	answer := m.made.model((len(req.Messages) - 1) / 2)
	return func(yield func(provider.Chunk, error) bool) {
		chunks, stop := []provider.Chunk{provider.Text(answer.Text)}, provider.StopDone
		if answer.Tool != "" {
			in, err := json.Marshal(answer.Input)
			if err != nil {
				yield(provider.Chunk{}, err)
				return
			}
			stop = provider.StopToolCalls
			chunks = []provider.Chunk{provider.ToolStart(0, "call", answer.Tool),
				provider.ToolDelta(0, string(in)), provider.ToolEnd(0)}
		}
		for _, c := range append(append([]provider.Chunk{provider.Start("fake")}, chunks...),
			provider.End(stop, provider.Usage{Input: 10, Output: 10})) {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// newAgent returns the agent that does the work, with its journal in a store.
func newAgent(store journal.Store, m *made) (*agent.Agent, error) {
	add := tools.New(tools.Spec{Name: "add", Description: "Adds two numbers.", Inline: true},
		func(_ context.Context, in input) (sum, error) { return m.tool(in), nil })
	return agent.New(agent.Config{
		Name:     "adder",
		Provider: model{m},
		Journal:  store,
		Tools:    []tools.Tool{add},
		Limits:   agent.Limits{Steps: steps + 1},
	})
}

// onPostgres is Pawl with its journal in PostgreSQL.
func onPostgres(dsn string, m *made) func(context.Context) (doer, error) {
	return func(ctx context.Context) (doer, error) {
		store, err := postgres.Open(ctx, postgres.Config{DSN: dsn})
		if err != nil {
			return doer{}, err
		}
		return runs(store, m, store.Close)
	}
}

// onSQLite is Pawl with its journal in SQLite.
func onSQLite(path string, d sqlite.Durability, m *made) func(context.Context) (doer, error) {
	return func(context.Context) (doer, error) {
		store, err := sqlite.Open(path, sqlite.Config{Durability: d})
		if err != nil {
			return doer{}, err
		}
		return runs(store, m, store.Close)
	}
}

func runs(store journal.Store, m *made, end func() error) (doer, error) {
	a, err := newAgent(store, m)
	return doer{close: end, do: func(ctx context.Context, names []string) error {
		return each(names, func(name string) error {
			res, err := a.Run(ctx, agent.Input{Session: name, Prompt: prompt})
			if err == nil && res.Text() == "" {
				err = fmt.Errorf("it ended without an answer")
			}
			return err
		})
	}}, err
}
