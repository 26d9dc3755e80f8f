package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

func TestTheWordsOfAnEndNameNoFieldsOfGo(t *testing.T) {
	for _, limit := range []string{machine.LimitSteps, machine.LimitStepsPerPhase, machine.LimitTokens,
		machine.LimitCost, machine.LimitDuration, machine.LimitPromptBytes,
		machine.LimitMediaBytes, machine.LimitRepeats,
		machine.LimitFailures, machine.LimitReplyBytes, machine.LimitSubagentCalls, machine.LimitRequirePrices} {
		own := (&machine.LimitError{Limit: limit, Max: 1, Have: 2}).Words()
		require.NotEqual(t, (&machine.LimitError{}).Words(), own, "%s has words of its own", limit)
		require.NotContains(t, own, "Limits.")
		end := &machine.RunEnded{Status: machine.Stopped, Code: machine.CodeLimit, Limit: limit}
		require.Equal(t, own, end.Words())
		require.Equal(t, own, (&machine.StopError{Code: machine.CodeLimit, Limit: limit}).Words())
	}
	for _, code := range []string{machine.CodeLimit, machine.CodeLength, machine.CodeFiltered, machine.CodeEmpty,
		machine.CodeBudget, machine.CodeContext, machine.CodeOutput, machine.CodeJournal} {
		require.NotEmpty(t, (&machine.RunEnded{Status: machine.Failed, Code: code}).Words(), code)
	}
	key := &provider.Problem{Kind: provider.ProblemKey, Provider: "openai"}
	require.Equal(t, key.Words(),
		(&machine.RunEnded{Status: machine.Failed, Code: machine.CodeProvider, Problem: key}).Words())
	for _, end := range []*machine.RunEnded{nil, {Status: machine.Completed}, {Status: machine.Paused,
		Code: machine.CodeQueued, Problem: key}, {Status: machine.Stopped, Code: machine.CodeAborted},
		{Status: machine.Failed, Code: machine.CodeProvider}} {
		require.Empty(t, end.Words())
	}
}
