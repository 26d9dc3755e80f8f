package work_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/provider/providertest"
)

// BenchmarkEnqueue queues an input beside those that wait already.
func BenchmarkEnqueue(b *testing.B) {
	for _, waiting := range []int{10, 10_000} {
		b.Run(fmt.Sprint(waiting, " waiting"), func(b *testing.B) {
			cfg := sqlite.Config{Durability: sqlite.Process}
			store, err := sqlite.Open(filepath.Join(b.TempDir(), "runs.db"), cfg)
			require.NoError(b, err)
			defer store.Close()
			a, err := agent.New(agent.Config{Journal: store, Provider: providertest.Script()})
			require.NoError(b, err)
			n := 0
			enqueue := func() {
				n++
				in := agent.Input{Session: fmt.Sprint("s-", n), Prompt: "Write the report."}
				require.NoError(b, a.Enqueue(b.Context(), in, agent.QueueOptions{}))
			}
			for range waiting {
				enqueue()
			}
			for b.Loop() {
				enqueue()
			}
		})
	}
}
