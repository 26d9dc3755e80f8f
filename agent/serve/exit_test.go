package serve_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/agui"
	"github.com/pawlkit/pawl/tools"
)

// newWorkshop returns a site with a tool that runs a program: the first one fails, the second gives
// an answer, and the third is fine.
func newWorkshop(t *testing.T) *site {
	exits := []tools.Exit{{Code: -1, Signal: "KILL"}, {Code: 1, Answer: true}, {}}
	run := tools.New(tools.Spec{Name: "run"}, func(context.Context, Page) (tools.Result, error) {
		exit := exits[0]
		exits = exits[1:]
		return tools.Result{Parts: tools.Text(exit.String() + "\nthe output").Parts, Exit: &exit}, nil
	})
	return newSiteOf(t, agent.Config{Tools: []tools.Tool{run}, Provider: providertest.Script(
		providertest.Calls(providertest.CallSpec{Tool: "run", Input: Page{"a"}},
			providertest.CallSpec{Tool: "run", Input: Page{"b"}}, providertest.CallSpec{Tool: "run", Input: Page{"c"}}),
		providertest.Say("One has failed."))}, serve.Config{})
}

func TestAProgramThatHasFailedIsAnErrorInAChat(t *testing.T) {
	b := newWorkshop(t).browser("ann", "c-1")
	b.say("u-1", "Run them.")
	calls := b.calls()
	require.Equal(t, "output-error", calls[0].State)
	require.Equal(t, "ended by the signal KILL\nthe output", calls[0].ErrorText)
	require.Equal(t, "output-available", calls[1].State)
	require.Equal(t, "output-available", calls[2].State)
	b.requireHistory()
}

func TestAProgramThatHasFailedIsAnErrorInAGUI(t *testing.T) {
	s := newWorkshop(t)
	res := s.request("ann", "POST", "agui", obj{"threadId": "t-1", "runId": "r-1", "protocolVersion": "1.0",
		"messages": user("u-1", "Run them.")})
	var exits []string
	for _, ev := range events(t, res, nil) {
		var one struct {
			Type, Name string
			Value      struct {
				Call, Signal string
				Code         int
				Failed       bool
			}
		}
		require.NoError(t, json.Unmarshal(ev.Data, &one))
		if one.Type == "CUSTOM" && one.Name == "exit" {
			require.NotEmpty(t, one.Value.Call)
			one.Value.Call = ""
			raw, err := json.Marshal(one.Value)
			require.NoError(t, err)
			exits = append(exits, string(raw))
		}
	}
	require.Equal(t, []string{`{"Call":"","Signal":"KILL","Code":-1,"Failed":true}`,
		`{"Call":"","Signal":"","Code":1,"Failed":false}`, `{"Call":"","Signal":"","Code":0,"Failed":false}`}, exits)
	var errs []string
	for _, m := range s.aguiThread("ann", "t-1").Messages {
		if m.Role == agui.RoleTool {
			errs = append(errs, m.Error)
		}
	}
	require.Equal(t, []string{"ended by the signal KILL", "", ""}, errs)
}
