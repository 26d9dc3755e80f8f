package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

func TestACloneAndItsOriginalDontChangeEachOther(t *testing.T) {
	eachLog(t, 4, func(t *testing.T, s *sim) {
		var clone *machine.Machine
		var was string
		s.before = func(f machine.Fact) {
			clone, was = s.m.Clone(), stateJSON(t, s.m)
			require.NoError(t, clone.Apply(f))
			require.Equal(t, was, stateJSON(t, s.m), "the original, after %s", machine.KindOf(f))
			clone = s.m.Clone()
		}
		s.after = func(f machine.Fact) {
			require.Equal(t, was, stateJSON(t, clone), "the clone, after %s", machine.KindOf(f))
		}
	})
}

func TestCheckAgreesWithApply(t *testing.T) {
	eachLog(t, 4, func(t *testing.T, s *sim) {
		s.before = func(f machine.Fact) {
			was := stateJSON(t, s.m)
			require.NoError(t, s.m.Check([]machine.Fact{f}))
			if d, ok := f.(machine.Decided); ok {
				require.Error(t, s.m.Check([]machine.Fact{f, machine.Stamp(d, s.meta(""))}), "it is decided on twice")
			}
			require.Equal(t, was, stateJSON(t, s.m))
		}
	})
}

func TestASessionWithoutRunsCanBeAskedEverything(t *testing.T) {
	m := machine.New("s-1")
	require.False(t, m.Waiting())
	require.NoError(t, m.Check(nil))
	require.Empty(t, m.State().Goal())
	require.Empty(t, m.State().LastUserText())
	require.Nil(t, m.State().Input())
	require.Nil(t, m.State().Run.Pending())
	require.Nil(t, m.State().Run.Call("c"))
	c, p := m.State().Run.Suspended("p")
	require.Nil(t, c)
	require.Nil(t, p)
	require.Zero(t, m.State().Run.ContextResets())
	require.Equal(t, "s-1", m.Result(machine.Failed, "", nil).Session)
	require.Equal(t, m.State(), m.Clone().State())
}

func TestWhatIsNoFactIsReturnedAsItIs(t *testing.T) {
	for _, f := range []machine.Fact{nil, pretender{}, &machine.RunEnded{}} {
		require.Equal(t, f, machine.Stamp(f, machine.Meta{Step: 1}))
		require.Equal(t, journal.Record{}, machine.Record(f))
		require.Equal(t, f, machine.Redactor(redactSecret).Fact(f))
	}
	require.Equal(t, machine.RunEnded{Meta: machine.Meta{Step: 1}}, machine.Stamp(machine.RunEnded{}, machine.Meta{Step: 1}))
}

func TestTheGoalIsTheFirstInputOfAChain(t *testing.T) {
	b := inRun(t)
	b.add(machine.Steered{Message: provider.User("and hurry")}, machine.RunEnded{Status: machine.Stopped, Code: machine.CodeContextReset})
	require.Equal(t, "go", b.m.State().Goal())
	require.Equal(t, "and hurry", b.m.State().LastUserText())
	b.run = "r-3"
	b.add(machine.RunStarted{Message: message(provider.RoleUser, provider.TextPart("go"), provider.TextPart("context reset 1")),
		ContextReset: &machine.ContextResetState{Index: 1, From: "r-2", Prompt: 1}})
	require.Equal(t, "go", b.m.State().Goal())
	require.Equal(t, "and hurry", b.m.State().LastUserText(), "it is told to the next run")
	require.Equal(t, 1, b.m.State().Run.ContextResets())
}
