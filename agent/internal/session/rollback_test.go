package session_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// An unwilling store refuses appends.
type unwilling struct {
	journal.Store
	refuses bool
}

func (s *unwilling) Append(ctx context.Context, a journal.Append) error {
	if s.refuses {
		return journal.Unusable("no")
	}
	return s.Store.Append(ctx, a)
}

// asked returns a session whose run waits for a model's reply.
func asked(t *testing.T, s *session.Sessions) *session.Log {
	t.Helper()
	l := open(t, s, "s")
	start := &machine.RunStarted{Message: provider.User("go")}
	start.Meta.Origin = &machine.Origin{Session: "s", Run: "r-1"}
	require.NoError(t, l.Append(nil, start))
	require.NoError(t, l.Append(nil, &machine.StepStarted{Meta: machine.Meta{Step: 1}}))
	return l
}

func stateOf(t *testing.T, l *session.Log) string {
	t.Helper()
	data, err := json.Marshal(l.State())
	require.NoError(t, err)
	return string(data)
}

func TestAnAppendThatFailsLeavesTheStateAsItWas(t *testing.T) {
	reply := func(text string) machine.Fact {
		return &machine.Replied{Stop: provider.StopDone, Message: provider.Assistant(text)}
	}
	store := &unwilling{Store: &journal.MapStore{}}
	for name, c := range map[string]struct {
		refuses bool
		facts   []machine.Fact
		err     string
		goesOn  bool
	}{
		"the store refuses it":     {refuses: true, facts: []machine.Fact{reply("hi")}, err: "refuses an append"},
		"its second fact is wrong": {facts: []machine.Fact{reply("hi"), reply("again")}, err: "no model call"},
		"its second fact is too large": {facts: []machine.Fact{&machine.PhaseChanged{To: "b"}, reply(strings.Repeat("x",
			2<<10))}, err: "larger than a record", goesOn: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := sessions(store)
			s.Record = 1 << 10
			l := asked(t, s)
			before := stateOf(t, l)
			store.refuses = c.refuses
			require.ErrorContains(t, l.Append(nil, c.facts...), c.err)
			store.refuses = false
			require.Equal(t, before, stateOf(t, l))
			require.Equal(t, !c.goesOn, l.Lost())
			if c.goesOn {
				require.NoError(t, l.Append(nil, reply("short")))
			}
			l.Close()
			require.NoError(t, s.Remove(t.Context(), "s"))
		})
	}
}
