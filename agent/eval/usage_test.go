// Did this change make the agent better or worse?
package eval_test

import (
	"testing"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/eval"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestAgent(t *testing.T) {
	eval.Test(t, newAgent, eval.Config{
		Cases: []eval.Case{{
			Name:  "weather",
			Input: agent.Input{Prompt: "How cold is it in Oslo?"},
			Score: []eval.Scorer{eval.Called("weather"), eval.Text("3"), eval.Cost(provider.USD / 100)},
		}},
		Trials:  5,
		Against: "testdata/eval.json", // what got better or worse than that, and what is noise
	})
}

var newAgent func() (*agent.Agent, error)

func init() {
	newAgent = func() (*agent.Agent, error) {
		return weatherAgent(priced{providertest.Script(
			providertest.Call("weather", City{"Oslo"}), providertest.Say("It is 3 °C."))})
	}
}

// priced is a model whose prices are known.
type priced struct{ provider.Provider }

func (priced) Info() provider.ModelInfo {
	return provider.ModelInfo{ID: "priced", Prices: &provider.Prices{Input: provider.USD, Output: 2 * provider.USD}}
}
