package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// Runs of two processes end at once; one of them tells the host of all.
func TestEndsInAllProcessesAreDelivered(t *testing.T) {
	const sessions = 20
	cfg := empty(t)
	told, refused := make(chan string, 100), false
	var mu sync.Mutex
	deliver := func(_ context.Context, d live.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		if !refused {
			refused = true
			return errors.New("once")
		}
		if _, ended := d.Fact.(*agent.RunEnded); ended {
			told <- d.Session
		}
		return nil
	}
	var runs sync.WaitGroup
	for process := range 2 {
		a, err := agent.New(agent.Config{Journal: open(t, cfg),
			Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
				return providertest.Say("Done.").Response(), nil
			})})
		require.NoError(t, err)
		h, err := live.New(live.Config{Agent: a, Recover: -1, Deliver: deliver})
		require.NoError(t, err)
		defer func() { require.NoError(t, h.Close()) }()
		for i := range sessions / 2 {
			runs.Go(func() {
				_, err := a.Run(t.Context(), agent.Input{Session: fmt.Sprint("s-", process, "-", i), Prompt: "go"})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	runs.Wait()
	seen := make(map[string]int)
	for len(seen) < sessions {
		seen[<-told]++
	}
	for session, n := range seen {
		require.Equal(t, 1, n, session)
	}
	for h, err := range open(t, cfg).Heads(t.Context(), journal.Filter{NoKind: true}) {
		require.NoError(t, err)
		require.Contains(t, seen, h.Session)
	}
}
