package plan

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A brokenStore is a store that can't be read while broken is set.
type brokenStore struct {
	journal.Store
	broken bool
}

var errBroken = errors.New("the disk is broken")

func (s *brokenStore) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	if s.broken {
		return func(yield func(journal.Record, error) bool) { yield(journal.Record{}, errBroken) }
	}
	return s.Store.Read(ctx, session, after)
}

// A plan that waits for approval doesn't run because its state can't be read.
func TestNothingRunsIfTheApprovalCannotBeRead(t *testing.T) {
	var s shop
	store := &brokenStore{Store: &journal.MapStore{}}
	r := s.runner(t, Config{Agent: s.agent(t, store)})
	p := plan("A", published("a"))
	_, err := run(r, p)
	require.NoError(t, err)
	id := open(t, r).ID
	store.broken = true
	_, err = r.drive(t.Context(), "p-1", nil)
	require.ErrorIs(t, err, errBroken)
	require.ErrorIs(t, r.Decide(t.Context(), "p-1", agent.Approve(id)), errBroken)
	store.broken = false
	events, err := run(r)
	require.NoError(t, err)
	require.True(t, isPaused(events), "it still waits")
	require.Empty(t, s.all())
}

func TestAPlanThatWaitsForApprovalCanBeCanceled(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	_, err := run(r, plan("A", published("a")), plan("B", made("b")))
	require.NoError(t, err)
	require.NoError(t, r.Cancel(t.Context(), "p-1", "not today"))
	events, err := run(r)
	require.ErrorContains(t, err, "not today")
	require.Equal(t, Canceled, last(events).(*Ended).Status)
	require.Empty(t, s.all())
}

// Only tools that always ask make a plan wait; what a policy asks is asked in its middle.
func TestAPlanWithoutACallThatAlwaysAsksBeginsAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		spec tools.Spec
		want []string // what is done before a person is asked
	}{
		"high risk":                       {tools.Spec{Risk: tools.High}, nil},
		"always":                          {tools.Spec{Approval: tools.AskAlways}, nil},
		"high risk that doesn't ask":      {tools.Spec{Risk: tools.High, Approval: tools.AskNever}, []string{"a"}},
		"no risk, and a policy that asks": {tools.Spec{}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			var s shop
			ask := func(_ context.Context, d *tools.Definition, _ *tools.Call) tools.Verdict {
				if d.Name() == "publish" {
					return tools.Verdict{Effect: tools.Ask, Reason: "it is Friday"}
				}
				return tools.Verdict{}
			}
			c.spec.Name = "publish"
			a, err := agent.New(agent.Config{Provider: providertest.Script(), Policies: []tools.Policy{ask},
				Tools: []tools.Tool{tools.New(c.spec, s.make), tools.New(tools.Spec{Name: "make"}, s.make)}})
			require.NoError(t, err)
			r := s.runner(t, Config{Agent: a})
			out := published("out")
			out.After = []string{"a"}
			events, err := run(r, plan("A", made("a"), out))
			require.NoError(t, err)
			require.True(t, isPaused(events))
			require.Equal(t, c.want, s.all())
			decide(t, r, agent.Approve)
			events, err = run(r)
			require.NoError(t, err)
			require.Equal(t, Completed, last(events).(*Ended).Status)
			require.Equal(t, []string{"a", "out"}, s.all())
		})
	}
}

// While it isn't known who has which role, the approval of a plan answers for no call with
// approvers: the call waits for a person, and Roles isn't asked again and again.
func TestACallOfAnApprovedPlanWaitsForAPersonWhileRolesAreNotKnown(t *testing.T) {
	var (
		s     shop
		asked atomic.Int32
		known atomic.Bool
	)
	roles := func(context.Context, string, string) ([]string, error) {
		asked.Add(1)
		if !known.Load() {
			return nil, errors.New("the database doesn't answer")
		}
		return []string{"manager"}, nil
	}
	a, err := agent.New(agent.Config{Provider: providertest.Script(), Roles: roles,
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "publish", Approvers: []string{"manager"}}, s.make)}})
	require.NoError(t, err)
	r := s.runner(t, Config{Agent: a})
	_, err = run(r, plan("A", published("a")))
	require.NoError(t, err)
	bob := func(id string) agent.Decision { return agent.Approve(id).By("bob") }
	decide(t, r, bob)
	events, err := run(r)
	require.NoError(t, err)
	require.True(t, isPaused(events))
	require.Equal(t, int32(1), asked.Load())
	require.Empty(t, s.all())

	known.Store(true)
	decide(t, r, bob)
	events, err = run(r)
	require.NoError(t, err)
	require.Equal(t, Completed, last(events).(*Ended).Status)
	require.Equal(t, []string{"a"}, s.all())
}
