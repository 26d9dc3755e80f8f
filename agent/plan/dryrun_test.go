package plan

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

func TestADryRunSeesWhatEarlierStepsWouldCreate(t *testing.T) {
	section := Node{ID: "section", Tool: "add",
		Input: map[string]any{"page": From("page.id"), "kind": From("page.kind"), "key": "hero"}}
	p := plan("A", section, made("page"))
	definitions := map[string]bool{}
	var inputs []map[string]any
	check := func(_ context.Context, n *Node, input map[string]any) (any, []Issue, error) {
		inputs = append(inputs, input)
		switch n.Tool {
		case "define":
			definitions["hero"] = true
		case "add":
			if key, _ := input["key"].(string); !definitions[key] {
				return nil, []Issue{{Problem: "there is no section hero", Suggestion: "define it first"}}, nil
			}
		}
		return map[string]any{"id": 7}, nil, nil
	}
	issues, err := DryRun(t.Context(), p, check)
	require.NoError(t, err)
	require.Equal(t, []Issue{{Node: "section", Problem: "there is no section hero", Suggestion: "define it first"}},
		issues)
	require.Equal(t, map[string]any{"page": 7, "kind": Unknown("page.kind"), "key": "hero"}, inputs[1])
	p.Nodes[0].After = []string{"def"}
	p.Nodes = append(p.Nodes, Node{ID: "def", Tool: "define"})
	issues, err = DryRun(t.Context(), p, check)
	require.NoError(t, err)
	require.Empty(t, issues)

	_, err = DryRun(t.Context(), p, func(context.Context, *Node, map[string]any) (any, []Issue, error) {
		return nil, nil, errors.New("down")
	})
	require.ErrorContains(t, err, `plan: the preflight of node "page": down`)
	_, err = DryRun(t.Context(), plan("A", made("a", "a")), check)
	require.ErrorAs(t, err, new(*CheckError))
	_, err = DryRun(t.Context(), p, nil)
	require.Equal(t, fault.Invalid, fault.Of(err))
}
