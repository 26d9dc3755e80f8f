package team_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/skill"
	"github.com/pawlkit/pawl/agent/team"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// guide serves conversations with skills, background agents and a hand-off, until ctx ends.
func guide(ctx context.Context, model provider.Provider, librarian *live.Hub, edit []tools.Tool) error {
	list, err := skill.Dir(os.DirFS(".agents/skills")) // SKILL.md files; what is wrong with one doesn't hide the others
	if err != nil {
		return err
	}
	skills, err := skill.New(skill.Config{Skills: list})
	if err != nil {
		return err
	}
	modes := []agent.Mode{{Name: "talk"}, {Name: "build", Instructions: "You build what was agreed on."}}
	background, err := team.New(team.Config{Members: map[string]team.Member{
		"librarian": {Hub: librarian, About: "finds things in the files"},
	}})
	if err != nil {
		return err
	}
	all := append(skills.Lazy(edit...), skills.Tool()) // tools that a skill names come with the skill
	all = append(all, team.Transfer(modes...)...)
	all = append(all, background.Tools()...) // start, status, tell, stop; reports arrive as messages, once
	a, err := agent.New(agent.Config{Provider: model, Tools: all, Modes: modes})
	if err != nil {
		return err
	}
	lead, err := live.New(live.Config{Agent: a})
	if err != nil {
		return err
	}
	defer lead.Close()
	return background.Run(ctx, lead) // delivers reports to the conversations of lead until ctx ends
}

func TestAGuideHasSkillsBackgroundAgentsAndAHandOff(t *testing.T) {
	t.Chdir(t.TempDir())
	dir := filepath.Join(".agents", "skills", "go-style")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"),
		[]byte("---\nname: go-style\ndescription: How Go is written here.\nallowed-tools: edit\n---\nBriefly.\n"), 0o600))
	reader, err := agent.New(agent.Config{Provider: providertest.Script()})
	require.NoError(t, err)
	librarian, err := live.New(live.Config{Agent: reader})
	require.NoError(t, err)
	defer librarian.Close()
	edit := tools.New(tools.Spec{Name: "edit"}, func(context.Context, struct{}) (string, error) { return "", nil })
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, guide(ctx, providertest.Script(), librarian, []tools.Tool{edit}))
}
