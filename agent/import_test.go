package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// snapshots are states that facts can't have made.
var snapshots = map[string]string{
	"nothing":                `{}`,
	"a run of no name":       `{"run":{}}`,
	"another run":            `{"messages":[M],"run":{"id":"r-2","status":"completed","stage":"replied"}}`,
	"of no place in a chain": `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"replied","context_reset":{"index":1,"from":"r-0","prompt":-1}}}`,
	"no messages":            `{"run":{"id":"r-1","status":"completed","stage":"replied"}}`,
	"before its messages":    `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"replied","first":-1}}`,
	"behind its messages":    `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"replied","first":2}}`,
	"a result of nothing":    `{"messages":[{"role":"tool","parts":[{"kind":"tool_result"}]}],"run":{"id":"r-1","status":"completed","stage":"replied"}}`,
	"a call that is none":    `{"messages":[M,{"role":"assistant","parts":[{"kind":"tool_call"}]}],"run":{"id":"r-1","status":"completed","stage":"replied"}}`,
	"an unknown status":      `{"messages":[M],"run":{"id":"r-1","status":"odd","stage":"replied"}}`,
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
	c, err := json.Marshal(provider.Message{Role: provider.RoleAssistant,
		Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "r-1.1.0", Name: "x"}}}})
	if err != nil {
		panic(err)
	}
	state = string(bytes.ReplaceAll(bytes.ReplaceAll([]byte(state), []byte("[M"), append([]byte("["), m...)),
		[]byte(",C]"), append(append([]byte(","), c...), ']')))
	return fmt.Sprintf(
		`{"session":"s","seq":7,"time":"2026-01-02T03:04:05Z","kind":"snapshot","v":2,"data":{"run":"r-1","state":%s}}`,
		state)
}

func TestAnImportedSnapshotThatFactsCantHaveMadeIsRefused(t *testing.T) {
	a, err := New(Config{Provider: providertest.Script()})
	require.NoError(t, err)
	good := `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"replied"}}`
	require.NoError(t, a.Session("good").Import(t.Context(), bytes.NewReader([]byte(snapshotOf(good)))))
	for name, state := range snapshots {
		err := a.Session("s").Import(t.Context(), bytes.NewReader([]byte(snapshotOf(state))))
		var bad *machine.FactError
		require.ErrorAs(t, err, &bad, name)
	}
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	require.Empty(t, facts)
}

// FuzzImport imports anything, and asks of what came of it all that can be asked.
func FuzzImport(f *testing.F) {
	for _, state := range snapshots {
		f.Add([]byte(snapshotOf(state)))
	}
	var log bytes.Buffer
	a, err := New(
		Config{Provider: providertest.Script(providertest.Unfit(providertest.Call("none", nil)),
			providertest.Say("Done."))})
	require.NoError(f, err)
	_, err = a.Run(f.Context(), Input{Session: "s", Prompt: "go"})
	require.NoError(f, err)
	require.NoError(f, a.Session("s").Export(f.Context(), &log))
	f.Add(log.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := New(Config{Provider: providertest.Script(providertest.Say("Done."))})
		require.NoError(t, err)
		if a.Session("s").Import(t.Context(), bytes.NewReader(data)) != nil {
			return
		}
		err = a.Session("s").Decide(t.Context(), Approve(""))
		var bad *DecisionError
		require.True(t, errors.As(err, &bad), "%v", err)
		_, err = a.Session("s").Pending(t.Context())
		require.NoError(t, err)
		_, err = a.Session("s").Trace(t.Context())
		require.NoError(t, err)
		_, err = a.Session("s").Undo(t.Context(), Rollback{Moved: true})
		require.NoError(t, err)
		err = a.Session("s").Fork(t.Context(), "copy", 0)
		require.NoError(t, err)
		res, err := a.Run(t.Context(), Input{Session: "s", Prompt: "go on"})
		require.NoError(t, err)
		require.Equal(t, Completed, res.Status)
	})
}

func TestAFactThatDoesntFitIsntAppended(t *testing.T) {
	store := &journal.MapStore{}
	a, err := New(Config{Provider: providertest.Script(providertest.Say("Done.")), Journal: store})
	require.NoError(t, err)
	_, err = a.Run(t.Context(), Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	before, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	l, err := a.open(t.Context(), "s")
	require.NoError(t, err)
	err = l.append(&machine.Decided{Decision: Decision{ID: "p-1", Kind: machine.Rejected}})
	var bad *machine.FactError
	require.ErrorAs(t, err, &bad)
	l.Close()
	after, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, before.Seq, after.Seq)
}
