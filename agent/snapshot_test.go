package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestASnapshotOfAnyStateGoesOnAsTheFactsWouldHave(t *testing.T) {
	eachLog(t, 4, func(t *testing.T, s *sim) {
		var pruned *Machine
		s.after = func(f Fact) {
			if pruned != nil {
				rec, err := EncodeFact(f)
				require.NoError(t, err)
				f, err := DecodeFact(s.m.s.Session, rec)
				require.NoError(t, err)
				require.NoError(t, pruned.Apply(f))
				require.Equal(t, stateJSON(t, s.m), stateJSON(t, pruned), "after fact %d, %s", len(s.facts), f.kind())
				require.Equal(t, s.m.Next(), pruned.Next())
			}
			if pruned == nil || s.one(5) {
				state, err := s.m.s.clone()
				require.NoError(t, err)
				rec, err := EncodeFact(Snapshot{Meta: Meta{Origin: &Origin{Session: s.m.s.Session, Run: s.m.s.Run.ID}, Seq: s.m.s.Seq}, State: state})
				require.NoError(t, err)
				back, err := DecodeFact(s.m.s.Session, rec)
				require.NoError(t, err)
				pruned = NewMachine(s.m.s.Session)
				pruned.s.Seq = s.m.s.Seq - 1
				require.NoError(t, pruned.Apply(back))
				require.Equal(t, stateJSON(t, s.m), stateJSON(t, pruned))
			}
		}
	})
}

// snapshots are states that facts can't have made.
var snapshots = map[string]string{
	"nothing":                `{}`,
	"a run of no name":       `{"run":{}}`,
	"another run":            `{"messages":[M],"run":{"id":"r-2","status":"completed","stage":"said"}}`,
	"of no place in a chain": `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"said","context_reset":{"index":1,"from":"r-0","prompt":-1}}}`,
	"no messages":            `{"run":{"id":"r-1","status":"completed","stage":"said"}}`,
	"before its messages":    `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"said","first":-1}}`,
	"behind its messages":    `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"said","first":2}}`,
	"a result of nothing":    `{"messages":[{"role":"tool","parts":[{"kind":"tool_result"}]}],"run":{"id":"r-1","status":"completed","stage":"said"}}`,
	"a call that is none":    `{"messages":[M,{"role":"assistant","parts":[{"kind":"tool_call"}]}],"run":{"id":"r-1","status":"completed","stage":"said"}}`,
	"an unknown status":      `{"messages":[M],"run":{"id":"r-1","status":"odd","stage":"said"}}`,
	"an unknown stage":       `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"odd"}}`,
	"calls at rest":          `{"messages":[M],"run":{"id":"r-1","status":"paused","stage":"ready","calls":[{"status":"suspended"}]}}`,
	"acts without calls":     `{"messages":[M],"run":{"id":"r-1","status":"paused","stage":"acting"}}`,
	"acts without messages":  `{"run":{"id":"r-1","status":"paused","stage":"acting","calls":[{"status":"open"}]}}`,
	"a call of nothing":      `{"messages":[M,C],"run":{"id":"r-1","step":1,"status":"paused","stage":"acting","calls":[{"status":"open"}]}}`,
	"waits for nothing":      `{"messages":[M,C],"run":{"id":"r-1","step":1,"status":"paused","stage":"acting","calls":[{"status":"suspended","call":{"id":"r-1.1.0","name":"x"}}]}}`,
	"an odd status":          `{"messages":[M,C],"run":{"id":"r-1","step":1,"status":"paused","stage":"acting","calls":[{"status":"odd","call":{"id":"r-1.1.0","name":"x"}}]}}`,
	"done without a result":  `{"messages":[M,C],"run":{"id":"r-1","step":1,"status":"paused","stage":"acting","calls":[{"status":"done","call":{"id":"r-1.1.0","name":"x"}},{"status":"open","call":{"id":"r-1.1.1","name":"x"}}]}}`,
	"another call":           `{"messages":[M,C],"run":{"id":"r-1","step":1,"status":"paused","stage":"acting","calls":[{"status":"open","call":{"id":"r-1.1.0","name":"y"}}]}}`,
}

