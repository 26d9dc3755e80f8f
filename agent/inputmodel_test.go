package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// models are the models that were asked for, in order.
func models(m *providertest.Model) (names []string) {
	for _, req := range m.Requests() {
		names = append(names, req.Model)
	}
	return names
}

// A priceList knows the price and the window of the model "large" alone.
type priceList struct{ *providertest.Model }

func (priceList) InfoOf(model string) (provider.ModelInfo, bool) {
	if model != "large" {
		return provider.ModelInfo{}, false
	}
	return provider.ModelInfo{Window: 200_000, Prices: &provider.Prices{Input: 1_000_000 * provider.USD}}, true
}

func TestTheModelOfAnInputLastsAsLongAsItsRun(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var done effects
		m := providertest.Script(call("risky", 1), say("One."), say("Two."), say("Three."))
		cfg := agent.Config{Journal: store, Provider: m, Params: agent.Params{Model: "small"},
			Modes: []agent.Mode{{Name: "ask"}, {Name: "edit", Model: "medium"}},
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}
		a := newAgent(t, cfg)
		res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", Model: "large"})
		require.Equal(t, agent.Paused, res.Status)
		if store != nil {
			a = newAgent(t, cfg) // as another process
		}
		require.Equal(t, "One.", runInput(t, a, approveAll(res)).Text(), "the run keeps its settings")
		runInput(t, a, agent.Input{Session: "s", Prompt: "again"})
		runInput(t, a, agent.Input{Session: "s", Prompt: "again", Mode: "edit", Model: "large"})
		require.Equal(t, []string{"large", "large", "small", "large"}, models(m))

		start, ok := facts(t, a, "s")[0].(*agent.RunStarted)
		require.True(t, ok)
		require.Equal(t, "large", start.Model)
		info, err := a.Session("s").Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, "scripted", info.Model, "as the provider names what has answered")
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestAModelThatNothingNamesSoIsRefused(t *testing.T) {
	a, m := scripted(t, agent.Config{})
	for _, name := range []string{"a\nb", "\xff", strings.Repeat("m", 257)} {
		_, err := a.Run(t.Context(), agent.Input{Prompt: "go", Model: name})
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "Input.Model", bad.Field)
	}
	require.Empty(t, m.Requests())
}

func TestTheModelOfAnInputHasItsOwnPricesAndWindow(t *testing.T) {
	for model, code := range map[string]string{"large": "", "": machine.CodeLimit} {
		p := priceList{providertest.Script(say("Done."))}
		a := newAgent(t, agent.Config{Provider: p, Memory: new(agent.Memory), Params: agent.Params{Model: "small"},
			Limits: agent.Limits{RequirePrices: true}})
		res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", Model: model})
		require.Equal(t, code, res.Code)
		require.Equal(t, code == "", res.Cost > 0)
	}
}

func TestTheModelOfAnInputIsThatOfItsToolsButNotOfItsSubagents(t *testing.T) {
	m := providertest.Script(call("tell", 1), say("short"), task("child", "x"), say("Child."), say("Done."))
	child := newAgent(t, agent.Config{Name: "child", Provider: m, Params: agent.Params{Model: "small"}})
	tell := tools.New(tools.Spec{Name: "tell"}, func(ctx context.Context, _ Number) (string, error) {
		res, err := agent.Generate(ctx, &provider.Request{Messages: []provider.Message{provider.User("in short")}})
		return res.Text(), err
	})
	a := newAgent(t, agent.Config{Provider: m,
		Tools: []tools.Tool{tell, agent.AsTool(child, tools.Spec{Description: "x"})}})
	require.Equal(t, "Done.", runInput(t, a, agent.Input{Prompt: "go", Model: "large"}).Text())
	require.Equal(t, []string{"large", "large", "large", "small", "large"}, models(m))
}
