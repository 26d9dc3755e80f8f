package history_test

import (
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// eachStore calls fn with sessions of this process alone, whose facts the store keeps as they are,
// and with sessions of several processes, whose facts are encoded.
func eachStore(t *testing.T, fn func(t *testing.T, inMemory bool)) {
	t.Run("in memory", func(t *testing.T) { fn(t, true) })
	t.Run("in a journal", func(t *testing.T) { fn(t, false) })
}

// sessionsOf returns the sessions of a store, and who prunes them: it looks for descendants in
// other stores, too.
func sessionsOf(store journal.Store, inMemory bool, others ...journal.Store) (*session.Sessions, *history.Pruner) {
	p := &history.Pruner{Journals: append([]journal.Store{store}, others...)}
	p.Sessions = session.New(session.Config{Store: store, InMemory: inMemory, Record: journal.MaxRecord, Owner: "o",
		Lease: time.Minute, Grace: time.Second, Logger: slog.New(slog.DiscardHandler), Delete: p.Remove,
		NewID: func(prefix string) string { return prefix + rand.Text() }})
	return p.Sessions, p
}

// sessionsInMemory returns the sessions of a store in memory, and who prunes them.
func sessionsInMemory() (*session.Sessions, *history.Pruner) {
	return sessionsOf(&journal.MapStore{}, true)
}

// hold returns a session that is held until the caller closes it.
func hold(t *testing.T, s *session.Sessions, name string) *session.Log {
	t.Helper()
	l := s.Log(t.Context(), name)
	require.NoError(t, l.Hold(nil))
	return l
}

// started returns the fact that starts a run in a session, as the work of another one.
func started(name, parent string) machine.Fact {
	return &machine.RunStarted{Message: provider.User("go"), ParentSession: parent, Key: "k",
		Meta: machine.Meta{Origin: &machine.Origin{Session: name, Run: "r-" + name, Agent: "a"}}}
}

// add appends a run to a session: one that has completed, or that is about to call a model.
func add(t *testing.T, s *session.Sessions, name, parent string, ends bool) {
	t.Helper()
	l := hold(t, s, name)
	defer l.Close()
	require.NoError(t, l.Append(nil, started(name, parent)))
	if ends {
		require.NoError(t, l.Append(nil, &machine.StepStarted{Meta: machine.Meta{Step: 1}, Model: "m"},
			&machine.Replied{Stop: provider.StopDone, Message: provider.Assistant("Done <b>.")},
			&machine.RunEnded{Status: machine.Completed}))
	}
}

// callOf returns the call that [acting] has in a session.
func callOf(name string) *provider.ToolCall {
	return &provider.ToolCall{ID: machine.CallID("r-"+name, 1, 0), Name: "add", Input: []byte(`{}`)}
}

// acting returns the facts of a step whose call has started.
func acting(name string) []machine.Fact {
	call := callOf(name)
	return []machine.Fact{
		&machine.StepStarted{Meta: machine.Meta{Step: 1}, Model: "m", System: "be brief", Tools: []string{"add"}},
		&machine.Replied{Stop: provider.StopToolCalls, Message: provider.Message{Role: provider.RoleAssistant,
			Parts: []provider.Part{{Kind: provider.PartToolCall, Call: call}}}},
		&machine.ToolStarted{Meta: machine.Meta{Call: call.ID}, Call: call, IdempotencyKey: call.ID},
	}
}

// finished returns the fact that this call has a result.
func finished(name string) machine.Fact {
	call := callOf(name)
	return &machine.ToolFinished{Meta: machine.Meta{Call: call.ID}, Call: call, Result: &machine.ToolResult{
		ToolResult: provider.ToolResult{CallID: call.ID, Name: "add"}, Status: tools.OK}}
}

// kinds returns the kinds of the facts of a session.
func kinds(t *testing.T, s *session.Sessions, name string) (list []string) {
	t.Helper()
	facts, err := s.Facts(t.Context(), name, 0, 0)
	require.NoError(t, err)
	for _, f := range facts {
		list = append(list, machine.Record(f).Kind)
	}
	return list
}
