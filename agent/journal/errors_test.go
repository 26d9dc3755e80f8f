package journal_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

func TestErrorsSayWhatIsWrong(t *testing.T) {
	until := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		err  error
		want string
	}{
		{
			&journal.ConflictError{Session: "s", After: 3, HaveSeq: 5, Fence: 2, HaveFence: 2, Owner: "a"},
			`journal: session "s": can't append after record 3, the last one is 5`,
		},
		{
			&journal.ConflictError{Session: "s", Fence: 2},
			`journal: session "s": fence 2 is stale, the session isn't leased or was deleted`,
		},
		{
			&journal.ConflictError{Session: "s", Fence: 2, HaveFence: 2},
			`journal: session "s": fence 2 is stale, fence 2 was released`,
		},
		{
			&journal.ConflictError{Session: "s", Fence: 2, HaveFence: 3, Owner: "b", Until: until},
			`journal: session "s": fence 2 is stale, "b" has fence 3 until 2026-01-02T03:04:05Z`,
		},
		{
			&journal.HeldError{Session: "s", Owner: "b", Until: until},
			`journal: session "s" is leased by "b" until 2026-01-02T03:04:05Z`,
		},
		{&journal.PostedError{Session: "s", ID: "i"}, `journal: session "s": item "i" is in the inbox already`},
		{&journal.PostedError{Session: "s", ID: "i", Taken: true}, `journal: session "s": item "i" was taken already`},
		{
			&journal.PrunedError{Session: "s", After: 1, UpTo: 4},
			`journal: session "s": can't read after record 1, records up to 4 were pruned`,
		},
		{&journal.InvalidError{Field: "ttl", Problem: "is 0"}, "journal: ttl is 0"},
	} {
		require.EqualError(t, c.err, c.want)
	}
}

func TestOnlyForeignErrorsAreUnclear(t *testing.T) {
	for _, err := range []error{
		nil, journal.ErrNoSession, journal.ErrInbox,
		&journal.ConflictError{}, &journal.HeldError{}, &journal.PostedError{}, &journal.PrunedError{},
		&journal.InvalidError{},
	} {
		require.False(t, journal.Unclear(err), "%T", err)
		if err != nil {
			require.False(t, journal.Unclear(fmt.Errorf("wrapped: %w", err)), "wrapped %T", err)
		}
	}
	for _, err := range []error{io.ErrUnexpectedEOF, context.Canceled, context.DeadlineExceeded,
		errors.New("disk full")} {
		require.True(t, journal.Unclear(err), "%v", err)
	}
}

func TestAnErrorOfAnUnusableStoreIsUnclear(t *testing.T) {
	err := fmt.Errorf("sqlite: %w: %w", journal.Unusable("the disk is full"), io.ErrShortWrite)
	require.ErrorIs(t, err, journal.ErrUnusable)
	require.ErrorIs(t, err, io.ErrShortWrite)
	require.True(t, journal.Unclear(err))
	require.EqualError(t, err, "sqlite: the disk is full: short write")
	require.NotErrorIs(t, io.ErrShortWrite, journal.ErrUnusable)
}

func TestAConflictIsStaleWhenTheFenceIsTheReason(t *testing.T) {
	for _, c := range []struct {
		err  journal.ConflictError
		want bool
	}{
		{journal.ConflictError{After: 1, HaveSeq: 2}, false},
		{journal.ConflictError{After: 1, HaveSeq: 2, Fence: 4, HaveFence: 4, Owner: "a"}, false},
		{journal.ConflictError{Fence: 4, HaveFence: 4}, true},             // released
		{journal.ConflictError{HaveFence: 4, Owner: "a"}, true},           // leased since
		{journal.ConflictError{Fence: 3, HaveFence: 4, Owner: "a"}, true}, // taken over
		{journal.ConflictError{Fence: 3}, true},                           // deleted
	} {
		require.Equal(t, c.want, c.err.Stale(), "%+v", c.err)
	}
}
