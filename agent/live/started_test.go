package live_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A moody source has one tool, and fails from its second list on.
type moody struct {
	tool  tools.Tool
	asked int
}

func (*moody) Name() string             { return "moody" }
func (*moody) Changed() <-chan struct{} { return nil }

func (m *moody) List(context.Context) ([]tools.Tool, error) {
	if m.asked++; m.asked > 1 {
		return nil, errors.New("no connection")
	}
	return []tools.Tool{m.tool}, nil
}

func TestAStartThatSupersedesARunNamesTheNewOne(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		n := 0
		a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{risky(&n)}},
			providertest.Call("risky", Number{1}), providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a})
		old := start(t, h)
		<-time.After(time.Minute)
		before := len(allFacts(t, a))
		run, err := h.Start(t.Context(), agent.Input{Session: "s", Prompt: "another", Supersede: true})
		require.NoError(t, err)
		require.NotEqual(t, old.Run, run.Run)
		require.EqualValues(t, before, run.After, "the end of the old run is new, too")
		p := watch(t, h, run.After, nil)
		require.Equal(t, old.Run, p.all[len(p.all)-1].Envelope().Run())
		require.NoError(t, h.Close())
	})
}

func TestAStartThatResumesARunSaysWhereItBeginsAlsoIfASourceFails(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		n := 0
		a := newAgent(t, agent.Config{Journal: store, Sources: []tools.Source{&moody{tool: risky(&n)}}},
			providertest.Call("risky", Number{1}), providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a})
		old := start(t, h)
		<-time.After(time.Minute)
		pending, err := a.Session("s").Pending(t.Context())
		require.NoError(t, err)
		before := len(allFacts(t, a))
		run, err := h.Start(t.Context(), agent.Resume("s", agent.Approve(pending[0].ID)))
		require.NoError(t, err)
		require.Equal(t, live.Started{Session: "s", Run: old.Run, After: uint64(before), Done: run.Done}, run)
		watch(t, h, run.After, nil)
		<-run.Done
		require.Equal(t, 1, n)
		require.NoError(t, h.Close())
	})
}

func TestAReaderThatIsBehindEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, agent.Config{},
			providertest.Slow(time.Millisecond, providertest.SayChunks(repeat("x", 3000)...)))
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		gone := errors.New("gone")
		after := 0
		var last error
		for _, err := range h.Watch(ctx, "s", run.After) {
			<-time.After(2 * time.Millisecond)
			if ctx.Err() != nil {
				after++
			}
			cancel(gone)
			last = err
		}
		require.ErrorIs(t, last, gone)
		require.LessOrEqual(t, after, 65, "what it had taken already")
		require.NoError(t, h.Close())
	})
}

func TestASlowReaderIsToldOfTheSessionThatItWatches(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		child := newAgent(t, agent.Config{Name: "child"},
			providertest.Slow(time.Millisecond, providertest.SayChunks(repeat("x", 5000)...)))
		a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})}},
			providertest.Call("child", agent.Task{Task: "go"}), providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a})
		run, err := h.Start(t.Context(), agent.Input{Session: "s", Prompt: "go", Children: true})
		require.NoError(t, err)
		lagged := 0
		watch(t, h, run.After, func(p *page) bool {
			if l, ok := p.all[len(p.all)-1].(*agent.Lagged); ok {
				lagged++
				require.Equal(t, "s", l.Session())
				require.Equal(t, run.Run, l.Run())
			}
			if len(p.all)%200 == 0 {
				<-time.After(3 * time.Second)
			}
			return false
		})
		require.Positive(t, lagged)
		require.NoError(t, h.Close())
	})
}

func TestAStartWhoseGoroutineAHookEndsIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHub(t, live.Config{Agent: newAgent(t, agent.Config{Hooks: []agent.Hooks{
			{BeforeInput: func(context.Context, *agent.IncomingText) error {
				runtime.Goexit()
				return nil
			}}}})})
		_, err := h.Start(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.ErrorContains(t, err, "ended the goroutine")
	})
}
