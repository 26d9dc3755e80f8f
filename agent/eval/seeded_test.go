package eval

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A seeded model calls its tool with a probability, and answers otherwise.
type seeded struct {
	mu     sync.Mutex // guards random
	random *rand.Rand
}

func (s *seeded) agent(p float64) (*agent.Agent, error) {
	s.mu.Lock()
	right := s.random.Float64() < p
	s.mu.Unlock()
	return agentFor(providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		if right && len(req.Messages) == 1 {
			return oslo.Response(), nil
		}
		return answer.Response(), nil
	}), nil)
}

// Agents run, 40 trials before a change and 40 after it: with -repetitions 1000, 200 times with a
// change and 1,000 times without one.
func TestAChangeOfAnAgentIsFoundAndNoChangeIsRarelyReported(t *testing.T) {
	model := &seeded{random: rand.New(rand.NewPCG(7, 8))}
	of := func(p float64) *Report {
		return run(t, func() (*agent.Agent, error) { return model.agent(p) },
			Config{Cases: []Case{weather(Called("weather"), Text("3"))}, Trials: 40})
	}
	found, alarms := 0, 0
	changes := max(*repetitions/5, 3)
	for range changes {
		if len(of(.6).Compare(of(.9)).Worse) > 0 {
			found++
		}
	}
	for range *repetitions {
		c := of(.9).Compare(of(.9))
		if len(c.Worse)+len(c.Better) > 0 {
			alarms++
		}
	}
	t.Logf("found %d of %d, reported %d of %d", found, changes, alarms, *repetitions)
	require.GreaterOrEqual(t, float64(found)/float64(changes), .8)
	require.LessOrEqual(t, alarms, max(*repetitions/20, 1))
	if *repetitions >= 1000 {
		require.LessOrEqual(t, highest(alarms, *repetitions), .065)
	}
}
