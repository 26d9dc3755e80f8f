package live_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A few readers get each piece of text when it comes. Many get several pieces as one, at most every
// 50 µs for each of them, and miss nothing.
func TestManyReadersGetPiecesOfTextTogether(t *testing.T) {
	for name, c := range map[string]struct{ readers, least, most int }{
		"a few": {20, 1000, 1000},
		"many":  {400, 25, 100}, // a piece comes each millisecond
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAgent(t, agent.Config{Journal: &journal.MapStore{}},
					providertest.Slow(time.Millisecond, providertest.SayChunks(repeat("x", 1000)...)))
				h := newHub(t, live.Config{Agent: a})
				run := start(t, h)
				pages := make([]*page, c.readers)
				var wg sync.WaitGroup
				for i := range pages {
					wg.Go(func() { pages[i] = watch(t, h, run.After, nil) })
				}
				wg.Wait()
				for _, p := range pages {
					pieces, text := 0, ""
					for _, ev := range p.all {
						if d, ok := ev.(*agent.TextDelta); ok {
							pieces, text = pieces+1, text+d.Text
						}
					}
					require.Len(t, text, 1000)
					require.GreaterOrEqual(t, pieces, c.least)
					require.LessOrEqual(t, pieces, c.most)
					require.Zero(t, p.lost)
				}
			})
		})
	}
}
