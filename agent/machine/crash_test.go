package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

func TestAModelCallThatIsLostAgainAndAgainComesToAnEnd(t *testing.T) {
	m := machine.New("s")
	origin := machine.Origin{Session: "s", Run: "r-1"}
	apply := func(make func(machine.Meta) machine.Fact) {
		require.NoError(t, m.Apply(make(machine.Meta{Origin: origin, Seq: m.State().Seq + 1, Step: 1})))
	}
	apply(func(meta machine.Meta) machine.Fact {
		return machine.RunStarted{Meta: meta, Message: provider.User("go"), Limits: new(machine.Limits{Steps: 3}.WithDefaults())}
	})
	apply(func(meta machine.Meta) machine.Fact { return machine.StepStarted{Meta: meta} })
	made := 1
	for ; m.Next().Kind == machine.ActCallModel; made++ { // each time, the process dies before the reply
		require.Less(t, made, 10)
		apply(func(meta machine.Meta) machine.Fact { return machine.Continued{Meta: meta} })
		apply(func(meta machine.Meta) machine.Fact { return machine.StepStarted{Meta: meta} })
	}
	require.Equal(t, 4, made) // three, and the one that is granted on top
	act := m.Next()
	require.Equal(t, machine.ActFinish, act.Kind)
	var limit *machine.LimitError
	require.ErrorAs(t, act.Err, &limit)
	require.Equal(t, machine.LimitSteps, limit.Limit)
}
