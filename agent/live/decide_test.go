package live_test

import (
	"context"
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

// codeOf returns the code with which a decision is refused.
func codeOf(t *testing.T, err error) string {
	t.Helper()
	var e *agent.DecisionError
	require.ErrorAs(t, err, &e)
	return e.Code
}

func TestADecisionThatWasMadeBeforeAndOneOnNothingAreToldApart(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		n := 0
		a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{risky(&n)}, PauseExpires: time.Hour},
			providertest.Call("risky", Number{1}), providertest.Call("risky", Number{2}), providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a, Recover: -1})
		decide := func(d agent.Decision) (live.Started, error) { return h.Decide(t.Context(), "s", d.By("ann")) }
		pause := func() string {
			pending, err := a.Session("s").Pending(t.Context())
			require.NoError(t, err)
			return pending[0].ID
		}
		<-start(t, h).Done
		first := pause()
		run, err := decide(agent.Approve(first))
		require.NoError(t, err)
		<-run.Done
		_, err = decide(agent.Reject(first, "no"))
		require.Equal(t, machine.DecisionUsed, codeOf(t, err))
		_, err = decide(agent.Approve("p-0"))
		require.Equal(t, machine.DecisionUnknown, codeOf(t, err))
		second := pause()
		<-time.After(2 * time.Hour)
		_, err = decide(agent.Approve(second))
		require.Equal(t, machine.DecisionExpired, codeOf(t, err))
		run, err = h.Start(t.Context(), agent.Continue("s"))
		require.NoError(t, err)
		<-run.Done
		for id, code := range map[string]string{first: machine.DecisionUsed, second: machine.DecisionExpired,
			"p-0": machine.DecisionUnknown} { // also when no run is open
			_, err = decide(agent.Approve(id))
			require.Equal(t, code, codeOf(t, err))
		}
		_, err = h.Decide(t.Context(), "nowhere", agent.Approve(first))
		require.ErrorIs(t, err, agent.ErrNothingOpen)
		require.Equal(t, 1, n)

		asked, err := h.Asked(t.Context(), "s")
		require.NoError(t, err)
		require.Len(t, asked, 2)
		require.Equal(t, "ann", asked[first].Decided.Decision.User)
		require.Equal(t, "risky", asked[second].Pause.Call.Name)
		require.NoError(t, h.Close())
	})
}

func TestADecisionDuringARunIsReadByThatRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		a := newAgent(t, agent.Config{Tools: []tools.Tool{risky(&n), slow()}},
			providertest.Calls(providertest.CallSpec{Tool: "risky", Input: Number{1}},
				providertest.CallSpec{Tool: "slow", Input: Number{2}}), providertest.Say("Done."))
		h := newHub(t, live.Config{Agent: a})
		run := start(t, h)
		<-time.After(time.Second)
		pending, err := a.Session("s").Pending(t.Context())
		require.NoError(t, err)
		decided, err := h.Decide(t.Context(), "s", agent.Approve(pending[0].ID))
		require.NoError(t, err)
		require.Equal(t, live.Started{Session: "s"}, decided)
		<-run.Done
		require.Equal(t, 1, n)
		require.NoError(t, h.Close())
	})
}

func TestASessionBelongsToItsOwnerAndThoseOfSubagentsToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, agent.Config{}, providertest.Say("Hello."))
		h := newHub(t, live.Config{Agent: a})
		run, err := h.Start(t.Context(), agent.Input{Session: "s", Prompt: "go", Owner: "ann"})
		require.NoError(t, err)
		<-run.Done
		info, err := h.Owned(t.Context(), "s", "ann")
		require.NoError(t, err)
		require.Equal(t, agent.Completed, info.Status)
		info, err = h.Owned(t.Context(), "s", "bob")
		require.ErrorIs(t, err, agent.ErrNotOwner)
		require.Equal(t, "ann", info.Owner)
		_, err = h.Owned(t.Context(), "t", "bob")
		require.ErrorIs(t, err, agent.ErrNothingOpen)
		for _, name := range []string{"", machine.UnnamedPrefix + "1", machine.ChildPrefix + "r-1"} {
			info, err = h.Owned(t.Context(), name, "bob")
			require.ErrorIs(t, err, agent.ErrNotOwner)
			require.Empty(t, info)
		}
		require.NoError(t, h.Close())
	})
}

// Whoever sees a pause may decide at once, while the run is still about to pause: through the hub,
// or, as another process does, by posting to the session.
func TestADecisionOnARunThatIsPausingResumesItAtOnce(t *testing.T) {
	for name, decide := range map[string]func(h *live.Hub, d agent.Decision) error{
		"through the hub": func(h *live.Hub, d agent.Decision) error {
			_, err := h.Decide(context.Background(), "s", d)
			return err
		},
		"by posting": func(h *live.Hub, d agent.Decision) error {
			return h.Agent().Session("s").Decide(context.Background(), d)
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, store journal.Store) { whilePausing(t, store, decide) })
		})
	}
}

func whilePausing(t *testing.T, store journal.Store, decide func(h *live.Hub, d agent.Decision) error) {
	n := 0
	var h *live.Hub
	hook := agent.Hooks{Name: "decide", AfterRun: func(_ context.Context, res *agent.Result) error {
		if res.Status == agent.Paused {
			require.NoError(t, decide(h, agent.Approve(res.Pending[0].ID)))
		}
		return nil
	}}
	a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{risky(&n)}, Hooks: []agent.Hooks{hook}},
		providertest.Call("risky", Number{1}), providertest.Say("Done."))
	h = newHub(t, live.Config{Agent: a, Recover: time.Hour})
	<-time.After(time.Minute) // the first search is over
	began := time.Now()
	<-start(t, h).Done
	for ev, err := range h.Watch(t.Context(), "s", 0) {
		require.NoError(t, err)
		if end, ok := ev.(*agent.RunEnded); ok && end.Status == agent.Completed {
			break
		}
	}
	require.Equal(t, 1, n)
	require.Less(t, time.Since(began), time.Minute, "it doesn't wait for the next search")
}

// TestADecisionThatAnotherOneMadeGoesOn: two people decide at the same time, one through another
// process. The hub that takes that decision, and refuses the other, drives the run.
func TestADecisionThatAnotherOneMadeGoesOn(t *testing.T) {
	for _, interval := range []time.Duration{-1, 0} {
		synctest.Test(t, func(t *testing.T) {
			var done int
			store := &journal.MapStore{}
			a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{risky(&done)}},
				providertest.Call("risky", Number{1}), providertest.Say("Done."))
			h := newHub(t, live.Config{Agent: a, Recover: interval})
			<-start(t, h).Done
			pending, err := a.Session("s").Pending(t.Context())
			require.NoError(t, err)
			other := newAgent(t, agent.Config{Journal: store})
			require.NoError(t, other.Session("s").Decide(t.Context(), agent.Approve(pending[0].ID).By("ann")))
			_, err = h.Decide(t.Context(), "s", agent.Reject(pending[0].ID, "no").By("bob"))
			require.Equal(t, machine.DecisionUsed, codeOf(t, err))
			<-time.After(time.Second)
			res, err := a.Session("s").Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, agent.Completed, res.Status)
			require.Equal(t, 1, done)
			require.NoError(t, h.Close())
		})
	}
}
