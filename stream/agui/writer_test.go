package agui_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/aguitest"
	"github.com/pawlkit/pawl/stream/agui"
)

// TestWhateverIsWrittenTheStreamIsLegal writes random events, of which many are refused.
func TestWhateverIsWrittenTheStreamIsLegal(t *testing.T) {
	written := make(map[agui.Type]int)
	refused := make(map[agui.Type]int)
	for seed := range uint64(400 * *share / 100) {
		r := rand.New(rand.NewPCG(seed, 2))
		var stream []string
		c := new(checker)
		w := agui.NewWriter(func(data []byte) error {
			stream = append(stream, string(data))
			require.NotContains(t, string(data), "\n")
			e, err := agui.Unmarshal(data)
			require.NoError(t, err, "%s", data)
			require.NoError(t, c.accept(e), "seed %d:\n%s", seed, strings.Join(stream, "\n"))
			written[agui.TypeOf(e)]++
			return nil
		})
		if r.IntN(20) > 0 {
			require.NoError(t, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"}))
		}
		for range r.IntN(150) {
			e, before := aguitest.Event(r), len(stream)
			if f, ok := e.(agui.RunFinished); ok && f.Outcome.Type == "" && r.IntN(3) > 0 {
				continue // long runs have more in them
			}
			err := w.Write(e)
			if err == nil {
				require.Greater(t, len(stream), before)
				continue
			}
			_, grammar := errors.AsType[*agui.GrammarError](err)
			_, value := errors.AsType[*agui.EventError](err)
			require.True(t, grammar || value, "%T: %v", err, err)
			require.Len(t, stream, before, "a refused event was written: %v", err)
			refused[agui.TypeOf(e)]++
		}
		require.NoError(t, w.Close())
		if len(stream) > 0 {
			require.Contains(t, []string{"finished", "failed"}, c.state)
		}
		before := len(stream)
		require.NoError(t, w.Close())
		require.ErrorAs(t, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r9"}), new(*agui.GrammarError))
		require.Len(t, stream, before)
	}
	require.Len(t, written, 31-3, "each type but the chunks was written")
	require.Greater(t, len(refused), 20)
}
