package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStatesOfToolsAreThoseOfAMap(t *testing.T) {
	var s toolStates
	m := make(map[string]toolState)
	for n, tool := range []string{"m", "a", "z", "m", "b", "a", "", "z", "<b> & \u2028"} {
		require.Equal(t, m[tool], s.of(tool))
		m[tool] = toolState{OK: n, Input: uint64(n)}
		s.set(tool, m[tool])
		for _, encode := range []func(any) ([]byte, error){json.Marshal, func(v any) ([]byte, error) { return marshal(v) }} {
			want, err := encode(m)
			require.NoError(t, err)
			got, err := encode(struct {
				S toolStates `json:"s,omitempty"`
			}{s})
			require.NoError(t, err)
			require.Equal(t, `{"s":`+string(want)+`}`, string(got))
			var back toolStates
			require.NoError(t, json.Unmarshal(want, &back))
			require.Equal(t, s, back)
		}
	}
	require.Len(t, s, 6)
	require.Zero(t, s.of("none"))
	require.Error(t, json.Unmarshal([]byte(`[]`), &s))
}
