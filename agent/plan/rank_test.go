package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRank(t *testing.T) {
	var s shop
	w := Weights{Tools: s.agent(t, nil).Tools()}
	w.MissingOf = func(n *Node) []string {
		if n.ID == "hero" {
			return []string{"section hero"}
		}
		return nil
	}
	safe := plan("safe", made("a"), made("b"))
	missing := plan("missing", made("a"), made("hero"))
	unknown := plan("unknown", Node{ID: "x", Tool: "paint"}, Node{ID: "y", Tool: "publish"})
	short := plan("short", made("a"))
	ranking := Rank(w, unknown, missing, safe, nil, short)
	require.Equal(t, []*Plan{short, safe, missing, unknown},
		[]*Plan{ranking[0].Plan, ranking[1].Plan, ranking[2].Plan, ranking[3].Plan})
	require.Equal(t, Ranked{Plan: missing, Score: .8, Missing: []string{"section hero"}, Cost: 2}, ranking[2])
	require.Equal(t, Ranked{Plan: unknown, Score: .6, Unknown: []string{"x"}, Risky: []string{"y"}, Cost: 2},
		ranking[3])
	w.Cost, w.CostOf = 1, func(*Node) float64 { return 5 }
	require.Zero(t, Rank(w, safe)[0].Score)
}
