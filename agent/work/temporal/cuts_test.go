package temporal

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

var cuts = flag.Int("cuts", 20, "how many activities are cut in the middle; .ci/full uses 200")

// TestActivitiesThatAreCutInTheMiddleLeaveTheFactsOfARunInProcess: the context of each ends at a
// random point within a model call, a tool call or an append, or its answer to Temporal is lost.
func TestActivitiesThatAreCutInTheMiddleLeaveTheFactsOfARunInProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := 2 * *cuts
		whole := newWorld()
		_, in := whole.worker(t, pays("pay", steps))
		_, err := in.Run(context.Background(), first)
		require.NoError(t, err)

		w, random, cut, lost := newWorld(), rand.New(rand.NewPCG(3, 4)), 0, 0
		_, a := w.worker(t, pays("pay", steps))
		e := newEnv(t, func(ctx context.Context, args legArgs) (progress, error) {
			if cut == *cuts {
				return of(a).do(ctx, args)
			}
			ctx, end := context.WithCancel(ctx)
			defer end()
			w.next(1+random.IntN(15), end)
			out, err := of(a).do(ctx, args)
			w.next(0, nil)
			cut++
			if random.IntN(3) == 0 {
				lost++
				return progress{}, errors.New("the answer was lost")
			}
			return out, err
		})
		end, err := e.run(first, agent.Leg{})
		require.NoError(t, err)
		require.Equal(t, agent.Completed, end.Status)
		require.Equal(t, *cuts, cut)
		require.NotZero(t, lost)
		w.each(t, steps)
		here, legs := factsOf(t, in), factsOf(t, a)
		require.Greater(t, len(here), 4*steps)
		for i := range min(len(here), len(legs)) {
			require.Equal(t, here[i], legs[i])
		}
		require.Len(t, legs, len(here))
		t.Log(cut, "cuts,", lost, "lost answers,", e.legs, "activities,", pauses(t, a, machine.CodeLeg), "pauses,",
			steps, "effects")
	})
}

// varies are times, durations and ids in facts.
var varies = regexp.MustCompile(`"(time|trace|span|took|at|began)":("[^"]*"|\d+),?`)

// factsOf returns the facts of session "s" without times, ids, snapshots and the pauses of legs.
func factsOf(t *testing.T, a *agent.Agent) (list []string) {
	facts, err := a.Session("s").Facts(context.Background())
	require.NoError(t, err)
	for _, f := range facts {
		switch f := f.(type) {
		case *machine.Continued, *machine.Snapshot: // a snapshot comes after so many facts, pauses among them
			continue
		case *agent.RunEnded:
			if f.Status == agent.Paused && f.Code == machine.CodeLeg {
				continue
			}
		}
		rec, err := machine.Encode(f)
		require.NoError(t, err)
		text := strings.ReplaceAll(string(rec.Data), f.Envelope().Run(), "RUN")
		list = append(list, fmt.Sprintf("%s %s", rec.Kind, varies.ReplaceAllString(text, "")))
	}
	return list
}
