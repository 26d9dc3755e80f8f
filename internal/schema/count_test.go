package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// manyKeys returns an object with n keys, all different.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func TestATextWithTooManyKeysOrValuesIsRefusedBeforeItIsDecoded(t *testing.T) {
	s, err := For[struct {
		M map[string]int `json:"m,omitempty"`
		L []string       `json:"l,omitempty"`
	}](nil)
	require.NoError(t, err)
	list := func(n int, item string) string {
		return `{"l":[` + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + `]}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"keys": {`{"m":` + manyKeys(maxKeys-1) + `}`, ""},
		"a key too many": {`{"m":` + manyKeys(maxKeys) + `}`,
			"it has 10001 keys, and at most 10000 can be read; send less at a time"},
		"a million keys": {manyKeys(1_000_000),
			"it has 1000000 keys, and at most 10000 can be read; send less at a time"},
		"values": {list(maxValues, `""`), ""},
		"too many values": {list(maxValues+1, `""`),
			"it has 100001 values, and at most 100000 can be read; send less at a time"},
		"marks in a string": {list(1, `"`+strings.Repeat(`,:[{\"`, maxValues)+`"`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			allocs := testing.AllocsPerRun(1, func() {
				_, err = s.Accept([]byte(c.text))
			})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "invalid value: "+c.want)
			_, err = s.Prepare([]byte(c.text))
			require.EqualError(t, err, "invalid value: "+c.want)
			require.Less(t, allocs, 20.0, "nothing is decoded")
		})
	}
}
