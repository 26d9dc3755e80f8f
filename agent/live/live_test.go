package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestARunOutlivesTheContextOfItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, agent.Config{Tools: []tools.Tool{work()}}, paced("one two"), providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a})
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), keyOfTest{}, "kept"))
		run, err := h.Start(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.NoError(t, err)
		cancel()
		p := watch(t, h, run.After, nil)
		require.Equal(t, allFacts(t, a), p.facts)
		require.Equal(t, agent.Completed, p.all[len(p.all)-1].(*agent.RunEnded).Status)
		require.Equal(t, "Done.", p.whole[1])
		require.Equal(t, live.Started{Session: "s", Run: p.all[0].Envelope().Run(), Done: run.Done}, run)
		require.NoError(t, h.Close())
	})
}

type keyOfTest struct{}

// A panicking value can't be encoded.
type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("no JSON") }

func TestAStartThatIsRefusedSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, agent.Config{}, providertest.Slow(time.Second, providertest.Say("One.")))
		h := newHub(t, live.Config{Agent: a})
		var wrong *agent.ArgError
		for _, c := range []struct {
			work  agent.Work
			field string
		}{{nil, "Work"}, {(*agent.Input)(nil), "Work"},
			{struct{ agent.Resumption }{agent.Continue("s")}, "Work"}, {agent.Input{}, "Session"},
			{agent.Input{Prompt: "go"}, "Session"}, {agent.Continue(""), "Session"},
			{agent.Input{Session: "s"}, "Input.Prompt"},
			{agent.CallTool("s", "none", nil), "HostCall.Tool"},
			{agent.CallTool("s", "none", panicking{}), "HostCall.Input"}} {
			_, err := h.Start(t.Context(), c.work)
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, c.field, wrong.Field)
		}
		over, cancel := context.WithCancelCause(t.Context())
		why := errors.New("gone")
		cancel(why)
		_, err := h.Start(over, agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, why)
		start(t, h)
		_, err = h.Start(t.Context(), agent.Input{Session: "s", Prompt: "again"})
		require.ErrorIs(t, err, agent.ErrBusy)
		require.NoError(t, h.Cancel(t.Context(), "s"))
		p := watch(t, h, 0, nil)
		require.Equal(t, machine.CodeCanceled, p.all[len(p.all)-1].(*agent.RunEnded).Code)
		synctest.Wait() // the session is released
		require.ErrorIs(t, h.Cancel(t.Context(), "s"), agent.ErrNothingOpen)
		require.NoError(t, h.Close())
		_, err = h.Start(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, live.ErrClosed)
		require.NoError(t, h.Close(), "again")
	})
}

func TestAStoreThatHangsDoesNotHoldAStartBeyondItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &stuck{Store: &journal.MapStore{}, free: make(chan struct{})}
		h := newHub(t,
			live.Config{Agent: newAgent(t, agent.Config{Journal: store}, providertest.Say("Done.")), Recover: -1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := h.Start(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		close(store.free)
		require.NoError(t, h.Close())
	})
}

// stuck is a store whose leases hang.
type stuck struct {
	journal.Store
	free chan struct{}
}

func (s *stuck) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	<-s.free
	return s.Store.Lease(ctx, session, owner, ttl)
}

func TestAnEmptyHubAndABadConfigAreErrors(t *testing.T) {
	var wrong *agent.ArgError
	for _, cfg := range []live.Config{{}, {Agent: new(agent.Agent)}, {Agent: newAgent(t, agent.Config{}), Drain: -1}} {
		_, err := live.New(cfg)
		require.ErrorAs(t, err, &wrong)
		require.True(t, strings.HasPrefix(err.Error(), "agent: "), err.Error())
	}
	for _, h := range []*live.Hub{nil, {}} {
		_, err := h.Start(t.Context(), agent.Input{Session: "s", Prompt: "go"})
		require.ErrorAs(t, err, &wrong)
		require.ErrorAs(t, h.Cancel(t.Context(), "s"), &wrong)
		require.ErrorAs(t, h.Close(), &wrong)
		for _, err := range h.Watch(t.Context(), "s", 0) {
			require.ErrorAs(t, err, &wrong)
		}
	}
}

func TestReadersAreToldWhyTheirSequenceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, agent.Config{}, providertest.Slow(time.Second, providertest.Say("One two.")))
		h := newHub(t, live.Config{Agent: a})
		for _, err := range h.Watch(t.Context(), "unknown", 0) {
			require.ErrorIs(t, err, agent.ErrNothingOpen)
		}
		run := start(t, h)
		why := errors.New("the page was closed")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1500*time.Millisecond, func() { cancel(why) }) // in the middle of the run
		var last error
		for _, err := range h.Watch(ctx, "s", run.After) {
			last = err
		}
		require.ErrorIs(t, last, why)
		var closed error
		n := 0
		together(func() {
			for _, err := range h.Watch(t.Context(), "s", run.After) {
				if closed = err; err == nil {
					n++
				}
			}
		}, func() {
			<-time.After(time.Minute) // after the run
			require.NoError(t, h.Close())
		})
		require.ErrorIs(t, closed, live.ErrClosed)
		require.Greater(t, n, 4)
	})
}
