package durable

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// counter is an agent whose model calls a quick tool in each step, for as many steps as the prompt
// has bytes.
func counter(tb testing.TB, store journal.Store) *agent.Agent {
	step := providertest.Calls(providertest.CallSpec{Tool: "add", Input: Order{7}}).Response()
	end := providertest.Say("Done.").Response()
	a, err := agent.New(agent.Config{
		Name: "counter", Journal: store,
		Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			last := 0
			for i := range req.Messages {
				if req.Messages[i].Role == provider.RoleUser {
					last = i
				}
			}
			if len(req.Messages)-last > 2*len(req.Messages[last].Text()) {
				return end, nil
			}
			return step, nil
		}),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "add", Inline: true},
			func(_ context.Context, in Order) (Order, error) { return Order{in.N + 1}, nil })},
		Limits: agent.Limits{Steps: -1, Repeats: -1, Tokens: -1},
	})
	require.NoError(tb, err)
	return a
}

// prompt asks for so many steps.
func prompt(steps int) string { return fmt.Sprintf("%0*d", steps, 0) }

// stores are those that are measured, for one benchmark each.
func stores(b *testing.B) map[string]func() journal.Store {
	sqlitely := func(d sqlite.Durability) func() journal.Store {
		return func() journal.Store {
			s, err := sqlite.Open(filepath.Join(b.TempDir(), "runs.db"), sqlite.Config{Durability: d})
			require.NoError(b, err)
			b.Cleanup(func() { s.Close() })
			return s
		}
	}
	return map[string]func() journal.Store{
		"none": func() journal.Store { return nil }, "memory": func() journal.Store { return &journal.MapStore{} },
		"sqlite": sqlitely(sqlite.Power), "sqlite-process": sqlitely(sqlite.Process),
	}
}

// BenchmarkStep is a step of a run: a model call and a tool call, four facts. The sessions are
// forgotten as they end.
func BenchmarkStep(b *testing.B) {
	const steps = 50
	open := stores(b)
	for _, name := range []string{"none", "memory", "sqlite-process", "sqlite"} {
		b.Run(name, func(b *testing.B) {
			a := counter(b, open[name]())
			b.ReportAllocs()
			for b.Loop() {
				res, err := a.Run(b.Context(), agent.Input{Prompt: prompt(steps)})
				if err != nil || res.Steps != steps+1 {
					b.Fatal(err, res)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(steps+1), "ns/step")
		})
	}
}

// BenchmarkResume loads a session of 10,000 facts, and resumes it.
func BenchmarkResume(b *testing.B) {
	open := stores(b)
	for _, name := range []string{"memory", "sqlite-process"} {
		b.Run(name, func(b *testing.B) {
			store := open[name]()
			a := counter(b, store)
			_, err := a.Run(b.Context(), agent.Input{Session: Session, Prompt: prompt(2500)})
			require.NoError(b, err)
			facts, err := a.Session(Session).Facts(b.Context())
			require.NoError(b, err)
			require.Greater(b, len(facts), 10_000)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				pending, err := a.Session(Session).Pending(b.Context()) // loads it whole
				if err != nil || len(pending) > 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
