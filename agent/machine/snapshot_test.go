package machine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

func TestAfterASnapshotFactsHaveTheSameEffect(t *testing.T) {
	eachLog(t, 4, func(t *testing.T, s *sim) {
		var pruned *machine.Machine
		s.after = func(f machine.Fact) {
			if pruned != nil {
				rec, err := machine.Encode(f)
				require.NoError(t, err)
				f, err := machine.Decode(s.m.State().Session, rec)
				require.NoError(t, err)
				require.NoError(t, pruned.Apply(f))
				require.Equal(t, stateJSON(t, s.m), stateJSON(t, pruned), "after fact %d, %s", len(s.facts),
					machine.KindOf(f))
				require.Equal(t, s.m.Next(), pruned.Next())
			}
			if pruned == nil || s.one(5) {
				state, err := machine.CloneState(s.m.State())
				require.NoError(t, err)
				origin := machine.Origin{Session: s.m.State().Session, Run: s.m.State().Run.ID}
				rec, err := machine.Encode(&machine.Snapshot{Meta: machine.Meta{Origin: &origin, Seq: s.m.State().Seq},
					State: state})
				require.NoError(t, err)
				back, err := machine.Decode(s.m.State().Session, rec)
				require.NoError(t, err)
				pruned, err = machine.Replay(s.m.State().Session, back)
				require.NoError(t, err)
				require.Equal(t, stateJSON(t, s.m), stateJSON(t, pruned))
			}
		}
	})
}

// impossibleStates can't be made by any facts. M stands for a message of the user, C for a reply
// with a call.
var impossibleStates = map[string]string{
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
	"a negative cost":        `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"replied"},"totals":{"cost":-1}}`,
	"a label of the owner":   `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"replied"},"own_labels":"pawl.owner=bob"}`,
	"another call":           `{"messages":[M,C],"run":{"id":"r-1","step":1,"status":"paused","stage":"acting","calls":[{"status":"open","call":{"id":"r-1.1.0","name":"y"}}]}}`,
}

// snapshotOf returns a stored snapshot of a state in JSON.
func snapshotOf(t testing.TB, state string) journal.Record {
	t.Helper()
	m, err := json.Marshal(provider.User("go"))
	require.NoError(t, err)
	c, err := json.Marshal(message(provider.RoleAssistant,
		provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "r-1.1.0", Name: "x"}}))
	require.NoError(t, err)
	state = strings.NewReplacer("[M", "["+string(m), ",C]", ","+string(c)+"]").Replace(state)
	return journal.Record{Seq: 7, Kind: "snapshot", V: machine.Version,
		Data: []byte(`{"run":"r-1","state":` + state + `}`)}
}

func replayRecord(rec journal.Record) (*machine.Machine, error) {
	f, err := machine.Decode("s", rec)
	if err != nil {
		return nil, err
	}
	return machine.Replay("s", f)
}

func TestASnapshotThatFactsCannotHaveMadeIsRefused(t *testing.T) {
	_, err := replayRecord(snapshotOf(t, `{"messages":[M],"run":{"id":"r-1","status":"completed","stage":"replied"}}`))
	require.NoError(t, err)
	_, err = replayRecord(snapshotOf(t,
		`{"messages":[M,C],"run":{"id":"r-1","step":1,"status":"paused","stage":"acting","calls":[{"status":"open","call":{"id":"r-1.1.0","name":"x"}}]}}`))
	require.NoError(t, err)
	for name, state := range impossibleStates {
		_, err := replayRecord(snapshotOf(t, state))
		var bad *machine.FactError
		require.ErrorAs(t, err, &bad, name)
	}
}

// FuzzSnapshot replays any snapshot, and asks what can be asked of the machine.
func FuzzSnapshot(f *testing.F) {
	for _, state := range impossibleStates {
		f.Add([]byte(snapshotOf(f, state).Data))
	}
	s := newSim(nil, 1)
	s.t = new(testing.T)
	for len(s.facts) < 80 {
		s.step()
		state, err := machine.Marshal(s.m.State())
		require.NoError(f, err)
		f.Add([]byte(`{"run":"` + s.m.State().Run.ID + `","state":` + string(state) + `}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := replayRecord(journal.Record{Seq: 1, Kind: "snapshot", V: machine.Version, Data: data})
		if err != nil {
			var bad *machine.FactError
			require.ErrorAs(t, err, &bad)
			return
		}
		stateJSON(t, m)
		m.Next()
		m.Waiting()
		m.State().Goal()
		m.State().LastUserText()
		res := m.Result(m.State().Run.Status, "", nil)
		res.Text()
		res.Attempts()
		for _, p := range m.State().Run.Pending() {
			m.State().Run.Suspended(p.ID)
		}
		machine.Conversation([]machine.Fact{&machine.Snapshot{State: m.State()}})
	})
}
