package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

func TestOnlyACallThatRunsAgainIsResumed(t *testing.T) {
	_, ok := tools.Resumed(t.Context())
	require.False(t, ok, "outside of a call")
	var got []tools.Resumption
	d, err := tools.New(tools.Spec{Name: "ask"}, func(ctx context.Context, _ struct{}) (string, error) {
		r, ok := tools.Resumed(ctx)
		if ok {
			got = append(got, r)
		}
		return "", &tools.Suspend{Kind: "question", Again: !ok, State: map[string]int{"n": 1}}
	}).Define()
	require.NoError(t, err)
	out := tools.Execute(t.Context(), d, &tools.Call{Input: json.RawMessage(`{}`)}, nil)
	require.Equal(t, json.RawMessage(`{"n":1}`), out.Suspend.State, "as JSON")
	require.Empty(t, got)
	out = tools.Execute(t.Context(), d, &tools.Call{Input: json.RawMessage(`{}`),
		Resumed: &tools.Resumption{State: json.RawMessage(`{"n":1}`), Answer: json.RawMessage(`"yes"`)}}, nil)
	require.Nil(t, out.Suspend.State, "only a call that runs again has a state")
	require.Len(t, got, 1)

	var state struct{ N int }
	var answer string
	require.NoError(t, got[0].Decode(&state, &answer))
	require.Equal(t, 1, state.N)
	require.Equal(t, "yes", answer)
	require.NoError(t, got[0].Decode(nil, nil))
	require.NoError(t, tools.Resumption{}.Decode(&state, &answer))
	err = got[0].Decode(&state, &state)
	require.ErrorContains(t, err, "the answer of a suspended call")
	require.Equal(t, fault.Permanent, fault.Of(err))
}
