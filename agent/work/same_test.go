package work_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A page is the input of the tools.
type page struct {
	N int `json:"n"`
}

// publisher returns an agent that drafts four times and publishes, which is approved, over a
// journal of its own. It knows the step by the conversation.
func publisher(t *testing.T) *agent.Agent {
	done := func(context.Context, page) (string, error) { return "done", nil }
	a, err := agent.New(agent.Config{Name: "a", Journal: &journal.MapStore{},
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "draft"}, done),
			tools.New(tools.Spec{Name: "publish", Risk: tools.High}, done)},
		Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			switch n := len(req.Messages) / 2; n { // of the steps so far
			case 0, 1, 2, 4:
				return providertest.Call("draft", page{n}).Response(), nil
			case 3:
				return providertest.Call("publish", page{n}).Response(), nil
			}
			return providertest.Say("It is published.").Response(), nil
		})})
	require.NoError(t, err)
	return a
}

// approve approves what session s waits for.
func approve(t *testing.T, a *agent.Agent) {
	s := a.Session("s")
	pending, err := s.Pending(t.Context())
	require.NoError(t, err)
	require.Len(t, pending, 1)
	require.NoError(t, s.Decide(t.Context(), agent.Approve(pending[0].ID).By("ann")))
}

// advance drives session s in legs, until it ends or waits.
func advance(t *testing.T, a *agent.Agent, in agent.Input, leg agent.Leg) agent.Next {
	for {
		p, err := a.Advance(t.Context(), in, leg)
		require.NoError(t, err)
		if p.Next != agent.NextAgain {
			return p.Next
		}
		<-time.After(time.Until(p.At))
	}
}

func TestTheSameFactsAreLeftInProcessInLegsAndByAWorker(t *testing.T) { synctest.Test(t, sameFacts) }

func sameFacts(t *testing.T) {
	in := agent.Input{Session: "s", Key: "k", Prompt: "go", User: "ann"}
	here := publisher(t)
	res, err := here.Run(t.Context(), in)
	require.Error(t, err)
	require.Equal(t, agent.Paused, res.Status)
	approve(t, here)
	res, err = here.Run(t.Context(), agent.Continue("s"))
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	want := factsOf(t, here)

	for steps := range 3 {
		leg := agent.Leg{Steps: steps}
		legs := publisher(t)
		require.Equal(t, agent.NextWait, advance(t, legs, in, leg))
		approve(t, legs)
		require.Equal(t, agent.NextEnded, advance(t, legs, in, leg))
		require.Equal(t, want, factsOf(t, legs), "in legs of %d steps", steps)

		a, w := publisher(t), newWorld(t)
		require.NoError(t, a.Enqueue(t.Context(), in, agent.QueueOptions{Attempts: 2}))
		_, stop := w.run(work.Config{Agents: []*agent.Agent{a}, Leg: leg})
		w.pass(time.Minute)
		approve(t, a)
		w.pass(time.Minute)
		stop()
		require.Equal(t, []string{"s completed"}, w.told)
		require.Equal(t, want, factsOf(t, a), "by a worker, in legs of %d steps", steps)
	}
}

var (
	times = regexp.MustCompile(`"(time|took|at|began)":("[^"]*"|\d+),?`)
	ids   = regexp.MustCompile(`\b([a-z]-[0-9a-z]{20,}|[0-9a-f]{16,})\b`)
)

// factsOf returns the facts of session s without times, ids, what only queued runs have, and the
// pauses of legs.
func factsOf(t *testing.T, a *agent.Agent) (list []string) {
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	seen := make(map[string]string) // ids
	for _, f := range facts {
		switch f := f.(type) {
		case *machine.Continued, *machine.Snapshot, *machine.Delivered: // a snapshot comes after so many facts
			continue
		case *machine.RunStarted:
			f.Queue = nil
		case *machine.RunEnded:
			if f.Status == agent.Paused && f.Code == machine.CodeLeg {
				continue
			}
		}
		rec, err := machine.Encode(f)
		require.NoError(t, err)
		text := ids.ReplaceAllStringFunc(times.ReplaceAllString(string(rec.Data), ""), func(id string) string {
			if seen[id] == "" {
				seen[id] = fmt.Sprint("id ", len(seen))
			}
			return seen[id]
		})
		list = append(list, rec.Kind+" "+text)
	}
	return list
}
