package site

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

func TestAnOutageIsSaidOnceAndTriedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		o := Outage{Log: slog.New(slog.NewTextHandler(&said, nil)), Doing: "asking"}
		away := errors.New("connection refused")
		require.Equal(t, time.Second, o.After(nil, time.Second))
		var waits []time.Duration
		for range 7 {
			wait := o.After(away, time.Second)
			time.Sleep(wait)
			waits = append(waits, wait/time.Second)
		}
		require.Equal(t, []time.Duration{2, 4, 8, 16, 30, 30, 30}, waits)
		require.Equal(t, 1, strings.Count(said.String(), "\n"), said.String())
		require.Equal(t, time.Second, o.After(nil, time.Second))
		require.Contains(t, said.String(), `msg="asking works again" after=2m0s`)
		require.Equal(t, 2*time.Second, o.After(away, time.Second))
		require.Equal(t, 3, strings.Count(said.String(), "\n"), said.String())
	})
}

// A journal that doesn't answer while it is away.
type leaving struct {
	journal.Store
	away atomic.Bool
}

func (l *leaving) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	if l.away.Load() {
		return func(yield func(journal.Head, error) bool) { yield(journal.Head{}, errors.New("connection refused")) }
	}
	return l.Store.Heads(ctx, f)
}

// TestThePageSaysWhatWasSoBeforeTheDatabaseWentAway: how much was queued, and since when.
func TestThePageSaysWhatWasSoBeforeTheDatabaseWentAway(t *testing.T) {
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "worker.db"))
	require.NoError(t, err)
	defer l.Close()
	store := &leaving{Store: &journal.MapStore{}}
	a, err := report.New(report.Config{Journal: store, Ledger: l})
	require.NoError(t, err)
	w, err := work.New(work.Config{Agents: []*agent.Agent{a}})
	require.NoError(t, err)
	s := &server{Config: Config{Agent: a, Worker: w, Ledger: l, Logger: slog.New(slog.DiscardHandler)}}
	store.away.Store(true)
	_, err = s.operations(t.Context())
	require.ErrorContains(t, err, "refused", "nothing is known yet")

	store.away.Store(false)
	_, err = Enqueue(t.Context(), InJournal(a), l, "tides", "")
	require.NoError(t, err)
	read := func() *operations {
		o, err := s.operations(t.Context())
		require.NoError(t, err)
		return o.(*operations)
	}
	before := read()
	require.Equal(t, 1, before.Counts.Queued)
	require.NotZero(t, before.Oldest)
	require.Zero(t, before.Away)

	store.away.Store(true)
	during := read()
	require.NotZero(t, during.Away)
	require.Equal(t, during, read(), "since when it is away doesn't change")
	during.Away = 0
	require.Equal(t, before, during)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.operations(ctx)
	require.Error(t, err, "that a page has left is no outage")

	store.away.Store(false)
	require.Zero(t, read().Away)
}
