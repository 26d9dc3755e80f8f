package machine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

func TestADecisionHoldsItsValueAsJSON(t *testing.T) {
	d := machine.Edit("p", map[string]string{"html": "<b>"}).By("ann")
	require.NoError(t, d.Err())
	require.Equal(t,
		machine.Decision{ID: "p", Kind: machine.Edited, Input: json.RawMessage(`{"html":"<b>"}`), User: "ann"}, d)
	d = machine.Answer("p", json.RawMessage(`{"n": 1.0}`))
	require.NoError(t, d.Err())
	require.Equal(t, `{"n": 1.0}`, string(d.Value), "raw JSON is used as it is")
	for name, value := range map[string]any{
		"a function": func() {},
		"no JSON":    json.RawMessage(`{`),
		"nothing":    json.RawMessage(nil),
		"not UTF-8":  json.RawMessage("\"\xff\""),
		"nested too deep": json.RawMessage(strings.Repeat("[", machine.MaxDepth+1) +
			strings.Repeat("]", machine.MaxDepth+1)),
	} {
		require.Error(t, machine.Edit("p", value).Err(), name)
		require.Error(t, machine.Answer("p", value).Err(), name)
	}
}

func TestThePausesOfASubagentStandInThePlaceOfItsCalls(t *testing.T) {
	inner := machine.Pause{ID: "p-3", Kind: machine.PauseApproval,
		Call: provider.ToolCall{ID: "c-3", Input: json.RawMessage(`{"n":1}`)}}
	p := machine.Pause{ID: "p-1", Kind: machine.PauseAgent, Call: provider.ToolCall{ID: "c-1"}, Nested: []machine.Pause{
		{ID: "p-2", Kind: machine.PauseAgent, Call: provider.ToolCall{ID: "c-2"}, Nested: []machine.Pause{inner}},
		{ID: "p-4", Kind: "question"},
	}}
	flat := p.Flat()
	require.Len(t, flat, 2)
	require.Equal(t, []string{"c-1", "c-2"}, flat[0].Path)
	require.Equal(t, "p-4", flat[1].ID)
	flat[0].Call.Input[0] = 'x'
	require.JSONEq(t, `{"n":1}`, string(inner.Call.Input), "callers get a copy")
	run := &machine.RunState{Calls: []machine.CallState{{Call: &p.Call, Status: machine.CallSuspended, Pause: &p}}}
	c, found := run.Suspended("p-3")
	require.Equal(t, "c-1", c.Call.ID)
	require.Equal(t, "p-3", found.ID)
	for _, id := range []string{"p-2", "p-9"} { // a call of a subagent isn't decided on itself
		_, found = run.Suspended(id)
		require.Nil(t, found)
	}
}

func TestAnotherInputHasAnotherPauseID(t *testing.T) {
	call := provider.ToolCall{ID: "c-1", Name: "write", Input: json.RawMessage(`{"n":1}`)}
	id := machine.PauseID("s", &call, machine.PauseApproval, 0, "")
	require.Equal(t, id, machine.PauseID("s", &call, machine.PauseApproval, 0, ""))
	other := call
	other.Input = json.RawMessage(`{"n":2}`)
	for _, another := range []string{
		machine.PauseID("s", &other, machine.PauseApproval, 0, ""),
		machine.PauseID("t", &call, machine.PauseApproval, 0, ""),
		machine.PauseID("s", &call, machine.PauseInDoubt, 0, ""),
		machine.PauseID("s", &call, machine.PauseApproval, 1, ""),
		machine.PauseID("s", &call, machine.PauseApproval, 0, "another preview"),
	} {
		require.NotEqual(t, id, another)
	}
}

func TestAPauseExpiresAtItsTime(t *testing.T) {
	at := time.Unix(100, 0)
	require.False(t, (&machine.Pause{}).Expired(at))
	require.False(t, (&machine.Pause{Expires: at}).Expired(at.Add(-1)))
	require.True(t, (&machine.Pause{Expires: at}).Expired(at))
}
