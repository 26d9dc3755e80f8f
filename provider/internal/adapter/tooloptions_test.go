package adapter_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

func TestOptionsOfAToolAreObjectsBesideWhatTheToolSays(t *testing.T) {
	with := func(raw string) *provider.Tool {
		return &provider.Tool{Name: "find", Options: map[string]json.RawMessage{"acme": json.RawMessage(raw),
			"other": json.RawMessage(`[]`), "mine": json.RawMessage(`{"a":2,"c":null}`)}}
	}
	got, own, err := adapter.ToolOptions("acme", "", with(`{"a":1,"b":{"x":1},"strict":true}`), []string{"name"},
		"acme", "mine", "none")
	require.NoError(t, err)
	require.Nil(t, own)
	require.True(t, adapter.AsksStrict(got))
	merged, err := adapter.WithOptions(map[string]any{"name": "n", "c": 1}, got)
	require.NoError(t, err)
	require.Equal(t, `{"a":2,"b":{"x":1},"name":"n","strict":true}`, string(merged.(json.RawMessage)))
	const notAnObject = `acme: the tool "find": Options["acme"] isn't a JSON object`
	for raw, want := range map[string]string{
		`[]`:            notAnObject,
		`null`:          notAnObject,
		``:              notAnObject,
		`"secret"`:      notAnObject, // and isn't quoted
		`{"type":null}`: `acme: the tool "find": its Options have "type", which is said by the tool itself; remove it`,
		`{"type":""}`:   `acme: the tool "find": its Options have "type", which is said by the tool itself; remove it`,
		`{"name":"n"}`:  `acme: the tool "find": its Options have "name", which is said by the tool itself; remove it`,
	} {
		_, _, err := adapter.ToolOptions("acme", "function", with(raw), []string{"type", "name"}, "acme")
		require.EqualError(t, err, want)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	got, own, err = adapter.ToolOptions("acme", "function", &provider.Tool{}, nil, "acme")
	require.NoError(t, err)
	require.Nil(t, got)
	require.Nil(t, own)

	// A type that isn't the usual one says that the maker defines the tool.
	for raw, makers := range map[string]bool{`{"type":"shell","name":"x"}`: true, `{"type":"function"}`: false} {
		got, own, err = adapter.ToolOptions("acme", "function", with(raw), nil, "acme")
		require.NoError(t, err)
		require.Equal(t, makers, own != nil)
		require.Equal(t, makers, got == nil)
	}
}
