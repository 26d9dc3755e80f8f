package river_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	pawlriver "github.com/pawlkit/pawl/agent/work/river"
)

func TestJobsLeaveTheFactsOfARunInProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agentFor(t, agent.Config{})
	_, err := a.Run(t.Context(), agent.Input{Session: "here", Key: "first", Prompt: "Publish a page."})
	require.Error(t, err, "it waits for a decision")
	w.approves(t, a, "here")
	_, err = a.Run(t.Context(), agent.Continue("here"))
	require.NoError(t, err)

	c := w.start(t, w.config(a))
	w.enqueue(t, c, "s")
	w.awaitStatus(t, "s", agent.Paused)
	w.await(t, 2, completed)
	w.approves(t, a, "s")
	require.NoError(t, pawlriver.Wake(t.Context(), c, "s"))
	w.await(t, 1, "SELECT count(*) FROM ended WHERE session = 's' AND status = 'completed'")
	require.Equal(t, factsOf(t, a, "here"), factsOf(t, a, "s"))
}

// varies are times and ids in facts.
var varies = regexp.MustCompile(`"(time|took|at|began)":("[^"]*"|\d+),?|\b([a-z]-[0-9a-z]{20,}|[0-9a-f]{16,})\b`)

// factsOf returns the facts of a session without times, ids and the pauses of legs.
func factsOf(t *testing.T, a *agent.Agent, session string) (list []string) {
	facts, err := a.Session(session).Facts(t.Context())
	require.NoError(t, err)
	for _, f := range facts {
		if end, ok := f.(*machine.RunEnded); ok && end.Code == machine.CodeLeg {
			continue
		}
		rec, err := machine.Encode(f)
		require.NoError(t, err)
		if _, ok := f.(*machine.Continued); !ok {
			list = append(list, fmt.Sprint(rec.Kind, varies.ReplaceAllString(string(rec.Data), "")))
		}
	}
	return list
}
