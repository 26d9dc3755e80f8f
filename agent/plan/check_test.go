package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

type createInput struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty" enum:"page,post"`
}

type section struct {
	Title string `json:"title"`
	Order int    `json:"order,omitempty"`
}

type addInput struct {
	Page     int       `json:"page"`
	Sections []section `json:"sections,omitempty"`
}

// site has a tool that says what it answers, and two that don't.
func site(t testing.TB) *tools.Registry {
	t.Helper()
	created := json.RawMessage(
		`{"type":"object","properties":{"id":{"type":"integer"},"slug":{"type":"string"},"tags":{"type":"array","items":{"$ref":"#/$defs/tag"}}},"$defs":{"tag":{"type":"object","properties":{"name":{"type":"string"}}}}}`)
	r, err := tools.NewRegistry(
		tools.New(tools.Spec{Name: "create", Output: created}, func(context.Context, createInput) (string, error) {
			return `{"id":1}`, nil
		}),
		tools.New(tools.Spec{Name: "add"}, func(context.Context, addInput) (string, error) { return "{}", nil }),
		tools.New(tools.Spec{Name: "find", ReadOnly: true}, func(context.Context, struct{}) (string, error) {
			return "{}", nil
		}),
	)
	require.NoError(t, err)
	return r
}

func faults(t *testing.T, p *Plan, workers ...string) string {
	t.Helper()
	err := p.Check(site(t), workers...)
	if err == nil {
		return ""
	}
	require.Equal(t, fault.Invalid, fault.Of(err))
	var wrong *CheckError
	require.ErrorAs(t, err, &wrong)
	lines := make([]string, len(wrong.Faults))
	for i, f := range wrong.Faults {
		lines[i] = f.text()
	}
	return strings.Join(lines, "\n")
}

func TestCheckNamesEveryFault(t *testing.T) {
	page := Node{ID: "page", Tool: "create", Input: map[string]any{"name": "About"}}
	for _, c := range []struct {
		name  string
		nodes []Node
		want  string
	}{
		{"a plan that can run", []Node{page, {ID: "s", Tool: "add", Input: map[string]any{"page": From("page.id")}},
			{ID: "look", Worker: "ann", Prompt: "Look.", After: []string{"s"}}}, ""},
		{"nothing to do", nil, `it has no nodes`},
		{"ids", []Node{page, page, {ID: "a.b", Tool: "find"}, {Tool: "find"}},
			"node \"a.b\": its id isn't 1 to 64 letters, digits, '-' and '_'\nits id isn't 1 to 64 letters, digits, " +
				"'-' and '_'\nnode \"page\": the id is used twice"},
		{"neither or both", []Node{{ID: "a"}, {ID: "b", Tool: "find", Worker: "ann", Prompt: "x"}},
			"node \"a\": it has neither a tool nor a worker\nnode \"b\": it has a tool and a worker; it can have one " +
				"of them"},
		{"unknown names", []Node{{ID: "a", Tool: "creat"}, {ID: "b", Worker: "anne", Prompt: "x"},
			{ID: "c", Tool: "find", After: []string{"d"}}},
			"node \"a\": there is no tool \"creat\"; did you mean \"create\"?\nnode \"b\": there is no worker " +
				"\"anne\"; did you mean \"ann\"?\nnode \"c\": it depends on \"d\", which the plan doesn't have"},
		{"a cycle", []Node{{ID: "a", Tool: "find", After: []string{"c"}}, {ID: "b", Tool: "find", After: []string{"a"}},
			{ID: "c", Tool: "find", After: []string{"b"}}, {ID: "d", Tool: "find", After: []string{"c"}}},
			`these nodes depend on each other, or on such nodes: a, b, c, d`},
		{"a node that depends on itself", []Node{{ID: "a", Tool: "find", After: []string{"a"}}},
			`node "a": it depends on itself`},
		{"a cycle through a reference",
			[]Node{{ID: "a", Tool: "create", Input: map[string]any{"name": From("b")}, After: nil},
				{ID: "b", Tool: "find", After: []string{"a"}}}, `these nodes depend on each other, or on such nodes: a, b`},
		{"an input that doesn't fit",
			[]Node{{ID: "a", Tool: "create", Input: map[string]any{"nam": 1, "kind": "book"}}},
			"node \"a\": its input: missing key \"name\" (string)\nnode \"a\": its input: unknown key \"nam\"; did " +
				"you mean \"name\"? known keys: \"kind\", \"name\"\nnode \"a\": its input: kind: expected one of " +
				"\"page\", \"post\", got \"book\""},
		{"the rest of an input with a reference",
			[]Node{page,
				{ID: "a", Tool: "add", Input: map[string]any{"page": From("page.id"),
					"sections": []any{map[string]any{"title": 1, "order": From("page.id")}}}}},
			`node "a": its input: sections[0].title: expected string, got 1`},
		{"what a tool without an output schema answers", []Node{{ID: "f", Tool: "find"},
			{ID: "a", Tool: "add", Input: map[string]any{"page": From("f.results.0.id")}}}, ``},
		{"what isn't a reference",
			[]Node{page, {ID: "a", Tool: "add", Input: map[string]any{"page": map[string]any{"$from": 1}}}},
			`node "a": input page: a reference has only the key "$from", and its value is a text such as "create.id"`},
		{"an empty key in a reference",
			[]Node{page, {ID: "a", Tool: "add", Input: map[string]any{"page": From("page..id")}}},
			`node "a": input page: the reference "page..id" has an empty key`},
		{"what can't be encoded", []Node{{ID: "a", Tool: "find", Input: map[string]any{"f": func() {}}}},
			`it can't be encoded as JSON: json: unsupported type: func()`},
		{"limits of a node",
			[]Node{{ID: "a", Tool: "find", Timeout: -1, Retry: &Retry{Max: 21}, Review: &Review{Rounds: 21}}},
			"node \"a\": its retry isn't 0 to 20 tries with a wait of 0 or more\nnode \"a\": its timeout is below " +
				"0\nnode \"a\": its review has no checks\nnode \"a\": its review isn't limited to 1 to 20 rounds"},
		{"a worker's node", []Node{{ID: "a", Worker: "ann", Input: map[string]any{"x": 1}, Prompt: " "},
			{ID: "b", Tool: "find", Prompt: "x", Review: &Review{Checks: []string{"c", "c"}}}},
			"node \"a\": it has a worker and no prompt\nnode \"a\": it has an input, which is for tools; a worker " +
				"gets its prompt and the outputs of the nodes in after\nnode \"b\": it has a prompt, which is for " +
				"workers\nnode \"b\": its review has the check \"c\" twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, faults(t, &Plan{Title: "A plan", Nodes: c.nodes}, "ann"))
		})
	}
}

