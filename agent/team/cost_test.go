package team

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// dear is a model whose calls cost a dollar each.
type dear struct{ provider.Provider }

func (dear) Info() provider.ModelInfo {
	return provider.ModelInfo{Prices: &provider.Prices{Output: 1000 * provider.USD}}
}

func (d dear) Unwrap() provider.Provider { return d.Provider }

func dearModel(answer func(prompt string, since []provider.Message) providertest.Step) provider.Provider {
	return dear{model(func(prompt string, since []provider.Message) providertest.Step {
		return providertest.WithUsage(provider.Usage{Output: 1000}, answer(prompt, since))
	})}
}

// endless is a member that looks for something once a second for ever.
func endless(limit provider.Money) options {
	look := tools.New(tools.Spec{Name: "look"}, func(context.Context, item) (string, error) {
		time.Sleep(time.Second)
		return "nothing yet", nil
	})
	return options{lead: agent.Config{Limits: agent.Limits{Cost: limit}},
		librarian: agent.Config{Tools: []tools.Tool{look}, Limits: agent.Limits{Steps: -1, Repeats: -1, Cost: -1},
			Provider: dearModel(func(string, []provider.Message) providertest.Step {
				return providertest.Call("look", item{"x"})
			})}}
}

func TestWorkIsStoppedWhenTheConversationHasCostWhatItMay(t *testing.T) {
	bubble(t, endless(10*provider.USD), func(t *testing.T, f *fixture) {
		f.say("s", "start one two")
		for range 3 {
			passes()
		}
		sum := provider.Money(0)
		for _, w := range append(f.told("s"), f.open("s")...) {
			require.Equal(t, agent.Stopped, w.Status)
			sum += w.Cost
		}
		require.GreaterOrEqual(t, sum, 10*provider.USD)
		require.LessOrEqual(t, sum, 11*provider.USD, "a call was in progress")
		require.Len(t, f.reports("s"), 1, "its run says that the limit is reached")
		f.say("s", "hello")
		passes()
		require.Len(t, f.reports("s"), 2, "the other one has waited for a person")
		require.Empty(t, f.open("s"))
	})
}

// What was reported counts, too, and so do tokens: the librarian has a journal of its own, so only
// the team counts what both have used.
func TestWorkInAnotherJournalIsStoppedAtTheLimit(t *testing.T) {
	for name, limits := range map[string]agent.Limits{
		"of the cost": {Cost: 10 * provider.USD}, "of the tokens": {Cost: -1, Tokens: 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			o := endless(0)
			o.own, o.lead.Limits, o.lead.Provider = &journal.MapStore{}, limits, dearModel(guide)
			o.librarian.Provider = dearModel(func(prompt string, since []provider.Message) providertest.Step {
				if strings.HasPrefix(prompt, "one") && len(since) >= 2 {
					return providertest.Say("Found.")
				}
				return providertest.Call("look", item{"x"})
			})
			bubble(t, o, func(t *testing.T, f *fixture) {
				f.say("s", "start one two")
				for range 3 {
					passes()
				}
				sum, list := f.spent(), append(f.told("s"), f.open("s")...)
				require.Len(t, list, 2)
				for _, w := range list {
					require.Contains(t, []agent.Status{agent.Completed, agent.Stopped}, w.Status)
					sum += w.Cost
				}
				require.GreaterOrEqual(t, sum, 9*provider.USD)
				require.LessOrEqual(t, sum, 11*provider.USD)
			})
		})
	}
}

func TestWithoutALimitWorkGoesOn(t *testing.T) {
	bubble(t, endless(-1), func(t *testing.T, f *fixture) {
		f.say("s", "start one")
		passes()
		passes()
		require.Equal(t, agent.Running, f.open("s")[0].Status)
		f.say("s", "team.stop "+f.open("s")[0].ID)
		passes()
		require.Empty(t, f.open("s"))
	})
}

