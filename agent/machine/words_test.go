package machine_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

func TestTheWordsOfAnEndNameNoFieldsOfGo(t *testing.T) {
	for _, limit := range constants(t, "limits.go", "Limit") {
		own := (&machine.LimitError{Limit: limit, Max: 1, Have: 2}).Words()
		require.NotEqual(t, (&machine.LimitError{}).Words(), own, "%s has words of its own", limit)
		require.NotContains(t, own, "Limits.")
		end := &machine.RunEnded{Status: machine.Stopped, Code: machine.CodeLimit, Limit: limit}
		require.Equal(t, own, end.Words())
		require.Equal(t, own, (&machine.StopError{Code: machine.CodeLimit, Limit: limit}).Words())
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

// TestANewCodeNeedsALine in the list endings, which front ends ask: what people read, who says it,
// and whether somebody wanted the run to end.
func TestANewCodeNeedsALine(t *testing.T) {
	codes := constants(t, "result.go", "Code")
	require.ElementsMatch(t, codes, machine.Codes())

	for _, code := range codes {
		end := &machine.RunEnded{Status: machine.Stopped, Code: code, Reason: "agent: why"}
		words := end.UserWords()
		require.NotEqual(t, "The work was stopped.", words, "%s has words of its own", code)
		require.Contains(t, []string{"", words}, end.Words(), code)
		require.Contains(t, []string{"why", words}, end.UserReason(), code)
		require.False(t, machine.StoppedByPerson(code) && machine.GoesOn(code), code)
	}
	for want, end := range map[string]*machine.RunEnded{
		"": {Status: machine.Completed, Code: machine.CodeCondition, Reason: "agent: why"}, "why": {
			Status: machine.Stopped, Code: machine.CodeCondition, Reason: "agent: why"},
		"The answer was paused.": {Status: machine.Paused, Code: machine.CodeHost},
		"The work failed.":       {Status: machine.Failed, Code: "unknown"},
		"The work was stopped.":  {Status: machine.Stopped, Code: "unknown", Reason: "agent: why"},
		"The work was ended by a rule of this service.": {
			Status: machine.Failed, Code: machine.CodeAborted, Reason: "a panic"}} {
		require.Equal(t, want, end.UserReason())
	}
	for _, end := range []*machine.RunEnded{nil, {Status: machine.Paused}} {
		require.Empty(t, end.UserWords())
		require.Empty(t, end.UserReason())
	}
}

// constants returns the values of the constants of a file whose names begin with a prefix.
func constants(t *testing.T, file, prefix string) (values []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.ValueSpec); ok && len(c.Values) == 1 && strings.HasPrefix(c.Names[0].Name, prefix) {
			value, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			values = append(values, value)
		}
		return true
	})
	require.Greater(t, len(values), 10)
	return values
}