func TestAConditionForAWholeInputWaitsForItsReferences(t *testing.T) {
	move := tools.Raw{Spec: tools.Spec{Name: "move", Schema: json.RawMessage(`{"type":"object",
		"properties":{"to":{"type":["integer","null"]},"why":{"type":"string"}},
		"if":{"properties":{"to":{"type":"integer"}}},"else":{"required":["why"]}}`)},
		Run: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil }}
	find := tools.New(tools.Spec{Name: "find"}, func(context.Context, struct{}) (string, error) { return "", nil })
	registry, err := tools.NewRegistry(move, find)
	require.NoError(t, err)
	check := func(to any) error {
		return (&Plan{Title: "A plan", Nodes: []Node{{ID: "f", Tool: "find"},
			{ID: "m", Tool: "move", Input: map[string]any{"to": to}, After: []string{"f"}}}}).Check(registry)
	}
	require.NoError(t, check(From("f.id")))
	require.NoError(t, check(1))
	require.ErrorContains(t, check(nil), `missing key "why"`)
}

func TestCheckLimitsThePlan(t *testing.T) {
	many := &Plan{Title: "x"}
	for i := range maxNodes + 1 {
		many.Nodes = append(many.Nodes, Node{ID: fmt.Sprint(i), Tool: "find"})
	}
	require.Equal(t, "it has 201 nodes; at most 200 are permitted", faults(t, many))
	large := &Plan{Title: "x",
		Nodes: []Node{{ID: "a", Tool: "create", Input: map[string]any{"name": strings.Repeat("x", maxPlan)}}}}
	require.Contains(t, faults(t, large), "at most 1048576 are permitted")
	require.Equal(t, "it has no title\nits version is below 0",
		faults(t, &Plan{Version: -1, Nodes: []Node{{ID: "a", Tool: "find"}}}))
	err := (&Plan{ID: "plan-1", Title: "x", Nodes: []Node{{ID: "a"}}}).Check(nil)
	require.EqualError(t, err, `plan: the plan "plan-1" can't run: node "a": it has neither a tool nor a worker`)
	require.EqualError(t, (&Plan{Title: "x", Nodes: []Node{{ID: "a", Tool: "t"}}}).Check(nil),
		`plan: the plan can't run: node "a": there are no tools`)
}

