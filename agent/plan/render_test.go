package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

func TestMarkdownAndBriefing(t *testing.T) {
	plan := nodes(Node{ID: "a", Tool: "cms.createPage"}, Node{ID: "b", Worker: "ann", Prompt: "Say \"yes\"\nor <no>.",
		After: []string{"a"}}, Node{ID: "c", Tool: "t", After: []string{"b"}})
	plan.Title, plan.Why = "A page\nwith a hero", "Visitors need one."
	c := begin(t, options{AskOnFailure: true}, plan)
	c.done("a")
	c.start("b")
	c.end("b", "no\nidea", fault.Permanent)
	require.Equal(t, "# A page with a hero\n\nVisitors need one.\n\n"+
		"- [x] **a** `cms.createPage`: done\n"+
		"- [ ] **b** Say \"yes\" or <no>. (ann), after a: failed: no idea\n"+
		"- [ ] **c** `t`, after b: skipped, because b isn't done\n", c.Markdown())
	require.Equal(t, "b failed after 1 attempt: no\nidea.\n", c.Briefing())
}
