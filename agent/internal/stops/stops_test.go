package stops

import (
	"flag"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

var (
	every  = flag.Int("every", 100, "of so many points, one is tried; 1 tries all")
	update = flag.Bool("update", false, "write the tables of docs/durability.md; set -every 1, too")
)

func TestNothingIsLostWhenAProcessOfARunIsStopped(t *testing.T) {
	tab := table{corner: "a process that drives a run is stopped"}
	var names []string
	for i := range scenarios {
		names = append(names, scenarios[i].name)
		for j := range ways {
			if only := ways[j].only; only != nil && !slices.Contains(only, scenarios[i].name) {
				tab.add(ways[j].name, scenarios[i].name, 0)
				continue
			}
			t.Run(scenarios[i].name+"/"+ways[j].name, func(t *testing.T) {
				points, tried := 0, 0
				for stopAt := 0; stopAt <= points; stopAt++ {
					if stopAt > 0 && (stopAt+i+j)%*every != 0 {
						continue
					}
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t, stopAt)
						n := w.run(&scenarios[i], &ways[j])
						if stopAt == 0 {
							points = n
						}
						require.Empty(t, w.failed())
						if w.stopped() {
							tried++
						}
					})
				}
				require.Greater(t, points, 10)
				tab.add(ways[j].name, scenarios[i].name, tried)
			})
		}
	}
	tab.compare(t, names)
}
