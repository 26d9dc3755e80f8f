package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/ratelimit/budget"
)

// The test binary also plays the program, as a process of its own.
const roleVar = "PAWL_GATE_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVar) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

func TestADayKeepsItsPromises(t *testing.T) {
	p := newPlan(3, 16)
	var sides [2]*side
	bubbleOf(t)(func() {
		var err error
		sides, err = p.run()
		require.NoError(t, err)
	})
	pawl, fifo := sides[0], sides[1]
	for _, s := range sides {
		require.Equal(t, len(p.calls), s.lanes[chat].asked+s.background().asked)
		require.Equal(t, s.lanes[chat].asked, s.lanes[chat].done, "%s: people have answers", s.name)
	}
	require.Less(t, 5*pawl.lanes[chat].waits.p(.99), fifo.lanes[chat].waits.p(.99), "people wait less")
	require.Less(t, pawl.lanes[work].waits.p(.9), pawl.lanes[reindex].waits.p(.5), "work goes before floods")
	require.Positive(t, pawl.lanes[audit].overBudget)
	require.Equal(t, pawl.lanes[audit].overBudget, pawl.background().asked-pawl.background().done)
	require.LessOrEqual(t, float64(pawl.ledger.Total(budget.Filter{Task: audit}).Micros), p.auditLimit.USD*1e6)
	require.Positive(t, pawl.opened)
	require.Less(t, pawl.primary.down, fifo.primary.down, "the breaker spares the provider that fails")
}

func TestTheProgramMakesTheSameDayOfASeedInItsOwnVirtualTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gate.svg")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-sessions", "2", "-seed", "5", "-svg", file)
	cmd.Env = append(os.Environ(), roleVar+"=program")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var again, other bytes.Buffer
	require.NoError(t, run(5, 2, "", &again, bubbleOf(t)))
	require.NoError(t, run(6, 2, "", &other, bubbleOf(t)))
	summary, _, _ := strings.Cut(again.String(), "\nA day in")
	require.True(t, strings.HasPrefix(string(out), summary), "%s", out)
	require.NotContains(t, other.String(), summary)
	svg, err := os.ReadFile(file)
	require.NoError(t, err)
	for dec := xml.NewDecoder(bytes.NewReader(svg)); err == nil; {
		_, err = dec.Token()
	}
	require.ErrorIs(t, err, io.EOF, "the chart is XML")
}
