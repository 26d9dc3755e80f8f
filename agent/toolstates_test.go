package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStatesOfToolsAreThoseOfAMap(t *testing.T) {
	var s ToolStates
	m := make(map[string]ToolState)
	for n, tool := range []string{"m", "a", "z", "m", "b", "a", "", "z", "<b> & \u2028"} {
		require.Equal(t, m[tool], s.of(tool))
		m[tool] = ToolState{OK: n, Input: uint64(n)}
		s.set(tool, m[tool])
		for _, encode := range []func(any) ([]byte, error){json.Marshal, func(v any) ([]byte, error) { return Marshal(v) }} {
			want, err := encode(m)
			require.NoError(t, err)
			got, err := encode(struct {
				S ToolStates `json:"s,omitempty"`
			}{s})
			require.NoError(t, err)
			require.Equal(t, `{"s":`+string(want)+`}`, string(got))
			var back ToolStates
			require.NoError(t, json.Unmarshal(want, &back))
			require.Equal(t, s, back)
		}
	}
	require.Len(t, s, 6)
	require.Zero(t, s.of("none"))
	require.Error(t, json.Unmarshal([]byte(`[]`), &s))
}
