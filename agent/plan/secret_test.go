package plan

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestASecretAnswerReachesTheCallOfANodeAndIsInNoLog(t *testing.T) {
	const password = "correct horse"
	for name, decide := range map[string]func(*agent.Agent, *Runner, agent.Decision) agent.Work{
		"in the conversation": func(_ *agent.Agent, _ *Runner, d agent.Decision) agent.Work {
			return agent.Resume("s", d)
		},
		"in the run of plans, and too late in the conversation": func(a *agent.Agent, r *Runner,
			d agent.Decision) agent.Work {
			require.NoError(t, r.Decide(t.Context(), theRun(t, r), d))
			var late *agent.DecisionError
			require.ErrorAs(t, a.Session("s").Decide(t.Context(), agent.Answer(d.ID, "another one")), &late)
			require.Equal(t, machine.DecisionUsed, late.Code)
			return agent.Continue("s")
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, store := "", &journal.MapStore{}
			login := tools.New(tools.Spec{Name: "login"}, func(ctx context.Context, _ item) (string, error) {
				r, ok := tools.Resumed(ctx)
				if !ok {
					return "", tools.Suspend{Again: true, Secret: true, Schema: json.RawMessage(`{"type":"string"}`)}
				}
				return "logged in", r.Decode(nil, &got)
			})
			worker, err := agent.New(agent.Config{Name: "shop", Provider: providertest.Script(), Journal: store,
				Tools: []tools.Tool{login}})
			require.NoError(t, err)
			r := new(shop).runner(t, Config{Agent: worker})
			a, err := agent.New(agent.Config{Name: "planner", Journal: store, Tools: append(Tools(r), login),
				Provider: providertest.Script(providertest.Call(ToolSubmit, submits("", step("a", "login"))),
					providertest.Say("Done.")),
				Modes: []agent.Mode{Mode("plan")}})
			require.NoError(t, err)
			p := submit(t, a).Pending[0]
			require.Equal(t, machine.PauseSecret, p.Kind)
			res, err := a.Run(t.Context(), decide(a, r, agent.Answer(p.ID, password)))
			require.NoError(t, err)
			require.Equal(t, "Done.", res.Text())
			require.Equal(t, password, got)
			text := ""
			for head, err := range store.Heads(t.Context(), journal.Filter{}) {
				require.NoError(t, err)
				for rec, err := range store.Read(t.Context(), head.Session, 0) {
					require.NoError(t, err)
					text += string(rec.Data)
				}
			}
			require.Contains(t, text, `"given"`)
			require.NotContains(t, text, password)
		})
	}
}
