package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

func TestProgress(t *testing.T) {
	c := begin(t, Options{}, diamond())
	require.Equal(t, Progress{Total: 4, Next: []string{"a"}}, c.State().Progress())
	require.Zero(t, Progress{}.Share())
	c.done("a")
	c.start("b", "c")
	p := c.State().Progress()
	require.Equal(t, Progress{Done: 1, Total: 4, Running: []string{"b", "c"}, Next: []string{"d"}}, p)
	require.Equal(t, .25, p.Share())
}

func TestMarkdownAndMermaid(t *testing.T) {
	plan := nodes(Node{ID: "a", Tool: "cms.createPage"}, Node{ID: "b", Worker: "ann", Prompt: "Say \"yes\"\nor <no>.",
		After: []string{"a"}}, Node{ID: "c", Tool: "t", After: []string{"b"}})
	plan.Title, plan.Why = "A page\nwith a hero", "Visitors need one."
	c := begin(t, Options{AskOnFailure: true}, plan)
	c.done("a")
	c.start("b")
	c.end("b", "no\nidea", fault.Permanent)
	require.Equal(t, "# A page with a hero\n\nVisitors need one.\n\n"+
		"- [x] **a** `cms.createPage`: done\n"+
		"- [ ] **b** Say \"yes\" or <no>. (ann), after a: failed: no idea\n"+
		"- [ ] **c** `t`, after b: skipped, because b isn't done\n", c.State().Markdown())
	lines := strings.Split(c.State().Mermaid(), "\n")
	require.Equal(t,
		[]string{"flowchart TD", `  n0["a: 'cms.createPage'"]:::done`,
			`  n1["b: Say #quot;yes#quot; or #lt;no#gt;. (ann)"]:::failed`, `  n2["c: 't'"]:::skipped`, "  n0 --> n1",
			"  n1 --> n2"}, lines[:6])
	require.Equal(t, "b failed after 1 attempt: no\nidea.\n", c.State().Briefing())
}
