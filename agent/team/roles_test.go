package team

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestWorkIsDecidedByItsApprovers, whether the decision is checked where it is made, or only where
// it arrives: a wrong person's opens the pause again.
func TestWorkIsDecidedByItsApprovers(t *testing.T) {
	var down bool
	managers := []string{"ann", "bob"}
	roles := func(_ context.Context, session, user string) ([]string, error) {
		require.Equal(t, "s", session)
		if down {
			return nil, errors.New("the database doesn't answer")
		}
		if slices.Contains(managers, user) {
			return []string{"manager"}, nil
		}
		return nil, nil
	}
	lent := 0
	lend := tools.New(tools.Spec{Name: "lend", Approvers: []string{"manager"}, NotSelf: true},
		func(context.Context, item) (string, error) { lent++; return "lent", nil })
	bubble(t, options{librarian: agent.Config{Tools: []tools.Tool{lend}, Roles: roles,
		Provider: model(lender)}}, func(t *testing.T, f *fixture) {
		_, err := f.lead.Start(t.Context(), agent.Input{Session: "s", Prompt: "start lend-1", User: "ann"})
		require.NoError(t, err)
		passes()
		decide := func(user string) error {
			_, err := f.lead.Decide(t.Context(), "s", agent.Approve(f.asked("s")[0].ID).By(user))
			passes()
			return err
		}
		first := f.asked("s")[0].ID
		for _, user := range []string{"", "carl", "ann"} {
			var refused *agent.DecisionError
			require.ErrorAs(t, decide(user), &refused)
			require.Equal(t, machine.DecisionForbidden, refused.Code, user)
		}
		down = true
		require.ErrorAs(t, decide("bob"), new(*agent.RolesError))
		down = false
		require.Equal(t, first, f.asked("s")[0].ID)

		inbox := &approvals.Inbox{Store: f.store}
		item, err := inbox.Find(t.Context(), "s", first, 0)
		require.NoError(t, err)
		require.NoError(t, inbox.Decide(t.Context(), item, agent.Approve(first).By("carl")))
		again := f.asked("s")
		for range 20 { // after errors it is looked at less often
			if len(again) > 0 && again[0].ID != first {
				break
			}
			passes()
			again = f.asked("s")
		}
		require.Len(t, again, 1)
		require.Contains(t, again[0].Replaces, first)
		require.Contains(t, again[0].Refused, "carl may not decide")
		require.Zero(t, lent)
		require.NoError(t, decide("bob"))
		require.Equal(t, 1, lent)
		require.Len(t, f.reports("s"), 1)
	})
}

// lender is the model of a member that lends what it is told to.
func lender(prompt string, since []provider.Message) providertest.Step {
	if len(since) == 0 {
		return providertest.Call("lend", item{prompt})
	}
	return providertest.Say("Lent.")
}
