package tools_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

func TestUndoOfACallWithoutAResultGetsNoOutput(t *testing.T) {
	type page struct{ ID string }
	run := func(_ context.Context, in page) (page, error) { return in, nil }
	spec := tools.Spec{Name: "t", UndoFailed: true}
	var got *page
	d := define(t, tools.Func[page, page]{Spec: spec, Run: run, Undo: func(_ context.Context, _, out page) error {
		got = &out
		return nil
	}})
	require.NoError(t, d.Undo(t.Context(), json.RawMessage(`{"ID":"a"}`), nil))
	require.Equal(t, &page{}, got)
	require.Error(t, d.Undo(t.Context(), json.RawMessage(`{"ID":"a"}`), json.RawMessage("")),
		"a result without text isn't the same as no result")

	called := false
	d = define(t, tools.Raw{Spec: spec, Run: func(context.Context, json.RawMessage) (tools.Result, error) {
		return tools.Result{}, nil
	},
		Undo: func(_ context.Context, _, out json.RawMessage) error { called = out == nil; return nil }})
	require.NoError(t, d.Undo(t.Context(), json.RawMessage(`{}`), nil))
	require.True(t, called)
}

func TestAToolThatUndoesFailedCallsMustHaveUndo(t *testing.T) {
	spec := tools.Spec{Name: "t", UndoFailed: true}
	for _, tool := range []tools.Tool{
		tools.New(spec, func(context.Context, struct{}) (string, error) { return "", nil }),
		tools.Raw{Spec: spec, Run: func(context.Context, json.RawMessage) (tools.Result, error) {
			return tools.Result{}, nil
		}},
	} {
		_, err := tools.NewRegistry(tool)
		require.ErrorContains(t, err, "it has UndoFailed and no Undo")
	}
}

func TestTheContextOfAnUndoHasTheCall(t *testing.T) {
	want := &tools.Call{ID: "r.1.0", IdempotencyKey: "r.1.0", Fence: 7}
	undone := false
	d := define(t, tools.Func[struct{}, string]{Spec: tools.Spec{Name: "t"},
		Run: func(context.Context, struct{}) (string, error) { return "", nil },
		Undo: func(ctx context.Context, _ struct{}, _ string) error {
			c, ok := tools.CallOf(ctx)
			require.True(t, ok)
			require.Same(t, want, c)
			require.Equal(t, "r.1.0", tools.IdempotencyKey(ctx))
			require.EqualValues(t, 7, tools.Fence(ctx))
			tools.Progress(ctx, tools.ProgressReport{Text: "nobody reads this"})
			undone = true
			return nil
		}})
	outer := tools.New(tools.Spec{Name: "outer"}, func(ctx context.Context, _ struct{}) (string, error) {
		// also inside another call
		return "", d.Undo(tools.WithCall(ctx, want), json.RawMessage(`{}`), json.RawMessage(""))
	})
	require.Equal(t, tools.OK, execute(t, t.Context(), outer).Status)
	require.True(t, undone)
}

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
	out := tools.Execute(t.Context(), d, approve(t, d, &tools.Call{Input: json.RawMessage(`{}`)}), nil)
	require.Equal(t, json.RawMessage(`{"n":1}`), out.Suspend.State, "as JSON")
	require.Empty(t, got)
	out = tools.Execute(t.Context(), d, approve(t, d, &tools.Call{Input: json.RawMessage(`{}`),
		Resumed: &tools.Resumption{State: json.RawMessage(`{"n":1}`), Answer: json.RawMessage(`"yes"`)}}), nil)
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
