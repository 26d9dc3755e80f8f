package due_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// heads is a store of heads alone.
type heads struct {
	journal.Store
	all []journal.Head
	err error // of the session "unreadable"
}

func (s *heads) Heads(_ context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for _, h := range s.all {
			var err error
			if h.Session == "unreadable" {
				err = s.err
			}
			if f.Match(h) && !yield(h, err) {
				return
			}
		}
	}
}

func TestSessionsAreDueThatCouldContinueButThatNobodyDrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		past, future, updated := now.Add(-time.Minute).UTC(), now.Add(time.Minute), now.Add(-time.Hour)
		running, paused := string(machine.Running), string(machine.Paused)
		open := func(expires ...time.Time) (o []journal.Open) {
			for _, at := range expires {
				o = append(o, journal.Open{Expires: at})
			}
			return o
		}
		for _, c := range []struct {
			why  string
			head journal.Head
			due  time.Time // zero: it isn't due
		}{
			{"it was drained", journal.Head{Status: running}, updated},
			{"its process died", journal.Head{Status: running, Owner: "p", Until: past}, past},
			{"its lease ends now", journal.Head{Status: running, Owner: "p", Until: now}, now},
			{"a process drives it", journal.Head{Status: running, Owner: "p", Until: future}, time.Time{}},
			{"something was posted to it", journal.Head{Status: paused, Inbox: 1, Open: open(future)}, updated},
			{"a process takes what was posted", journal.Head{Status: paused, Inbox: 1, Owner: "p", Until: future},
				time.Time{}},
			{"it waits", journal.Head{Status: paused, Open: open(time.Time{}, future)}, time.Time{}},
			{"it waits without end", journal.Head{Status: paused, Open: open(time.Time{})}, time.Time{}},
			{"it waits for nothing that is known", journal.Head{Status: paused}, time.Time{}},
			{"the time to decide is over", journal.Head{Status: paused, Open: open(future, past, time.Time{})}, past},
			{"it has ended", journal.Head{Status: string(machine.Completed), Inbox: 1}, time.Time{}},
			{"it has no run", journal.Head{Inbox: 1}, time.Time{}},
			{"it has a parent", journal.Head{Status: running, Parent: "p"}, time.Time{}},
			{"it is another package's", journal.Head{Status: running, Kind: "plan"}, time.Time{}},
		} {
			c.head.Set(&journal.HeadUpdate{Status: c.head.Status, Open: c.head.Open, Kind: c.head.Kind,
				Parent: c.head.Parent})
			if c.head.Updated = updated; c.head.Session == "" {
				c.head.Session = "s"
			}
			var got []due.Item
			for it, err := range due.Sessions(t.Context(), &heads{all: []journal.Head{c.head}}, "") {
				require.NoError(t, err)
				got = append(got, it)
			}
			if c.due.IsZero() {
				require.Empty(t, got, c.why)
				continue
			}
			require.Equal(t, []due.Item{{Session: "s", Since: c.due}}, got, c.why)
		}
	})
}

func TestSessionsWithAPrefixAreListedAndErrorsArePassedOn(t *testing.T) {
	broken := errors.New("broken")
	running := string(machine.Running)
	store := &heads{err: broken, all: []journal.Head{{Session: "a"}, {Session: "ua", Status: running},
		{Session: "unreadable", Status: running}, {Session: "uz", Status: running}}}
	var got []string
	for it, err := range due.Sessions(t.Context(), store, "u") {
		require.Equal(t, it.Session == "unreadable", errors.Is(err, broken))
		if got = append(got, it.Session); it.Session == "uz" {
			break
		}
	}
	require.Equal(t, []string{"ua", "unreadable", "uz"}, got)
}