func TestCheckOfDeepNestingEnds(t *testing.T) {
	input := any(From("b"))
	for range 20_000 {
		input = []any{input}
	}
	err := (&Plan{Title: "x", Nodes: []Node{{ID: "a", Tool: "find", Input: map[string]any{"x": input}}}}).Check(site(t))
	require.Error(t, err)
}

func TestLayers(t *testing.T) {
	p := &Plan{Nodes: []Node{{ID: "t4", After: []string{"t2", "t3"}}, {ID: "t2", After: []string{"t1"}},
		{ID: "t3", Input: map[string]any{"x": []any{From("t1.id")}}}, {ID: "t1"}}}
	layers, err := p.Layers()
	require.NoError(t, err)
	require.Equal(t, [][]string{{"t1"}, {"t2", "t3"}, {"t4"}}, layers)
	_, err = (&Plan{Nodes: []Node{{ID: "a", After: []string{"b"}}, {ID: "b", After: []string{"a"}}}}).Layers()
	require.EqualError(t, err, "plan: the plan can't run: these nodes depend on each other, or on such nodes: a, b")
}

func TestHashChangesWithWhatRuns(t *testing.T) {
	p := Plan{Title: "x",
		Nodes: []Node{{ID: "a", Tool: "create", Input: map[string]any{"name": "n", "size": int64(12345678901234567)}}}}
	same := p
	same.Version = 1
	require.Equal(t, p.Hash(), same.Hash())
	stored, err := p.copied()
	require.NoError(t, err)
	require.Equal(t, p.Hash(), stored.Hash(), "a journal returns the same plan")
	odd := Plan{Title: "x\xff", Nodes: []Node{{ID: "a", Tool: "create", Input: map[string]any{"name": "\xff"}}}}
	stored, err = odd.copied()
	require.NoError(t, err)
	require.Equal(t, odd.Hash(), stored.Hash(), "as each release of Go hashes it")
	for what, change := range map[string]func(*Plan){
		"version": func(q *Plan) { q.Version = 2 },
		"title":   func(q *Plan) { q.Title = "y" },
		"input":   func(q *Plan) { q.Nodes[0].Input["name"] = "m" },
		"order":   func(q *Plan) { q.Nodes[0].After = []string{"b"} },
		"timeout": func(q *Plan) { q.Nodes[0].Timeout = time.Second },
		"review":  func(q *Plan) { q.Nodes[0].Review = &Review{Checks: []string{"c"}} },
	} {
		q, err := p.copied()
		require.NoError(t, err)
		change(q)
		require.NotEqual(t, p.Hash(), q.Hash(), what)
	}
	require.Empty(t, (&Plan{Nodes: []Node{{Input: map[string]any{"f": func() {}}}}}).Hash())
}

func TestResolve(t *testing.T) {
	outputs := map[string]json.RawMessage{"find": json.RawMessage(`{"results":[{"id":12345678901234567},{"id":2}]}`),
		"text": json.RawMessage(`"hello"`), "bad": json.RawMessage(`{`)}
	input := map[string]any{"id": From("find.results.0.id"), "all": []any{From("text"), "as is"},
		"deep": map[string]any{"one": From("find.results.1")}}
	got, err := resolve(&Node{ID: "n", Input: input}, outputs)
	require.NoError(t, err)
	require.JSONEq(t, `{"id":12345678901234567,"all":["hello","as is"],"deep":{"one":{"id":2}}}`, string(got))
	require.Contains(t, string(got), "12345678901234567", "numbers keep their digits")
	for path, want := range map[string]string{
		"find.results.2.id": `the output of node "find" has no results.2`,
		"find.other":        `the output of node "find" has no other`,
		"text.x":            `the output of node "text" has no x`,
		"gone":              `node "gone" has no output`,
		"bad.x":             `the output of node "bad" isn't JSON: unexpected EOF`,
	} {
		_, err := resolve(&Node{ID: "n", Input: map[string]any{"x": From(path)}}, outputs)
		require.EqualError(t, err, `plan: the input of node "n": `+want)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
}

func TestANilPlanIsAFault(t *testing.T) {
	require.ErrorContains(t, (*Plan)(nil).Check(site(t)), "it is nil")
	_, err := DryRun(t.Context(), nil, func(context.Context, *Node, map[string]any) (any, []Issue, error) {
		return nil, nil, nil
	})
	require.ErrorContains(t, err, "it is nil")
}
