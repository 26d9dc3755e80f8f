package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestAModelCallThatIsLostAgainAndAgainComesToAnEnd(t *testing.T) {
	m := New2("s")
	origin := &Origin{Session: "s", Run: "r-1"}
	apply := func(make func(Meta) Fact) {
		require.NoError(t, m.Apply(make(Meta{Origin: origin, Seq: m.s.Seq + 1, Step: 1})))
	}
	apply(func(meta Meta) Fact {
		return RunStarted{Meta: meta, Message: provider.User("go"), Limits: new(Limits{Steps: 3}.WithDefaults())}
	})
	apply(func(meta Meta) Fact { return StepStarted{Meta: meta} })
	made := 1
	for ; m.Next().Kind == ActCallModel; made++ { // each time, the process dies before the reply
		require.Less(t, made, 10)
		apply(func(meta Meta) Fact { return Continued{Meta: meta} })
		apply(func(meta Meta) Fact { return StepStarted{Meta: meta} })
	}
	require.Equal(t, 4, made) // three, and the one that is granted on top
	act := m.Next()
	require.Equal(t, ActFinish, act.Kind)
	var limit *LimitError
	require.ErrorAs(t, act.Err, &limit)
	require.Equal(t, LimitSteps, limit.Limit)
}
