package agent_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/tools"
)

func TestAnInputGivesANewSessionItsTitle(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("one"), say("two"))
	for _, title := range []string{"First", "Second"} {
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x", Title: title})
		require.NoError(t, err)
	}
	info, err := a.Session("s").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "First", info.Title)
	_, err = a.Run(t.Context(), agent.Input{Session: "t", Prompt: "x", Title: "a\nb"})
	require.ErrorAs(t, err, new(*agent.ArgError))
	require.Empty(t, facts(t, a, "t"))
}

func TestTheFactsThatStartARunAreOfNoStep(t *testing.T) {
	cfg := agent.Config{Journal: journal.NewMemory(), Tools: []tools.Tool{reading(1)}}
	run(t, reopen(t, cfg, call("read", 1), say("on")))
	a := reopen(t, cfg, say("on"))
	before := len(facts(t, a, "s"))
	runInput(t, a, agent.Input{Session: "s", Prompt: "go", Title: "The title",
		Tools: []tools.Tool{tools.External(tools.Spec{Name: "more", Schema: json.RawMessage(`{"type":"object"}`)})}})
	var first []string
	for _, f := range facts(t, a, "s")[before:] {
		if _, ok := f.(*agent.StepStarted); ok {
			break
		}
		require.Zero(t, f.Envelope().Step, "%T", f)
		first = append(first, fmt.Sprintf("%T", f))
	}
	require.Equal(t, []string{"*machine.RunStarted", "*machine.ToolsChanged", "*machine.TitleChanged"}, first)
}
