package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

func TestTheCallThatALimitGrantsIsMadeAgainAfterACrash(t *testing.T) {
	for _, lost := range []int{0, 1} { // model calls that were lost before
		m := machine.New("s")
		l := machine.Limits{Steps: 1}.WithDefaults()
		origin, seq := &machine.Origin{Session: "s", Run: "r-1"}, uint64(0)
		apply := func(f machine.Fact, step int, call string) {
			seq++
			machine.Stamp(f, machine.Meta{Origin: origin, Seq: seq, V: machine.Version, Step: step, Call: call})
			require.NoError(t, m.Apply(f))
		}
		apply(&machine.RunStarted{Message: provider.User("hi"), Limits: &l}, 0, "")
		for range lost + 1 {
			apply(&machine.StepStarted{}, 1, "")
		}
		id := machine.CallID("r-1", 1, 0)
		call := &provider.ToolCall{ID: id, Name: "t", Input: []byte("{}")}
		apply(&machine.Replied{Stop: provider.StopToolCalls, Message: provider.Message{Role: provider.RoleAssistant,
			Parts: []provider.Part{{Kind: provider.PartToolCall, Call: call}}}}, 1, "")
		apply(&machine.ToolStarted{Call: call, IdempotencyKey: id}, 1, id)
		apply(&machine.ToolFinished{Call: call, Result: m.State().Run.Calls[0].ResultOf(tools.OK, fault.None, "x")},
			1, id)
		act := m.Next()
		require.Equal(t, machine.LimitSteps, act.Final)
		apply(&machine.StepStarted{Final: act.Final}, 2, "")
		act = m.Next() // the process has died
		require.Equal(t, machine.ActCallModel, act.Kind, "%v", act.Err)
		require.True(t, act.Again)
		for range 3 { // and dies each time
			if m.Next().Kind == machine.ActCallModel {
				apply(&machine.StepStarted{Final: act.Final}, 2, "")
			}
		}
		require.Equal(t, machine.ActFinish, m.Next().Kind, "a call that is always lost isn't made for ever")
	}
}