func snapshotOf(state string) string {
	m, err := json.Marshal(provider.User("go"))
	if err != nil {
		panic(err)
	}
	c, err := json.Marshal(provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "r-1.1.0", Name: "x"}}}})
	if err != nil {
		panic(err)
	}
	state = string(bytes.ReplaceAll(bytes.ReplaceAll([]byte(state), []byte("[M"), append([]byte("["), m...)), []byte(",C]"), append(append([]byte(","), c...), ']')))
	return fmt.Sprintf(`{"session":"s","seq":7,"time":"2026-01-02T03:04:05Z","kind":"snapshot","v":1,"data":{"run":"r-1","state":%s}}`, state)
}

func TestAnImportedSnapshotThatFactsCantHaveMadeIsRefused(t *testing.T) {
	a, err := New(Config{Provider: providertest.Script()})
	require.NoError(t, err)
	good := `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"said"}}`
	require.NoError(t, a.Import(t.Context(), "good", bytes.NewReader([]byte(snapshotOf(good)))))
	for name, state := range snapshots {
		err := a.Import(t.Context(), "s", bytes.NewReader([]byte(snapshotOf(state))))
		var bad *FactError
		require.ErrorAs(t, err, &bad, name)
	}
	facts, err := a.Facts(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, facts)
}

// FuzzImport imports anything, and asks of what came of it all that can be asked.
func FuzzImport(f *testing.F) {
	for _, state := range snapshots {
		f.Add([]byte(snapshotOf(state)))
	}
	s := newSim(nil, 1)
	var log bytes.Buffer
	s.t = new(testing.T)
	for len(s.facts) < 80 {
		s.step()
	}
	enc := json.NewEncoder(&log)
	for _, f := range s.facts {
		rec, err := EncodeFact(f)
		if err != nil {
			panic(err)
		}
		if err := enc.Encode(exported{"s", rec.Seq, rec.Time, rec.Kind, rec.V, rec.Data}); err != nil {
			panic(err)
		}
	}
	f.Add(log.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := New(Config{Provider: providertest.Script(providertest.Say("Done."))})
		require.NoError(t, err)
		if a.Import(t.Context(), "s", bytes.NewReader(data)) != nil {
			return
		}
		err = a.Decide(t.Context(), "s", Approve(""))
		var bad *DecisionError
		require.True(t, errors.As(err, &bad), "%v", err)
		_, err = a.Pending(t.Context(), "s")
		require.NoError(t, err)
		_, err = a.Trace(t.Context(), "s")
		require.NoError(t, err)
		_, err = a.Undo(t.Context(), "s", Rollback{Moved: true})
		require.NoError(t, err)
		_, err = a.Fork(t.Context(), "s", "copy", 0)
		require.NoError(t, err)
		res, err := a.Run(t.Context(), Input{Session: "s", Prompt: "go on"})
		require.NoError(t, err)
		require.Equal(t, Completed, res.Status)
	})
}

func TestAFactThatDoesntFitIsntAppended(t *testing.T) {
	store := journal.NewMemory()
	a, err := New(Config{Provider: providertest.Script(providertest.Say("Done.")), Journal: store})
	require.NoError(t, err)
	_, err = a.Run(t.Context(), Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	before, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	x := a.open(t.Context())
	defer x.cancel(nil)
	require.NoError(t, x.enter(&Input{Session: "s"}))
	x.lock()
	err = x.recordLocked(nil, Decided{Meta: x.besides(), Decision: Decision{ID: "p-1", Kind: Rejected}})
	x.mu.Unlock()
	var bad *FactError
	require.ErrorAs(t, err, &bad)
	x.leave()
	after, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, before.Seq, after.Seq)
}
