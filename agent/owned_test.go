package agent_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// TestHowTheRunOfASubagentEndsIsAResultOrAStop: what this process can't continue is a stop, which
// is never recorded.
func TestHowTheRunOfASubagentEndsIsAResultOrAStop(t *testing.T) {
	said := []provider.Message{provider.User("go"), provider.Assistant("It is done.")}
	code := func(code machine.SessionCode) error { return &agent.SessionError{Session: "s", Code: code} }
	as := func(status agent.Status, code string) *agent.Result { return &agent.Result{Status: status, Code: code} }
	for name, c := range map[string]struct {
		res    *agent.Result
		err    error
		status work.Status
		fails  bool // the call has the error
	}{
		"completed":           {res: &agent.Result{Status: agent.Completed, Messages: said}, status: work.Done},
		"without a word":      {res: &agent.Result{Status: agent.Completed}, status: work.Done},
		"no answer":           {res: as(agent.Stopped, machine.CodeEmpty), status: work.Done},
		"a limit":             {res: as(agent.Stopped, machine.CodeLimit), status: work.Failed},
		"canceled":            {res: as(agent.Stopped, machine.CodeCanceled), status: work.Failed},
		"a provider":          {res: as(agent.Failed, machine.CodeProvider), status: work.Failed},
		"waits":               {res: &agent.Result{Status: agent.Paused}, status: work.Waits},
		"drained":             {res: as(agent.Paused, machine.CodeDrained), status: work.Stopped},
		"the end of a leg":    {res: as(agent.Paused, machine.CodeLeg), status: work.Stopped},
		"paused by its host":  {res: as(agent.Paused, machine.CodeHost), status: work.Stopped},
		"its journal":         {res: as(agent.Failed, machine.CodeJournal), status: work.Stopped},
		"its process drains":  {err: code(agent.ErrDraining), status: work.Stopped},
		"held elsewhere":      {err: fmt.Errorf("x: %w", code(agent.ErrBusy)), status: work.Stopped},
		"a journal at start":  {err: code(agent.ErrJournal), status: work.Stopped},
		"refused by a hook":   {err: code(agent.ErrRefused), fails: true},
		"a wrong input":       {err: &agent.ArgError{Field: "Input.Prompt"}, fails: true},
		"the call is stopped": {err: context.Canceled, fails: true},
	} {
		out, err := agent.OutcomeOf(c.res, c.err)
		require.Equal(t, c.fails, err != nil, name)
		if err == nil {
			require.Equal(t, c.status, out.Status, name)
			require.Equal(t, c.status == work.Done, len(out.Output) > 0, name)
			require.True(t, c.status != work.Failed || out.Err != nil, name)
		}
	}
}

// A mutedStore doesn't answer for the sessions of subagents while it is muted.
type mutedStore struct {
	journal.Store
	muted atomic.Bool
}

func (m *mutedStore) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	if m.muted.Load() && session != "s" {
		return journal.Lease{}, fault.New(fault.Transient, "no connection")
	}
	return m.Store.Lease(ctx, session, owner, ttl)
}

func (m *mutedStore) Append(ctx context.Context, a journal.Append) error {
	if m.muted.Load() && a.Session != "s" {
		return fault.New(fault.Transient, "no connection")
	}
	return m.Store.Append(ctx, a)
}

// TestAStoreThatDoesNotAnswerInASubagentLeavesTheCallOpen, from its start on, or in the middle.
func TestAStoreThatDoesNotAnswerInASubagentLeavesTheCallOpen(t *testing.T) {
	for _, at := range []time.Duration{0, time.Second} {
		t.Run(at.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &mutedStore{Store: &journal.MapStore{}}
				var done effects
				child := newAgent(t, agent.Config{Name: "child", Provider: inTurn(call("slow", 3), say("I did.")),
					Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow", Idempotent: true})}})
				a := newAgent(t, agent.Config{Journal: store, Provider: inTurn(task("child", "x"), say("Done.")),
					Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})}})
				if store.muted.Store(at == 0); at > 0 {
					time.AfterFunc(at, func() { store.muted.Store(true) })
				}
				res, err := a.Run(t.Context(), first)
				require.ErrorAs(t, err, new(*agent.PausedError))
				require.Equal(t, machine.CodeDrained, res.Code)
				require.Contains(t, res.Reason, "no connection")
				require.Empty(t, finished(t, a, "s"))
				store.muted.Store(false)
				<-time.After(time.Minute)
				n, err := a.Recover(t.Context(), agent.Recovery{})
				require.NoError(t, err)
				require.Equal(t, 1, n)
				last, err := a.Session("s").Result(t.Context())
				require.NoError(t, err)
				require.Equal(t, "Done.", last.Text())
				require.Equal(t, tools.OK, finished(t, a, "s")[0].Status)
			})
		})
	}
}

// A putting is a tool whose effect can be undone.
func putting(kept map[int]bool) tools.Tool {
	return tools.Func[Number, string]{
		Spec: tools.Spec{Name: "put"},
		Run: func(_ context.Context, in Number) (string, error) {
			kept[in.N] = true
			return "put", nil
		},
		Undo: func(_ context.Context, in Number, _ string) error {
			if in.N == 13 {
				return errors.New("13 stays")
			}
			delete(kept, in.N)
			return nil
		},
	}
}

func TestWhatASubagentDidIsUndoneWithItsCall(t *testing.T) {
	for last, want := range map[int]string{3: "", 13: "its call of put: 13 stays"} {
		kept := make(map[int]bool)
		child := newAgent(t, agent.Config{Name: "child",
			Provider: inTurn(call("put", 2), call("put", last), say("I did.")),
			Tools:    []tools.Tool{putting(kept)}})
		middle := newAgent(t, agent.Config{Name: "middle", Provider: inTurn(task("child", "x"), say("It did.")),
			Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})}})
		a := newAgent(t, agent.Config{Journal: &journal.MapStore{},
			Provider: inTurn(call("put", 1), task("middle", "x"), say("Done.")),
			Tools:    []tools.Tool{agent.AsTool(middle, tools.Spec{}), putting(kept)}})
		run(t, a)
		require.Len(t, kept, 3)
		rec, err := a.Session("s").Undo(t.Context(), agent.Rollback{User: "ann"})
		require.NoError(t, err)
		if want == "" {
			require.NoError(t, rec.Err())
			require.Len(t, rec.Undone, 2)
			require.Empty(t, kept)
			rec, err = a.Session("s").Undo(t.Context(), agent.Rollback{})
			require.NoError(t, err)
			require.Empty(t, rec.Undone)
			continue
		}
		require.Equal(t, "its call of child: "+want, rec.Failed.Why)
		require.Len(t, kept, 3, "nothing before it is undone")
	}
}
