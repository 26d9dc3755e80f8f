package team

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
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
		require.Empty(t, f.open("s"))
		sum := provider.Money(0)
		for _, w := range f.told("s") {
			require.Equal(t, agent.Stopped, w.Status)
			sum += w.Cost
		}
		require.GreaterOrEqual(t, sum, 10*provider.USD)
		require.LessOrEqual(t, sum, 15*provider.USD, "two calls a second, and it is looked at each second")
		require.Len(t, f.reports("s"), 2)
	})
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

// TestWorkIsChargedOnce to the run that next calls a tool of the team.
func TestWorkIsChargedOnce(t *testing.T) {
	o := options{librarian: agent.Config{Provider: dearModel(reader)}}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.stop() // so that none has ended when the second is started
		f.say("s", "start books maps")
		f.run()
		passes()
		require.Len(t, f.reports("s"), 2)
		for _, want := range []provider.Money{2 * provider.USD, 0} {
			f.say("s", toolStatus+" ")
			res, err := f.lead.Agent().Session("s").Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, res.Cost)
		}
	})
}

func TestARunThatReachesItsCostStopsItsWork(t *testing.T) {
	o := options{librarian: agent.Config{Provider: dearModel(reader)},
		lead: agent.Config{Limits: agent.Limits{Cost: 3 * provider.USD / 2}}}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.say("s", "start books")
		passes()
		f.say("s", "start maps wait-1")
		passes()
		require.Len(t, f.reports("s"), 3)
		require.Contains(t, strings.Join(f.reports("s")[1:], "\n"), " is stopped.")
	})
}

// TestWhatWasChargedCountsOnce: the conversation waits for a person, so that the work whose cost is
// in its own isn't reported yet.
func TestWhatWasChargedCountsOnce(t *testing.T) {
	ask := tools.New(tools.Spec{Name: "ask", Approval: tools.AskAlways}, noted)
	o := options{librarian: agent.Config{Provider: dearModel(reader)},
		lead: agent.Config{Tools: []tools.Tool{ask}, Limits: agent.Limits{Cost: 4 * provider.USD},
			Provider: model(func(prompt string, since []provider.Message) providertest.Step {
				if prompt != "go" {
					return guide(prompt, since)
				}
				return []providertest.Step{providertest.Call(toolStatus, input{}), providertest.Call("ask", item{"x"}),
					providertest.Say("Done.")}[len(since)/2]
			})}}
	bubble(t, o, func(t *testing.T, f *fixture) {
		f.stop()
		f.say("s", "start books maps wait-1")
		for _, w := range f.open("s") {
			if w.Task != "wait-1" {
				require.NoError(t, f.team.drive(t.Context(), w.Session))
			}
		}
		f.say("s", "go")
		f.run()
		passes()
		waits := slices.IndexFunc(f.open("s"), func(w Work) bool { return w.Task == "wait-1" })
		require.Equal(t, agent.Running, f.open("s")[waits].Status, "three dollars were spent, not five")
		close(f.gate)
	})
}
