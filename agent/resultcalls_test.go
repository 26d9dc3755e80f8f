package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestAResultHasTheCallsOfTheWholeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		cfg := agent.Config{Journal: store, Tools: []tools.Tool{
			done.tool(tools.Spec{Name: "work"}), done.tool(tools.Spec{Name: "risky", Risk: tools.High}),
			tools.New(tools.Spec{Name: "slow", Timeout: time.Second},
				func(ctx context.Context, _ Number) (string, error) { <-ctx.Done(); return "", ctx.Err() })}}
		a, _ := scripted(t, cfg,
			providertest.Reply(call("work", 1), call("slow", 2), providertest.Unfit(call("wrok", 3)),
				providertest.Unfit(providertest.Call("work", `{"n":`))),
			providertest.Reply(call("work", 4), call("risky", 5), call("risky", 6)))
		res := run(t, a)
		type short struct {
			name, input string
			status      tools.Status
			text        string
		}
		shown := func(calls []agent.Call) (out []short) {
			for _, c := range calls {
				require.NotEmpty(t, c.ID)
				out = append(out, short{c.Name, string(c.Input), c.Status, c.Result.Text()})
			}
			return out
		}
		first := []short{{"work", `{"n":1}`, tools.OK, "done 1"},
			{"slow", `{"n":2}`, tools.TimedOut, res.Calls("slow")[0].Result.Text()},
			{"wrok", `{"n":3}`, tools.Unknown, res.Calls("wrok")[0].Result.Text()},
			{"work", "", tools.Invalid, res.Calls("work")[1].Result.Text()},
			{"work", `{"n":4}`, tools.OK, "done 4"}}
		require.Equal(t, append(first[:5:5], short{"risky", `{"n":5}`, "", ""}, short{"risky", `{"n":6}`, "", ""}),
			shown(res.Calls()), "as far as it is known")
		require.Contains(t, first[1].text, "time")
		require.Contains(t, first[3].text, "JSON")

		_, err := a.Session("s").Prune(t.Context())
		require.NoError(t, err, "the facts before are one snapshot now")
		b := reopen(t, cfg, call("work", 7), say("Done."))
		whole := runInput(t, b, agent.Resume("s", agent.Edit(res.Pending[0].ID, Number{50}),
			agent.Reject(res.Pending[1].ID, "no")))
		require.Equal(t, agent.Completed, whole.Status)
		all := shown(whole.Calls())
		require.Equal(t, first, all[:5])
		require.Equal(t, short{"risky", `{"n":50}`, tools.OK, "done 50\n" +
			`Note: a person changed the input of this call to {"n":50}`}, all[5], "with what it ran with")
		require.Equal(t, tools.Rejected, all[6].status)
		require.Equal(t, short{"work", `{"n":7}`, tools.OK, "done 7"}, all[7])
		require.Len(t, all, 8)
		require.Equal(t, append(all[:1:1], all[3], all[4], all[7]), shown(whole.Calls("work")))
		require.Len(t, whole.Calls("slow", "risky"), 3)
		require.Empty(t, whole.Calls("none"))
		require.Nil(t, (*agent.Result)(nil).Calls())
		read, err := b.Session("s").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, all, shown(read.Calls()))

		next := runInput(t, reopen(t, cfg, call("work", 8), say("Done.")), agent.Input{Session: "s", Prompt: "go"})
		require.Equal(t, []short{{"work", `{"n":8}`, tools.OK, "done 8"}}, shown(next.Calls()), "those of its own run")
	})
}

func TestACallOfTheHostIsAmongTheCalls(t *testing.T) {
	var done effects
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}})
	res, err := a.Session("s").Call(t.Context(), "work", Number{1})
	require.NoError(t, err)
	require.Equal(t, tools.OK, res.Calls("work")[0].Status)
}
