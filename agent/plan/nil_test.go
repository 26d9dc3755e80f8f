package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestANilPlanAndToolsOfANilRunnerAreErrors(t *testing.T) {
	var p *plan.Plan
	require.Empty(t, p.Hash())
	_, ok := p.Node("a")
	require.False(t, ok)
	_, err := p.Layers()
	require.ErrorContains(t, err, "nil")
	require.ErrorContains(t, p.Check(nil), "nil")

	_, err = agent.New(agent.Config{Provider: providertest.Script(), Tools: plan.Tools(nil)})
	var spec *tools.SpecError
	require.ErrorAs(t, err, &spec)
	require.Contains(t, err.Error(), "the Runner is nil")
}
