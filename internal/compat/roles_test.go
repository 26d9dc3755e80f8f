package compat

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/machine"
)

// TestWhatWasLeftWithoutRolesGoesOnUnderRoles: the tools that ask have approvers now. What waits is
// decided by one of them, a decision that was posted by nobody doesn't count, and a standing rule
// answers only if who gave it is one of them.
func TestWhatWasLeftWithoutRolesGoesOnUnderRoles(t *testing.T) {
	for _, v := range versions(t) {
		path := filepath.Join("testdata", v, "stages.db.gz")
		if _, err := os.Stat(path); err != nil {
			continue // v0.1.0 was released without them
		}
		t.Run(v, func(t *testing.T) { underRoles(t, path) })
	}
}

func underRoles(t *testing.T, path string) {
	var managers []string
	begin := func(store *sqlite.Store, name string) *process {
		s := stageNamed(t, name)
		p := &process{Store: store, t: t, name: s.name, replies: s.replies, approvers: []string{"manager"},
			roles: func(_ context.Context, session, user string) ([]string, error) {
				require.Equal(t, name, session)
				if slices.Contains(managers, user) {
					return []string{"manager"}, nil
				}
				return nil, nil
			}}
		p.start()
		return p
	}
	open := func() *sqlite.Store {
		store, err := sqlite.Open(decompressed(t, path), sqlite.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return store
	}
	forbidden := func(err error) {
		t.Helper()
		var refused *agent.DecisionError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, machine.DecisionForbidden, refused.Code)
	}
	store := open()
	for _, name := range []string{"approval", "subagent"} {
		p := begin(store, name)
		managers = nil
		forbidden(p.agent.Session(name).Decide(t.Context(), agent.Approve(p.open().ID).By("ann")))
		require.Empty(t, p.effects)
		managers = []string{"bob"}
		_, err := p.agent.Run(t.Context(), agent.Resume(name, agent.Approve(p.open().ID).By("bob")))
		require.NoError(t, err)
		require.Len(t, p.effects, 1)
	}

	p := begin(store, "posted decision")
	res, err := p.agent.Run(t.Context(), agent.Continue(p.name))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Empty(t, p.effects)
	again := res.Pending[0]
	require.Contains(t, again.Refused, "it doesn't say who decides")
	_, err = p.agent.Run(t.Context(), agent.Resume(p.name, agent.Approve(again.ID).By("bob")))
	require.NoError(t, err)
	require.Len(t, p.effects, 1)

	// nobody has let the call begin, and it asks its question anew
	p = begin(store, "question that runs again")
	res, err = p.agent.Run(t.Context(), agent.Resume(p.name, agent.Answer(p.open().ID, answer).By("ann")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, agent.PauseApproval, res.Pending[0].Kind)
	_, err = p.agent.Run(t.Context(), agent.Resume(p.name, agent.Approve(res.Pending[0].ID).By("bob")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Empty(t, p.effects)
	p.decided(gives(answer))
	require.Len(t, p.effects, 1)

	// ann has given the rule
	managers = []string{"ann"}
	p = begin(store, "standing approval")
	p.asked()
	require.Equal(t, []string{"always second"}, p.effects)
	managers = []string{"bob"}
	p = begin(open(), "standing approval")
	res, err = p.says()
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Empty(t, p.effects)
	require.Equal(t, []string{"manager"}, res.Pending[0].Approvers)
}
