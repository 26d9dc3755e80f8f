package approvals_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
)

// refused returns the code with which a decision is refused.
func refused(t *testing.T, err error) string {
	t.Helper()
	var e *agent.DecisionError
	require.ErrorAs(t, err, &e)
	return e.Code
}

func TestADecisionCountsOnce(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"), say("Done."))
	id := d.run("s")[0].ID
	require.NoError(t, d.decide("s", agent.Approve(id)))
	require.Equal(t, machine.DecisionUsed, refused(t, d.decide("s", agent.Reject(id, "no"))))
	require.Equal(t, 1, d.recovered())
	require.Equal(t, machine.DecisionUsed, refused(t, d.decide("s", agent.Reject(id, "no"))))
	item, err := d.Find(t.Context(), "s", id, 0)
	require.NoError(t, err)
	require.Equal(t, approvals.StateDecided, item.State)
	require.Equal(t, "ann", item.Decision.User)
	require.Equal(t, []string{"home"}, d.done.done())
	_, err = d.Find(t.Context(), "s", "p-0", 0)
	require.ErrorIs(t, err, approvals.ErrUnknown)
}

func TestADecisionThatIsLateOrElsewhereIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, agent.Config{PauseExpires: time.Hour}, call("cms.remove", "home"), say("Done."))
		id := d.run("s")[0].ID
		d.Agents = map[string]*agent.Agent{}
		require.ErrorIs(t, d.decide("s", agent.Approve(id)), approvals.ErrElsewhere)
		<-time.After(2 * time.Hour)
		require.Equal(t, machine.DecisionExpired, refused(t, d.decide("s", agent.Approve(id))))
		require.Zero(t, d.inbox("s"))
	})
}

func TestAPlanIsDecidedOnLikeACall(t *testing.T) {
	d := newDesk(t, agent.Config{})
	var err error
	d.Plans, err = plan.New(plan.Config{Agent: d.a})
	require.NoError(t, err)
	nodes := []plan.Node{{ID: "a", Tool: remove.Name, Input: map[string]any{"id": "home"}}}
	_, err = d.Plans.Start(t.Context(), "tidy", &plan.Plan{Title: "Tidy", Nodes: nodes})
	require.NoError(t, err)
	var ids []string
	for o, err := range d.List(t.Context(), approvals.Filter{}) {
		require.NoError(t, err)
		ids = append(ids, o.ID)
	}
	require.Len(t, ids, 1)
	item, err := d.Find(t.Context(), "tidy", ids[0], 0)
	require.NoError(t, err)
	require.True(t, item.Plan)
	require.NoError(t, d.decide("tidy", agent.Reject(ids[0], "not today")))
	require.Equal(t, machine.DecisionUsed, refused(t, d.decide("tidy", agent.Approve(ids[0]))))
}

func TestASessionThatCannotBeReadSaysWhatItsHeadShows(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
	id := d.run("ann/1")[0].ID
	broken := errors.New("the log is damaged")
	d.Store = &damaged{Store: d.Store, log: broken}
	_, err := d.Find(t.Context(), "ann/1", id, 0)
	var u *approvals.UnreadableError
	require.ErrorAs(t, err, &u)
	require.ErrorIs(t, err, broken)
	require.Equal(t, id, u.Open[0].ID)
}

func TestANilInboxHasNothing(t *testing.T) {
	var none *approvals.Inbox
	for _, err := range none.List(t.Context(), approvals.Filter{}) {
		require.Error(t, err)
	}
	_, err := none.Find(t.Context(), "s", "p", 0)
	require.Error(t, err)
	require.Error(t, none.Decide(t.Context(), nil, agent.Approve("p")))
}
