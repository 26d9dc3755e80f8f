package machine_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// TestWhatTheHostGivesIsKeptAsEachReleaseOfGoStoresIt: a fact that was just made has the same JSON
// as the one that a journal returns.
func TestWhatTheHostGivesIsKeptAsEachReleaseOfGoStoresIt(t *testing.T) {
	raw := json.RawMessage("{\"a\":\"\u2028\\u2029\u2029<&>\xff\"}")
	want := "{\"a\":\"\\u2028\\u2029\\u2029<&>\uFFFD\"}"
	valid := json.RawMessage("{\"a\":\"\u2028\\u2029\u2029<&>\"}")
	for _, redact := range []machine.Redactor{nil, func(s string) string { return s }} {
		require.JSONEq(t, want, string(redact.JSON(raw)))
		require.NotContains(t, string(redact.JSON(raw)), "\u2028")
		require.Equal(t, redact.JSON(valid), redact.Decision(machine.Edit("p", valid)).Input)
		require.Equal(t, redact.JSON(valid), redact.Decision(machine.Answer("p", valid)).Value)
		f := &machine.Suspended{State: raw, Pause: machine.Pause{Nested: []machine.Pause{
			{Call: provider.ToolCall{Input: raw}}}}}
		redact.Fact(f)
		require.Equal(t, redact.JSON(raw), f.State)
		require.Equal(t, redact.JSON(raw), f.Pause.Nested[0].Call.Input)
	}
	require.Equal(t, want, string(machine.Redactor(nil).JSON(raw)))
}
