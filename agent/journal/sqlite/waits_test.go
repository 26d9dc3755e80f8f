package sqlite_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// locked returns a store that waits for an hour for another connection, and what locks its file.
func locked(t *testing.T) (s *sqlite.Store, lock func() (unlock func())) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s = open(t, path, sqlite.Config{Busy: time.Hour})
	other := raw(t, path)
	return s, func() func() {
		tx, err := other.Conn(t.Context())
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		require.NoError(t, err)
		return func() {
			_, _ = tx.ExecContext(context.Background(), "ROLLBACK")
			_ = tx.Close()
		}
	}
}

func TestCallsEndWithTheirContextWhileAnotherProcessHoldsTheLock(t *testing.T) {
	journaltest.RunBlocked(t, func(t *testing.T) (journal.Store, func() func()) { return locked(t) })
}

// A returning store calls back when an append begins, if there is one: what blocks it ends then.
type returning struct {
	journal.Store
	back atomic.Pointer[func()]
}

func (s *returning) Append(ctx context.Context, a journal.Append) error {
	if back := s.back.Swap(nil); back != nil {
		go (*back)()
	}
	return s.Store.Append(ctx, a)
}

type number struct{ N int }

func acting(t *testing.T, s journal.Store, act func()) *agent.Agent {
	t.Helper()
	tool := tools.New(tools.Spec{Name: "act"}, func(context.Context, number) (string, error) {
		act()
		return "ok", nil
	})
	a, err := agent.New(agent.Config{Journal: s, Tools: []tools.Tool{tool},
		Provider: providertest.Script(providertest.Call("act", number{1}), providertest.Say("Done."))})
	require.NoError(t, err)
	return a
}

func TestARunEndsWithItsContextBeforeItHasBegunWhileTheFileIsLocked(t *testing.T) {
	s, lock := locked(t)
	a := acting(t, s, func() {})
	unlock := lock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
	require.Nil(t, res)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	unlock()
	_, err = a.Session("s").Info(t.Context())
	require.ErrorIs(t, err, agent.ErrNothingOpen)
	_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err, "the session isn't held")
}

func TestACallThatHasEndedIsRecordedThoughTheFileIsLockedWhenTheContextEnds(t *testing.T) {
	inner, lock := locked(t)
	s := &returning{Store: inner}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a := acting(t, s, func() {
		s.back.Store(new(lock()))
		cancel()
	})
	res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, machine.CodeCanceled, res.Code)
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	var statuses []tools.Status
	for _, f := range facts {
		if f, ok := f.(*agent.ToolFinished); ok {
			statuses = append(statuses, f.Result.Status)
		}
	}
	require.Equal(t, []tools.Status{tools.OK}, statuses)
}
