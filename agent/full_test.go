package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A fullStore has no room for large records, and counts the appends that it refuses.
type fullStore struct {
	journal.Store
	failed atomic.Int64
}

func (s *fullStore) Append(ctx context.Context, a journal.Append) error {
	for _, r := range a.Records {
		if len(r.Data) > 100_000 {
			s.failed.Add(1)
			return fmt.Errorf("store: %w: %w", journal.Unusable("the disk is full"), syscall.ENOSPC)
		}
	}
	return s.Store.Append(ctx, a)
}

// The cause is known, so that trying again for 30 s could only delay the end of the run.
func TestAFullDiskFailsAnAppendAtOnce(t *testing.T) {
	store := &fullStore{Store: journal.NewMemory()}
	big := tools.New(tools.Spec{Name: "big"}, func(context.Context, Number) (string, error) {
		return strings.Repeat("text ", 50_000), nil
	})
	a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{big}}, call("big", 1), say("Done."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.ErrorIs(t, err, journal.ErrUnusable)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, agent.Failed, res.Status)
	require.Equal(t, machine.CodeJournal, res.Code)
	require.EqualValues(t, 1, store.failed.Load(), "appends that failed")
}
