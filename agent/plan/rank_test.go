package plan

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRank(t *testing.T) {
	var s shop
	w := Weights{Tools: s.agent(t, nil).Tools()}
	w.MissingOf = func(_ context.Context, p *Plan) ([]string, error) {
		if slices.ContainsFunc(p.Nodes, func(n Node) bool { return n.ID == "hero" }) {
			return []string{"section hero"}, nil
		}
		return nil, nil
	}
	safe := plan("safe", made("a"), made("b"))
	missing := plan("missing", made("a"), made("hero"))
	unknown := plan("unknown", Node{ID: "x", Tool: "paint"}, Node{ID: "y", Tool: "publish"})
	short := plan("short", made("a"))
	ranking, err := Rank(t.Context(), w, unknown, missing, safe, nil, short)
	require.NoError(t, err)
	require.Equal(t, []*Plan{short, safe, missing, unknown},
		[]*Plan{ranking[0].Plan, ranking[1].Plan, ranking[2].Plan, ranking[3].Plan})
	require.Equal(t, Ranked{Plan: missing, Score: .8, Missing: []string{"section hero"}, Cost: 2}, ranking[2])
	require.Equal(t, Ranked{Plan: unknown, Score: .6, Unknown: []string{"x"}, Risky: []string{"y"}, Cost: 2},
		ranking[3])
	w.Cost, w.CostOf = 1, func(*Node) float64 { return 5 }
	ranking, err = Rank(t.Context(), w, missing, safe)
	require.NoError(t, err)
	require.Equal(t, safe, ranking[0].Plan, "the other one can't work, though its score is the same")
	require.Zero(t, ranking[0].Score)
	wrong := errors.New("the site doesn't answer")
	w.MissingOf = func(context.Context, *Plan) ([]string, error) { return nil, wrong }
	_, err = Rank(t.Context(), w, safe)
	require.ErrorIs(t, err, wrong)
}
