package notes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestANoteCanBeWrittenOfAnInputThatATestHasMade(t *testing.T) {
	in := &notes.Input{Goal: "the goal", Request: provider.Request{
		Messages: []provider.Message{provider.User("the goal"), provider.Assistant("page 42 is done")}}}
	require.Contains(t, in.Transcript(0), "page 42 is done")
	v, err := notes.ByModel[int](
		providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			require.Contains(t, req.LastUserText(), "page 42 is done")
			require.Contains(t, req.LastUserText(), "the goal\n")
			require.Positive(t, req.MaxOutput)
			return provider.TextResponse("```json\n{\"value\": 7}\n```"), nil
		}), "")(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, 7, v)
	_, err = notes.ByModel[int](nil, "")(t.Context(), in)
	require.ErrorContains(t, err, "no model")
	require.NotPanics(t, func() { _, err = notes.ByModel[int](nil, "")(t.Context(), nil) })
	require.ErrorContains(t, err, "no model")
}

// A Tree contains itself.
type Tree struct {
	Name     string  `json:"name"`
	Children []*Tree `json:"children"`
}

func TestANoteMayBeOfAnyTypeThatASchemaCanBeMadeOf(t *testing.T) {
	ask := func(text string, parts ...provider.Part) provider.Provider {
		return providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			return &provider.Response{Parts: append([]provider.Part{provider.TextPart(text)}, parts...),
				Stop: provider.StopDone}, nil
		})
	}
	in := &notes.Input{}
	m, err := notes.ByModel[map[string]int](ask(`{"a":1}`), "")(t.Context(), in)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"a": 1}, m)
	tree, err := notes.ByModel[Tree](ask(`{"name":"a","children":[{"name":"b","children":null}]}`), "")(t.Context(),
		in)
	require.NoError(t, err)
	require.Equal(t, "b", tree.Children[0].Name)
	_, err = notes.ByModel[chan int](ask(`{}`), "")(t.Context(), in)
	require.ErrorContains(t, err, "no schema can be made of chan int")
	_, err = notes.ByModel[Tree](ask(""), "")(t.Context(), in)
	require.ErrorContains(t, err, "doesn't fit its schema")
	require.Equal(t, fault.Permanent, fault.Of(err))
	_, err = notes.ByModel[Tree](providertest.Script(providertest.Call("read", struct{}{})), "")(t.Context(), in)
	require.ErrorContains(t, err, "tool_calls")
}
