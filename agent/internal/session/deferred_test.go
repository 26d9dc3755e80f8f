package session_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// kindsIn returns the kinds of the records of session "s".
func kindsIn(t *testing.T, store journal.Store) (kinds []string) {
	t.Helper()
	for rec, err := range store.Read(t.Context(), "s", 0) {
		require.NoError(t, err)
		kinds = append(kinds, rec.Kind)
	}
	return kinds
}

// callReply is a reply with a call.
func callReply() machine.Fact {
	return &machine.Replied{Stop: provider.StopToolCalls, Message: provider.Message{Role: provider.RoleAssistant,
		Parts: []provider.Part{{Kind: provider.PartToolCall,
			Call: &provider.ToolCall{ID: machine.CallID("r-1", 1, 0), Name: "work", Input: []byte("{}")}}}}}
}

func callStart(l *session.Log) machine.Fact {
	c := l.Run().Calls[0].Call
	return &machine.ToolStarted{Meta: machine.Meta{Call: c.ID}, Call: c}
}

func TestAQuietAppendThatIsntStoredKeepsWhatWasDeferred(t *testing.T) {
	store := &journal.MapStore{}
	s := sessions(store)
	l := asked(t, s)
	defer l.Close()
	require.NoError(t, l.Defer(callReply()))
	before := stateOf(t, l)
	require.Len(t, kindsIn(t, store), 2)
	require.NoError(t, s.Post(t.Context(), "s", session.Item{ID: "m", Kind: session.ItemSteer, Text: "hello"}))

	require.ErrorIs(t, l.AppendQuiet(true, callStart(l)), journal.ErrInbox)
	require.Equal(t, before, stateOf(t, l))
	require.Equal(t, []string{"run_started", "step_started", "replied"}, kindsIn(t, store))
	require.NoError(t, l.AppendQuiet(false, callStart(l)))
	require.Len(t, kindsIn(t, store), 4)
}

func TestFailStoresWhatWasDeferred(t *testing.T) {
	store := &journal.MapStore{}
	l := asked(t, sessions(store))
	defer l.Close()
	require.NoError(t, l.Defer(callReply()))
	stop := errors.New("stop")
	l.Fail(stop)
	require.Len(t, kindsIn(t, store), 3)
	require.ErrorIs(t, l.Append(nil, callStart(l)), stop)
	require.Equal(t, uint64(3), l.State().Seq)
}

// A confused store says of every append that something is in the inbox.
type confused struct {
	journal.Store
	now bool
}

func (s *confused) Append(ctx context.Context, a journal.Append) error {
	if s.now {
		return journal.ErrInbox
	}
	return s.Store.Append(ctx, a)
}

func TestAStoreMayntRefuseAnAppendForItsInboxUnasked(t *testing.T) {
	store := &confused{Store: &journal.MapStore{}}
	l := asked(t, sessions(store))
	defer l.Close()
	before := stateOf(t, l)
	store.now = true
	require.ErrorContains(t, l.Append(nil, callReply()), "refuses an append")
	require.True(t, l.Lost())
	require.Equal(t, before, stateOf(t, l))
}
