package bench

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/bench/loop"
)

var undeclared = flag.Bool("undeclared", false, "Pawl's model doesn't declare that its calls end with their context")

var rounds = flag.Int("shares", 0, "rounds in which TestTimes measures; it prints the medians")

// TestTimes prints what Pawl takes of the peer's time and allocations, beside the goals.
func TestTimes(t *testing.T) {
	if *rounds < 1 {
		t.Skip("it prints figures and asserts nothing: ask for them with -shares 5")
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "steps·calls·chunks\teino µs\tpawl µs\ttime\t(of rounds)\tgoal\t\tCPU\teino allocs\tpawl allocs\t"+
		"allocs\tgoal\t\tat most\t")
	for _, s := range loop.Shapes {
		both := sides(t, s)
		share, err := loop.Compare(t.Context(), both["pawl"], both["eino"], *rounds)
		require.NoError(t, err)
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.2f\t(%.2f to %.2f)\t%.2f\t%s\t%.2f\t%.0f\t%.0f\t%.3f\t%.2f\t%s\t%.2f\t\n", s,
			share.Peer.Time/1e3, share.Pawl.Time/1e3, share.Time, share.Lowest, share.Highest, aims[s].Time,
			compared(share.Time, aims[s].Time), share.CPU, share.Peer.Allocations, share.Pawl.Allocations,
			share.Allocations, allocsGoal, compared(share.Allocations, allocsGoal), aims[s].Allocs)
	}
	require.NoError(t, w.Flush())
}

// compared says whether a share reaches its goal.
func compared(share, goal float64) string {
	if share <= goal {
		return "reached"
	}
	return "missed"
}
