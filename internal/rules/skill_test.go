package rules

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/skill"
	scripted "github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestTheSkillForAssistantsIsRead has an agent read the skill and its programs, as a coding
// assistant does. What they say is run by TestCodeOfPagesIsReal.
func TestTheSkillForAssistantsIsRead(t *testing.T) {
	list, err := skill.Dir(os.DirFS(filepath.Join(root, "skills")))
	require.NoError(t, err)
	require.Len(t, list, 1)
	set, err := skill.New(skill.Config{Skills: list})
	require.NoError(t, err)
	type call struct {
		Name string `json:"name"`
		File string `json:"file,omitempty"`
	}
	a, err := agent.New(agent.Config{Tools: []tools.Tool{set.Tool()}, Provider: scripted.Script(
		scripted.Call("skill", call{Name: "pawl"}),
		scripted.Call("skill", call{Name: "pawl", File: "references/programs.md"}),
		scripted.Say("I know it now."))})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Prompt: "Write a program with Pawl."})
	require.NoError(t, err)
	require.Equal(t, []string{"skill", "skill"}, res.ToolNames())
	require.Contains(t, res.ToolResult("skill").Text(), "# Twelve programs")
}
