package team

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// passing is an agent whose model hands the conversation over in each step, between two modes.
func passing(t *testing.T, store journal.Store, offered *[][]string) *agent.Agent {
	modes := []agent.Mode{{Name: "talk"}, {Name: "build"}, {Name: "check"}}
	a, err := agent.New(agent.Config{Journal: store, Modes: modes, Tools: Transfer(modes...),
		Provider: providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			var names []string
			to := ""
			for _, d := range req.Tools {
				names = append(names, d.Name)
				if d.Name != "transfer.check" {
					to = d.Name
				}
			}
			*offered = append(*offered, names)
			if len(*offered) == 7 {
				return providertest.Say("Done.").Response(), nil
			}
			return providertest.Call(to, transferInput{"it is yours"}).Response(), nil
		})})
	require.NoError(t, err)
	return a
}

func TestAfterThreeHandOversAPersonSaysWhoTakesTheConversation(t *testing.T) {
	var offered [][]string
	store := &journal.MapStore{}
	res, err := passing(t, store, &offered).Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, [][]string{{"transfer.build", "transfer.check"}, {"transfer.talk", "transfer.check"},
		{"transfer.build", "transfer.check"}, {"transfer.talk", "transfer.check"}}, offered)
	require.Equal(t, "build", res.Mode)
	pause := res.Pending[0]
	require.Contains(t, pause.Reason, "it is yours")
	require.JSONEq(t, `{"type":"string","enum":["talk","build","check"]}`, string(pause.Schema))

	a := passing(t, store, &offered) // another process
	_, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(pause.ID, "nobody")))
	require.ErrorAs(t, err, new(*agent.DecisionError))
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(pause.ID, "check")))
	require.ErrorAs(t, err, new(*agent.PausedError), "it is asked again at the next one")
	require.Equal(t, "check", res.Mode)
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Reject(res.Pending[0].ID, "go on yourself")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Contains(t, res.ToolResult("transfer.build").Text(), "go on yourself")
	require.Equal(t, "check", res.Mode)
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, "talk")))
	require.NoError(t, err)
	require.Equal(t, "talk", res.Mode)
}

func TestAHandOverLastsForTheNextInput(t *testing.T) {
	offered := make([][]string, 5)
	a := passing(t, &journal.MapStore{}, &offered)
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	require.Equal(t, "build", res.Mode)
	offered = make([][]string, 6)
	res, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, err)
	require.Equal(t, "build", res.Mode)
}

func TestOneModeAloneHasNobodyToHandOverTo(t *testing.T) {
	require.Empty(t, Transfer(agent.Mode{Name: "talk"}))
	require.Empty(t, Transfer())
}
