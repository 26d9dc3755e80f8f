package agent_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestNothingIsLostThatIsSentWhileARunLooksForIt: two senders race with each other and with a run
// that looks before each step, and that continues until it is told to stop. What was sent while
// step n was the newest that anyone had seen is read before the next step but one, also if nobody
// sends anything after it.
func TestNothingIsLostThatIsSentWhileARunLooksForIt(t *testing.T) {
	const runs, rounds, senders = 3, 300, 2
	type sent struct {
		text string
		seen int
	}
	for range runs {
		var e effects
		a := newAgent(t, agent.Config{
			Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
				return callOf("work", Number{1}), nil
			}),
			Tools:  []tools.Tool{e.tool(tools.Spec{Name: "work", Polls: true})},
			Limits: agent.Limits{Steps: -1, Duration: -1},
		})
		var (
			newest, stopped atomic.Int64
			newestOf        [senders]atomic.Pointer[sent]
			all             sync.WaitGroup
		)
		send := func(sender, round int) {
			text := fmt.Sprint(sender, " ", round)
			receipt, err := a.Session("s").Steer(t.Context(), text)
			if err != nil {
				t.Error(err)
				return
			}
			newestOf[sender].Store(&sent{text, int(newest.Load())})
			if _, err := receipt.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
		var start [senders]chan int
		done := make(chan bool, senders)
		work := func() {
			for sender := range senders {
				start[sender] = make(chan int)
				all.Go(func() {
					for round := range start[sender] {
						send(sender, round)
						done <- true
					}
				})
			}
			for round := 0; round < rounds && !t.Failed(); round++ {
				for sender := range senders { // at once
					start[sender] <- round
				}
				for range senders {
					<-done
				}
			}
			for sender := range senders {
				close(start[sender])
			}
			if err := a.Session("s").Stop(t.Context()); err != nil {
				t.Error(err)
			}
			stopped.Store(newest.Load())
		}
		read := make(map[string]bool)
		var res *agent.Result
		for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			if err != nil || t.Failed() {
				t.Error(err)
				break
			}
			switch ev := ev.(type) {
			case *agent.StepStarted:
				if newest.Store(int64(ev.Step)); ev.Step == 1 {
					all.Go(work)
				}
				for i := range newestOf {
					if s := newestOf[i].Load(); s != nil && !read[s.text] && ev.Step > s.seen+1 {
						t.Errorf("%q was sent at step %d and isn't read before step %d", s.text, s.seen, ev.Step)
					}
				}
			case *machine.Steered:
				read[ev.Message.Text()] = true
			case *agent.RunEnded:
				res = ev.Result
			}
		}
		all.Wait()
		require.False(t, t.Failed())
		require.Equal(t, machine.CodeHost, res.Code)
		require.LessOrEqual(t, int64(res.Steps), stopped.Load()+1)
		require.Len(t, read, rounds*senders)
	}
}