// TestAConversationThatStartsWorkAtEachReportIsBoundByOneInput: each piece of work books 40 cents,
// the lead starts another one at each report, and nobody writes.
func TestAConversationThatStartsWorkAtEachReportIsBoundByOneInput(t *testing.T) {
	bubble(t, costly(400_000), func(t *testing.T, f *fixture) {
		f.say("s", "check it")
		for range 10 {
			passes()
		}
		require.Equal(t, 3, len(f.told("s"))+len(f.open("s")), "0.40, 0.80, 1.20")
		require.Equal(t, provider.Money(1_200_000), f.spent())
		res, err := f.lead.Agent().Session("s").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, []any{agent.Stopped, machine.CodeLimit, machine.LimitCost},
			[]any{res.Status, res.Code, res.Limit})
		require.Contains(t, res.Reason, "Limits.Cost is reached: $1.200000 of $1.000000; it is the limit of the input that has "+
			"started this work, and counts all that it has started")

		f.say("s", "check it") // another input has a limit of its own
		for range 10 {
			passes()
		}
		require.Equal(t, provider.Money(2_400_000), f.spent())
		require.Empty(t, f.open("s"))
		require.Len(t, f.reports("s"), 6)
	})
}

// costly is a lead that starts work at each message, with a limit of a dollar, and a member that
// pays for each piece of work.
func costly(each provider.Money) options {
	pay := tools.New(tools.Spec{Name: "pay"}, func(ctx context.Context, _ item) (string, error) {
		return "paid", agent.Book(ctx, provider.Usage{}, each)
	})
	return options{
		lead: agent.Config{Limits: agent.Limits{Cost: provider.USD},
			Provider: model(func(_ string, since []provider.Message) providertest.Step {
				if len(since) == 0 {
					return providertest.Call(toolStart, startInput{"librarian", "check it"})
				}
				return providertest.Say("I look into it.")
			})},
		librarian: agent.Config{Tools: []tools.Tool{pay},
			Provider: model(func(_ string, since []provider.Message) providertest.Step {
				if len(since) == 0 {
					return providertest.Call("pay", item{"it"})
				}
				return providertest.Say("Done; please check again.")
			})}}
}

// spent returns what all sessions of the journal have cost.
func (f *fixture) spent() (sum provider.Money) {
	for h, err := range f.store.Heads(f.t.Context(), journal.Filter{}) {
		require.NoError(f.t, err)
		sum = sum.Add(machine.InfoOf(&h).Cost)
	}
	return sum
}

func TestReportsWaitForAPersonAfterSoManyInARow(t *testing.T) {
	o := costly(0)
	o.lead.Journal = &journal.MapStore{}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.say("s", "check it")
		for range 10 {
			passes()
		}
		list := f.reports("s")
		require.Len(t, list, 10)
		require.NotContains(t, list[8], "in a row")
		require.Contains(t, list[9], "This is report 10 in a row without a message of a person. Tell the person")
		require.Len(t, f.open("s"), 1, "it has ended, and its report waits")
		require.Equal(t, agent.Completed, f.open("s")[0].Status)

		f.close() // another process knows it, too
		f = newFixture(t, o).run()
		defer f.close()
		passes()
		require.Len(t, f.reports("s"), 10)
		f.say("s", "check it")
		for range 10 {
			passes()
		}
		require.Len(t, f.reports("s"), 20, "what waited is among them")
		require.NotEmpty(t, f.open("s"))
	})
}

func TestReportsGoOnWithoutALimitOfThem(t *testing.T) {
	o := costly(0)
	o.team.Rounds = -1
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.say("s", "check it")
		for range 4 {
			passes()
		}
		require.Greater(t, len(f.reports("s")), 20)
		require.NotContains(t, strings.Join(f.reports("s"), ""), "in a row")
	})
}

func TestARunThatReachesItsCostStopsItsWork(t *testing.T) {
	o := options{librarian: agent.Config{Provider: dearModel(reader)},
		lead: agent.Config{Limits: agent.Limits{Cost: 5 * provider.USD / 2}}}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.say("s", "start books")
		passes()
		f.say("s", "start maps wait-1")
		passes()
		waits := slices.IndexFunc(f.open("s"), func(w Work) bool { return w.Task == "wait-1" })
		require.Equal(t, agent.Running, f.open("s")[waits].Status, "the books were on another input")
		f.say("s", "start maps atlas wait-2")
		passes()
		passes()
		f.say("s", "hello")
		passes()
		require.Len(t, f.open("s"), 1, "that of the second input goes on")
		require.Contains(t, strings.Join(f.reports("s"), "\n"), " is stopped.\nIts task: wait-2")
		close(f.gate)
	})
}
