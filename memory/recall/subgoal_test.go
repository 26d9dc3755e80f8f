package recall_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/recall"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// mark makes a call of a subgoal tool and returns its group in the conversation.
func (d *desk) mark(id, tool string, input any) (memory.Group, tools.Outcome) {
	d.t.Helper()
	out := d.run("s", "", tool, input)
	raw, err := json.Marshal(input)
	require.NoError(d.t, err)
	call := provider.ToolCall{ID: id, Name: tool, Input: raw}
	result := provider.ToolResult{CallID: id, Name: tool, Parts: out.Parts, Error: out.Status != tools.OK}
	return memory.Group{Kind: memory.KindReply, Messages: []provider.Message{
		{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &call}}},
		{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartToolResult, Result: &result}}},
	}}, out
}

func TestSubgoalsAreFoundByTheirCalls(t *testing.T) {
	d := newDesk(t, &recall.MapStore{}, "t", recall.Subgoals()...)
	var groups []memory.Group
	for i, c := range []struct {
		tool  string
		input object
		ok    bool
	}{
		{recall.BeginSubgoal, object{"name": "ship it"}, true},
		{recall.BeginSubgoal, object{"name": "fix the größe"}, true},
		{recall.DoneSubgoal, object{"name": "fix the größe", "summary": " "}, false},
		{recall.BeginSubgoal, object{"name": ""}, false},
		{recall.DoneSubgoal, object{"name": "fix the größe", "status": "failed", "summary": "it can't be",
			"facts": []string{"x is 1", "y"}}, true},
		{recall.DoneSubgoal, object{"summary": "shipped"}, true},
		{recall.BeginSubgoal, object{"name": "open"}, true},
	} {
		g, out := d.mark(fmt.Sprint(i), c.tool, c.input)
		require.Equal(t, c.ok, out.Status == tools.OK, "%v: %v", c.input, out.Err)
		if c.ok {
			require.Less(t, len(out.Parts[0].Text), 20)
		}
		groups = append(groups, g)
	}
	found := memory.SubgoalCalls(recall.BeginSubgoal, recall.DoneSubgoal)(groups)
	require.Equal(t, []memory.Subgoal{
		{Name: "ship it", Summary: "shipped", From: 0, To: 6},
		{Name: "fix the größe", Status: "failed", Summary: "it can't be", Facts: []string{"x is 1", "y"}, From: 1,
			To: 5},
		{Name: "open", From: 6, Open: true},
	}, found)
}

func TestAnInvalidMarkIsRejected(t *testing.T) {
	d := newDesk(t, &recall.MapStore{}, "t", recall.Subgoals()...)
	many := strings.Split(strings.Repeat("x,", 20)+"x", ",")
	for _, input := range []object{
		{}, {"name": ""}, {"name": " a"}, {"name": "a\n"}, {"name": "a\nb"}, {"name": strings.Repeat("ä", 65)},
		{"name": strings.Repeat("a", 129)},
		{"name": "a", "more": 1}, {"name": 7},
	} {
		out := d.run("s", "", recall.BeginSubgoal, input)
		require.Equal(t, fault.Invalid, out.Class, "%v", input)
	}
	for _, more := range []object{
		{"summary": ""}, {"summary": "\n\t"}, {"summary": strings.Repeat("a", 1001)}, {"status": "sleeping"},
		{"facts": many}, {"facts": []string{""}},
		{"facts": []string{strings.Repeat("a", 301)}}, {"facts": "a"}, {"name": "a "},
		{"name": strings.Repeat("a", 129)}, {"summary": nil}, {"x": 1},
	} {
		input := object{"name": "a", "summary": "done", "status": "completed", "facts": many[:20]}
		require.Equal(t, "noted", d.ok("s", recall.DoneSubgoal, input))
		for k, v := range more {
			input[k] = v
		}
		out := d.run("s", "", recall.DoneSubgoal, input)
		require.Equal(t, fault.Invalid, out.Class, "%v", more)
	}
	require.Equal(t, "begun", d.ok("s", recall.BeginSubgoal, object{"name": strings.Repeat("ä", 64)}))
	for _, name := range []string{recall.BeginSubgoal, recall.DoneSubgoal} {
		def, ok := d.reg.Lookup(name)
		require.True(t, ok)
		require.True(t, def.Spec().ReadOnly)
		require.Greater(t, len(def.Tool().Description), 80)
	}
}
