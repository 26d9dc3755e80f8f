package session_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// sessions returns the sessions of a store that others share.
func sessions(store journal.Store) *session.Sessions {
	return session.New(session.Config{Store: contain.Store(store, contain.Abandoned{}), Record: journal.MaxRecord,
		Owner: "o",
		Lease: time.Minute, Grace: time.Second, Logger: slog.New(slog.DiscardHandler),
		NewID: func(prefix string) string { return prefix + rand.Text() }})
}

func open(t *testing.T, s *session.Sessions, name string) *session.Log {
	t.Helper()
	l := s.Log(t.Context(), name)
	require.NoError(t, l.Hold(nil))
	return l
}

// A stage is a session in which a run has come to a point.
type stage struct {
	name  string
	facts func() []machine.Fact
}

// stages are the points of a run at which a fact may come.
func stages() []stage {
	call := func() *provider.ToolCall {
		return &provider.ToolCall{ID: machine.CallID("r-1", 1, 0), Name: "add", Input: json.RawMessage(`{}`)}
	}
	start := func() machine.Fact {
		return &machine.RunStarted{Meta: machine.Meta{Origin: &machine.Origin{Session: "s", Run: "r-1"}},
			Message: provider.User("go")}
	}
	step := func() machine.Fact { return &machine.StepStarted{Meta: machine.Meta{Step: 1}} }
	reply := func() machine.Fact {
		return &machine.Replied{Stop: provider.StopToolCalls, Message: provider.Message{Role: provider.RoleAssistant,
			Parts: []provider.Part{{Kind: provider.PartToolCall, Call: call()}}}}
	}
	suspend := func() machine.Fact {
		return &machine.Suspended{Meta: machine.Meta{Call: call().ID},
			Pause: machine.Pause{ID: "p-1", Kind: machine.PauseApproval, Call: *call()}}
	}
	begin := func() machine.Fact {
		return &machine.ToolStarted{Meta: machine.Meta{Call: call().ID}, Call: call(), IdempotencyKey: call().ID}
	}
	end := func() machine.Fact {
		return &machine.ToolFinished{Meta: machine.Meta{Call: call().ID}, Call: call(), Result: &machine.ToolResult{
			ToolResult: provider.ToolResult{CallID: call().ID, Name: "add"}, Status: tools.OK}}
	}
	over := func(status machine.Status) func() machine.Fact {
		return func() machine.Fact { return &machine.RunEnded{Status: status} }
	}
	answer := func() machine.Fact {
		return &machine.Replied{Stop: provider.StopDone, Message: provider.Assistant("done")}
	}
	makes := func(all ...func() machine.Fact) func() []machine.Fact {
		return func() (out []machine.Fact) {
			for _, f := range all {
				out = append(out, f())
			}
			return out
		}
	}
	return []stage{
		{"without a run", makes()},
		{"ready", makes(start)},
		{"calling", makes(start, step)},
		{"acting", makes(start, step, reply)},
		{"a call has started", makes(start, step, reply, begin)},
		{"suspended", makes(start, step, reply, suspend)},
		{"paused", makes(start, step, reply, suspend, over(machine.Paused))},
		{"a call has ended", makes(start, step, reply, begin, end)},
		{"replied", makes(start, step, answer)},
		{"ended", makes(start, step, answer, over(machine.Completed))},
	}
}

// candidates returns records of facts of each kind: the recorded one, and one without contents.
func candidates(t *testing.T) (records []journal.Record, kinds map[string]int) {
	t.Helper()
	golden, err := os.ReadFile("../../machine/testdata/facts_v2.jsonl")
	require.NoError(t, err)
	kinds = make(map[string]int)
	for line := range bytes.Lines(golden) {
		var form struct {
			Kind string          `json:"kind"`
			V    int             `json:"v"`
			Data json.RawMessage `json:"data"`
		}
		require.NoError(t, json.Unmarshal(line, &form))
		kinds[form.Kind] = 0
		for _, data := range []json.RawMessage{form.Data, json.RawMessage(`{"run":"r-1"}`)} {
			records = append(records, journal.Record{Kind: form.Kind, V: form.V, Data: data})
		}
	}
	return records, kinds
}

func TestAnIllegalFactOfAnyKindIsRefusedBeforeItIsStored(t *testing.T) {
	records, refused := candidates(t)
	stored := 0
	for _, at := range stages() {
		for _, rec := range records {
			for _, run := range []string{"", "r-9"} { // of the run, and of another
				f, err := machine.Decode("s", rec)
				require.NoError(t, err)
				store := &journal.MapStore{}
				l := open(t, sessions(store), "s")
				for _, legal := range at.facts() {
					require.NoError(t, l.Append(nil, legal), at.name)
				}
				meta := f.Envelope()
				meta.Seq, meta.Step = 0, 0
				if meta.Origin = nil; run != "" || l.Origin() == nil {
					meta.Origin = &machine.Origin{Session: "s", Run: max(run, "r-1")}
				}
				machine.Stamp(f, meta)
				before := count(t, store)
				err = l.Append(nil, f)
				kind := machine.Record(f).Kind
				if err == nil {
					stored++
					require.Equal(t, before+1, count(t, store))
				} else {
					refused[kind]++
					var wrong *machine.FactError
					require.ErrorAs(t, err, &wrong, "%s %s", at.name, kind)
					require.Equal(t, before, count(t, store), "%s: %s is stored: %v", at.name, kind, err)
					require.ErrorIs(t, l.Append(nil, f), err, "nothing more is stored")
				}
				l.Close()
				again := open(t, sessions(store), "s") // the log can be read in any case
				require.EqualValues(t, count(t, store), again.State().Seq)
				again.Close()
			}
		}
	}
	require.Positive(t, stored)
	for kind, n := range refused {
		require.Positive(t, n, "no fact of kind %s was refused", kind)
	}
}

// count returns how many records a session has.
func count(t *testing.T, store journal.Store) (n int) {
	t.Helper()
	for _, err := range store.Read(context.Background(), "s", 0) {
		require.NoError(t, err)
		n++
	}
	return n
}
