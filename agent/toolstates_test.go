package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStatesOfToolsAreThoseOfAMap(t *testing.T) {
	var s toolStates
	m := make(map[string]toolState)
	for n, tool := range []string{"m", "a", "z", "m", "b", "a", "", "z"} {
		require.Equal(t, m[tool], s.of(tool))
		m[tool] = toolState{OK: n, Input: uint64(n)}
		s.set(tool, m[tool])
		want, err := json.Marshal(m)
		require.NoError(t, err)
		got, err := json.Marshal(struct {
			S toolStates `json:"s,omitempty"`
		}{s})
		require.NoError(t, err)
		require.Equal(t, `{"s":`+string(want)+`}`, string(got))
		var back toolStates
		require.NoError(t, json.Unmarshal(want, &back))
		require.Equal(t, s, back)
	}
	require.Len(t, s, 5)
	require.Zero(t, s.of("none"))
	require.Error(t, json.Unmarshal([]byte(`[]`), &s))
}
