package postgres_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/internal/pgtest"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestCallsEndWithTheirContextWhileTheServerIsAway(t *testing.T) {
	pgtest.DSN(t)
	journaltest.RunBlocked(t, func(t *testing.T) (journal.Store, func() func()) {
		cfg := empty(t)
		p := newProxy(t, cfg.DSN)
		cfg.DSN = p.through(cfg.DSN)
		return open(t, cfg), p.block
	})
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

// away returns an agent whose server is away from the moment at which leave is called until back
// is, and whose tool calls act.
func away(t *testing.T, act func(s *returning)) (a *agent.Agent, leave func() (back func())) {
	t.Helper()
	cfg := empty(t)
	p := newProxy(t, cfg.DSN)
	cfg.DSN = p.through(cfg.DSN)
	s := &returning{Store: open(t, cfg)}
	tool := tools.New(tools.Spec{Name: "act"}, func(context.Context, number) (string, error) {
		act(s)
		return "ok", nil
	})
	a, err := agent.New(agent.Config{Journal: s, Tools: []tools.Tool{tool},
		Provider: providertest.Script(providertest.Call("act", number{1}), providertest.Say("Done."))})
	require.NoError(t, err)
	return a, p.block
}

func TestARunEndsWithItsContextBeforeItHasBegunWhileTheServerIsAway(t *testing.T) {
	a, leave := away(t, func(*returning) {})
	back := leave()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
	require.Nil(t, res)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	back()
	_, err = a.Session("s").Info(t.Context())
	require.ErrorIs(t, err, agent.ErrNothingOpen)
}

func TestACallThatHasEndedIsRecordedThoughTheServerIsAwayWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var leave func() (back func())
	a, leave := away(t, func(s *returning) {
		s.back.Store(new(leave()))
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
