package machine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// costOf returns what a fact says that something has cost, and whether a step begins with it.
func costOf(f machine.Fact, last uint64) (cost provider.Money, step bool) {
	switch f := f.(type) {
	case *machine.StepStarted:
		return 0, last != uint64(f.Step)
	case *machine.Replied:
		return f.Cost, false
	case *machine.StepFailed:
		return f.Cost, false
	case *machine.Compacted:
		return f.Cost, false
	case *machine.NoteWritten:
		return f.Cost, false
	case *machine.ToolFinished:
		if f.Spent != nil {
			return f.Spent.Cost, false
		}
	case *machine.Suspended:
		if f.Spent != nil {
			return f.Spent.Cost, false
		}
	}
	return 0, false
}

// TestTheTotalsOfASessionAreOfAllItsRuns compares them with what the facts of random sessions say,
// in which runs are replaced and continue the work of others. That a snapshot has them is seen in
// TestAfterASnapshotFactsHaveTheSameEffect.
func TestTheTotalsOfASessionAreOfAllItsRuns(t *testing.T) {
	most := 0
	eachLog(t, 20, func(t *testing.T, s *sim) {
		var cost provider.Money
		steps, last := 0, uint64(0)
		s.after = func(f machine.Fact) {
			if start, ok := f.(*machine.RunStarted); ok && start.ContextReset == nil {
				last = 0
			}
			more, step := costOf(f, last)
			if cost += more; step {
				steps++
				last = uint64(s.m.State().Run.Step)
			}
			totals := s.m.State().Totals
			require.Equal(t, cost, totals.Cost, "after fact %d, %s", len(s.facts), machine.KindOf(f))
			require.Equal(t, steps, totals.Steps, "after fact %d, %s", len(s.facts), machine.KindOf(f))
			require.GreaterOrEqual(t, totals.Cost, s.m.State().Run.Cost)
			most = max(most, totals.Steps-s.m.State().Run.Step)
		}
	})
	require.Greater(t, most, 5, "steps of earlier runs")
}

func TestTheNameOfAModeIsLeftOutOfAHeadIfItDoesNotFit(t *testing.T) {
	for _, mode := range []string{"plan", "<“\x00\x7f”>", strings.Repeat("m", 200), strings.Repeat("m", 250),
		strings.Repeat("\x01", 60)} {
		m, run := machine.New("s"), &machine.Origin{Session: "s", Run: "r"}
		require.NoError(t, m.Apply(&machine.RunStarted{Meta: machine.Meta{Origin: run, Seq: 1}, Mode: mode,
			Message: provider.User("go")}))
		head := m.Head()
		require.NoError(t, head.Validate())
		want := mode
		if len(mode) == 250 || strings.HasPrefix(mode, "\x01") {
			want = ""
		}
		require.Equal(t, want, machine.InfoOf(&journal.Head{Info: head.Info}).Mode)
	}
	require.Zero(t, machine.InfoOf(&journal.Head{Info: []byte("not JSON")}))
}
