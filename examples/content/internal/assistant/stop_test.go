package assistant

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// after are the statuses of an article that a number of steps were done with.
var after = []portfolio.Status{portfolio.Draft, portfolio.Research, portfolio.Skeleton, portfolio.CreatingVisuals,
	portfolio.CreatingVisuals, portfolio.Ready}

// Whenever a pipeline is stopped, its state, the status of its article and the answer say the same.
func TestWhatIsStoppedSaysOneTruth(t *testing.T) {
	t.Parallel()
	type moment struct {
		purpose string
		n       int
	}
	for _, m := range sampled(3, moment{"insights", 1}, moment{"skeleton", 1}, moment{"writer", 2}, moment{"writer", 6},
		moment{"humanizer", 1}) {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.draft("ann", "Remote work")
			var stopping sync.WaitGroup
			b.fails = func(purpose string, n int) error {
				if purpose == m.purpose && n == m.n {
					stopping.Go(func() { _ = b.Cancel(context.Background(), "ann", a.ID) })
					b.stopped(a.ID)
				}
				return nil
			}
			answer := b.say("ann", a.ID, button(a))
			stopping.Wait()
			p, err := b.Pipeline(t.Context(), "ann", a.ID)
			require.NoError(t, err)
			require.Equal(t, PipelineStopped, p.State)
			require.Equal(t, after[len(p.Done)], b.artifact("ann", a.ID).Status, p.Done)
			require.Contains(t, answer.Message, stopped(p.Done, p.Tools[len(p.Done):]))
			require.True(t, b.say("ann", a.ID, "Continue").Success)
			require.Equal(t, portfolio.Ready, b.artifact("ann", a.ID).Status)
			require.Equal(t, 6, b.asked["writer"], "nothing is written twice")
		})
	}
}

// stopped waits until the pipeline of an artifact is being stopped.
func (b *bench) stopped(id string) {
	b.Services.mu.Lock()
	d := b.pipelines[id]
	b.Services.mu.Unlock()
	<-d.ctx.Done()
}

// A no in the chat ends the proposal that was just made; another message leaves it.
func TestANoEndsAProposal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.ready("ann", "Remote work")
	for message, ended := range map[string]bool{"no": true, "hm, no. the introduction only": true, "Nein danke": true,
		"What's the status?": false, "no, accept it": false} {
		require.Contains(t, b.say("ann", a.ID, "Make it shorter").Message, "I have a proposal")
		answer := b.say("ann", a.ID, message)
		p, err := b.Store.Proposal(t.Context(), "ann", a.ID)
		require.NoError(t, err)
		if ended {
			require.Nil(t, p, message)
			require.Equal(t, "The proposal is rejected. “Remote work” is as it was.", answer.Message)
		} else if p != nil {
			require.NotContains(t, answer.Message, "rejected")
		}
	}
	require.Equal(t, a.Content, b.artifact("ann", a.ID).Content)
}
