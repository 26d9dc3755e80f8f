package durable

import (
	"context"
	"iter"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A readCounter counts the records that are read from a store.
type readCounter struct {
	journal.Store
	n int
}

func (c *readCounter) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for rec, err := range c.Store.Read(ctx, session, after) {
			c.n++
			if !yield(rec, err) {
				return
			}
		}
	}
}

func openFile(tb testing.TB, d sqlite.Durability) *readCounter {
	s, err := sqlite.Open(filepath.Join(tb.TempDir(), "runs.db"), sqlite.Config{Durability: d})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })
	return &readCounter{Store: s}
}

// agreeing is an agent whose model says the same to everything.
func agreeing(tb testing.TB, store journal.Store) *agent.Agent {
	reply := providertest.Say("Yes, with pleasure.").Response()
	a, err := agent.New(agent.Config{Journal: store,
		Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			return reply, nil
		})})
	require.NoError(tb, err)
	return a
}

// turn makes a run in a session, and returns how long it took.
func turn(tb testing.TB, a *agent.Agent, session string) time.Duration {
	began := time.Now()
	res, err := a.Run(tb.Context(), agent.Input{Session: session, Prompt: "Do the next one, please."})
	require.NoError(tb, err)
	require.Equal(tb, agent.Completed, res.Status)
	return time.Since(began)
}

func TestATurnOfALongSessionInSQLiteReadsNoMoreThanOneOfAShortSession(t *testing.T) {
	store := openFile(t, sqlite.Process)
	a := agreeing(t, store)
	turn(t, a, "s")
	store.n = 0
	for range 300 {
		turn(t, a, "s")
	}
	require.Equal(t, 300, store.n, "each turn reads one record")
	store.n = 0
	turn(t, agreeing(t, store), "s") // another process
	require.LessOrEqual(t, store.n, 700)
}

// BenchmarkTurnsOfASession prints the median time of the last 200 of 2,000 turns in one session in
// SQLite, beside that of the first 200 turns of another session, which are made in turn with them.
func BenchmarkTurnsOfASession(b *testing.B) {
	for name, d := range map[string]sqlite.Durability{"power": sqlite.Power, "process": sqlite.Process} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				a := agreeing(b, openFile(b, d))
				began := time.Now()
				for range 1800 {
					turn(b, a, "s")
				}
				var first, last []time.Duration
				for range 200 {
					first, last = append(first, turn(b, a, "t")), append(last, turn(b, a, "s"))
				}
				slices.Sort(first)
				slices.Sort(last)
				b.ReportMetric(time.Since(began).Seconds(), "s/2200")
				b.ReportMetric(float64(first[100].Microseconds()), "first-µs")
				b.ReportMetric(float64(last[100].Microseconds()), "last-µs")
				b.ReportMetric(float64(last[100])/float64(first[100]), "last/first")
			}
		})
	}
}
