package agent_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A childless store keeps nothing of subagents any more, as if the process died before it got to
// that.
type childless struct {
	journal.Store
	dies atomic.Bool
}

func (s *childless) gone(session string) bool {
	return s.dies.Load() && strings.HasPrefix(session, machine.ChildPrefix)
}

func (s *childless) Append(ctx context.Context, a journal.Append) error {
	if s.gone(a.Session) {
		return death
	}
	return s.Store.Append(ctx, a)
}

func (s *childless) Release(ctx context.Context, l journal.Lease) error {
	if s.gone(l.Session) {
		return death
	}
	return s.Store.Release(ctx, l)
}

func TestASubagentWhoseCallerIsOverIsStoppedByRecover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &journal.MapStore{}
		store := &childless{Store: inner}
		build := func(store journal.Store) *agent.Agent {
			wait := tools.New(tools.Spec{Name: "wait", Timeout: time.Hour},
				func(ctx context.Context, _ Number) (string, error) {
					<-ctx.Done()
					return "", ctx.Err()
				})
			child := newAgent(t, agent.Config{Name: "helper", Tools: []tools.Tool{wait}, Provider: inTurn(call("wait",
				1))})
			return newAgent(t, agent.Config{Name: "lead", Journal: store,
				Tools:    []tools.Tool{agent.AsTool(child, tools.Spec{Name: "help"})},
				Provider: inTurn(providertest.Call("help", agent.Task{Task: "Help."}), say("Done."))})
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(time.Second, func() {
			store.dies.Store(true)
			cancel()
		})
		res, err := build(store).Run(ctx, agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, agent.Stopped, res.Status, "%v", res.Reason)
		child := func() journal.Head {
			for h, err := range inner.Heads(t.Context(), journal.Filter{Parent: "s"}) {
				require.NoError(t, err)
				return h
			}
			return journal.Head{}
		}
		require.Equal(t, string(agent.Running), child().Status)

		a := build(inner)
		n, err := a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Zero(t, n, "its process may still live")
		<-time.After(time.Minute) // its lease ends
		n, err = a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, string(agent.Stopped), child().Status)
		n, err = a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

func TestAForkOfADamagedSessionNamesTheDamagedOne(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("Done."))
	run(t, a)
	h, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	l, err := store.Lease(t.Context(), "s", "x", time.Minute)
	require.NoError(t, err)
	rec := journal.Record{Kind: "step_started", V: 1, Data: []byte(`{}`), Time: time.Now()} // after the end of the run
	require.NoError(t, store.Append(t.Context(), journal.Append{Session: "s", After: h.Seq,
		Records: []journal.Record{rec}, Fence: l.Fence}))
	err = a.Session("s").Fork(t.Context(), "copy", 0)
	var damage *machine.FactError
	require.ErrorAs(t, err, &damage)
	require.Equal(t, "s", damage.Session)
}
