package live_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A distant store takes a moment for each lease.
type distant struct{ journal.Store }

func (d *distant) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	time.Sleep(3 * time.Millisecond)
	return d.Store.Lease(ctx, session, owner, ttl)
}

// Fifty messages come at once, to a session that doesn't exist yet, and to one whose run is about
// to end: one begins a run, and all others are read.
func TestManyMessagesAtOnceAreAllRead(t *testing.T) {
	for name, model := range map[string]providertest.Step{
		"a slow model": providertest.Slow(time.Second, providertest.Say("Done.")),
		"a fast model": providertest.Say("Done."),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &distant{&journal.MapStore{}}
				steps := slices.Repeat([]providertest.Step{model}, 1000)
				h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Journal: store}, steps...)})
				for round := range 3 {
					var all sync.WaitGroup
					for i := range 50 {
						all.Go(func() {
							text := fmt.Sprintf("message %d-%d.", round, i)
							if _, err := h.Send(t.Context(), agent.Input{Session: "s", Prompt: text}); err != nil {
								t.Errorf("%s: %v", text, err)
							}
						})
					}
					all.Wait()
				}
				time.Sleep(time.Hour)
				messages, err := h.Agent().Session("s").Messages(t.Context())
				require.NoError(t, err)
				read := map[string]int{}
				for _, m := range messages {
					if m.Role == "user" {
						read[m.Text()]++
					}
				}
				require.Len(t, read, 150)
				for text, n := range read {
					require.Equal(t, 1, n, text)
				}
			})
		})
	}
}

// A run at its limit hasn't been stopped by anybody: what it hasn't read begins another run.
func TestAMessageToARunAtItsLimitIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, agent.Config{Journal: &journal.MapStore{}, Limits: agent.Limits{Duration: 10 * time.Second}},
			providertest.Hang(), providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a})
		start(t, h)
		sent, err := h.Send(t.Context(), agent.Input{Session: "s", Prompt: "And this."})
		require.NoError(t, err)
		require.True(t, sent.Steered)
		time.Sleep(time.Minute)
		messages, err := a.Session("s").Messages(t.Context())
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(messages, func(m provider.Message) bool { return m.Text() == "And this." }))
	})
}
