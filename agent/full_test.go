package agent_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A countingStore counts the appends that failed.
type countingStore struct {
	journal.Store
	failed atomic.Int64
}

func (s *countingStore) Append(ctx context.Context, a journal.Append) error {
	err := s.Store.Append(ctx, a)
	if err != nil {
		s.failed.Add(1)
	}
	return err
}

// The cause is known, so that trying again for 30 s could only delay the end of the run.
func TestAFullDiskFailsAnAppendAtOnce(t *testing.T) {
	db, err := sqlite.OpenWith(filepath.Join(t.TempDir(), "runs.db"), sqlite.Config{MaxBytes: 400 << 10})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	store := &countingStore{Store: db}
	big := tools.New(tools.Spec{Name: "big"}, func(context.Context, Number) (string, error) { return strings.Repeat("text ", 50_000), nil })
	a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{big}}, call("big", 1), call("big", 2), call("big", 3), say("Done."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.ErrorIs(t, err, sqlite.ErrFull)
	require.ErrorIs(t, err, journal.ErrUnusable)
	require.Equal(t, agent.Failed, res.Status)
	require.Equal(t, machine.CodeJournal, res.Code)
	require.EqualValues(t, 1, store.failed.Load(), "appends that failed")
}
