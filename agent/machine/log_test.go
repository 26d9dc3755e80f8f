package machine_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// share is how many of the simulations are made.
var share = flag.Int("share", 40, "how many random logs, facts and histories are tried, in percent")

// some returns the share of n that the flag -share says, but at least 2.
func some(n int) int { return max(n**share/100, 2) }

// eachLog calls check with simulations, and then runs each of them for 150 facts, which are many
// runs. It makes as many of them as some says.
func eachLog(t *testing.T, logs int, check func(t *testing.T, s *sim)) {
	for seed := range some(logs) {
		s := newSim(t, uint64(seed))
		check(t, s)
		for len(s.facts) < 150 {
			s.step()
		}
		if t.Failed() {
			t.Fatalf("in the log of seed %d", seed)
		}
	}
}

func TestRandomLogsReachEveryKindOfFactStageAndStatus(t *testing.T) {
	kinds, actions, statuses := make(map[string]bool), make(map[machine.ActionKind]bool),
		make(map[machine.CallStatus]bool)
	stages, stops := make(map[machine.Stage]bool), make(map[string]bool)
	eachLog(t, 60, func(t *testing.T, s *sim) {
		s.after = func(f machine.Fact) {
			kinds[machine.KindOf(f)] = true
			a := s.m.Next()
			actions[a.Kind] = true
			if err, ok := a.Err.(*machine.LimitError); ok {
				stops[err.Limit] = true
			}
			stages[s.m.State().Run.Stage] = true
			for _, c := range s.m.State().Run.Calls {
				statuses[c.Status] = true
			}
		}
	})
	require.Len(t, kinds, len(machine.FactTypes))
	require.Len(t, actions, int(machine.ActFinish)+1)
	require.Len(t, statuses, 6)
	require.Len(t, stages, 5)
	for _, limit := range []string{machine.LimitSteps, machine.LimitTokens, machine.LimitCost, machine.LimitRepeats} {
		require.True(t, stops[limit], limit)
	}
}

func TestEveryCallHasExactlyOneResultAfterItsReplyInCallOrder(t *testing.T) {
	eachLog(t, 60, func(t *testing.T, s *sim) {
		s.after = func(f machine.Fact) {
			asks := s.m.Next().Kind == machine.ActCallModel
			if !asks && s.m.State().Run.IsOpen() {
				return
			}
			require.NoError(t, balanced(s.m.State().Messages), "after fact %d, %s", len(s.facts), machine.KindOf(f))
		}
	})
}

func TestReplayOfAnyPrefixMakesTheStateByteForByte(t *testing.T) {
	eachLog(t, 10, func(t *testing.T, s *sim) {
		read := machine.New(s.m.State().Session) // reads what a journal gives back
		var decoded []machine.Fact
		s.after = func(f machine.Fact) {
			rec, err := machine.Encode(f)
			require.NoError(t, err)
			back, err := machine.Decode(s.m.State().Session, rec)
			require.NoError(t, err)
			require.NoError(t, read.Apply(back))
			live := stateJSON(t, s.m)
			require.Equal(t, live, stateJSON(t, read), "after fact %d, %s", len(s.facts), machine.KindOf(f))
			require.Equal(t, s.m.Next(), read.Next())
			if decoded = append(decoded, back); s.one(30) {
				for _, facts := range [][]machine.Fact{s.facts, decoded} {
					m, err := machine.Replay(s.m.State().Session, facts...)
					require.NoError(t, err)
					require.Equal(t, live, stateJSON(t, m))
				}
			}
		}
	})
}

func TestARecordOfAFactIsTheSameAfterEveryRoundTrip(t *testing.T) {
	eachLog(t, 30, func(t *testing.T, s *sim) {
		s.after = func(f machine.Fact) {
			rec, err := machine.Encode(f)
			require.NoError(t, err)
			back, err := machine.Decode(s.m.State().Session, rec)
			require.NoError(t, err)
			require.Equal(t, f, back)
			again, err := machine.Encode(back)
			require.NoError(t, err)
			require.Equal(t, rec, again)
		}
	})
}

func TestMessagesAreOnlyEverAppended(t *testing.T) {
	eachLog(t, 8, func(t *testing.T, s *sim) {
		var frozen []string // each message as it was when it came
		var shown []provider.Message
		s.after = func(f machine.Fact) {
			msgs := s.m.State().Messages
			if start, ok := f.(*machine.RunStarted); machine.KindOf(f) == "compacted" || ok &&
				(start.ContextReset != nil || start.Replaces != nil) {
				frozen, shown = nil, nil // another conversation
			}
			require.GreaterOrEqual(t, len(msgs), len(frozen))
			for i := range frozen {
				now, err := machine.Marshal(msgs[i])
				require.NoError(t, err)
				require.Equal(t, frozen[i], string(now), "message %d", i)
				require.Same(t, &shown[i].Parts[0], &msgs[i].Parts[0], "message %d", i)
			}
			for i := len(frozen); i < len(msgs); i++ {
				now, err := machine.Marshal(msgs[i])
				require.NoError(t, err)
				frozen, shown = append(frozen, string(now)), append(shown, msgs[i])
			}
		}
	})
}

func TestNextChangesNothing(t *testing.T) {
	eachLog(t, 8, func(t *testing.T, s *sim) {
		s.after = func(machine.Fact) {
			before := stateJSON(t, s.m)
			first := s.m.Next()
			second := s.m.Next()
			require.Equal(t, first, second)
			require.Equal(t, before, stateJSON(t, s.m))
		}
	})
	m := machine.New("s-1")
	require.Equal(t, machine.Action{}, m.Next())
	require.Equal(t, `{"session":"s-1","seq":0}`, stateJSON(t, m))
}

func TestFactsAreNeverChangedByTheMachine(t *testing.T) {
	eachLog(t, 20, func(t *testing.T, s *sim) {
		var written []string
		s.after = func(f machine.Fact) {
			rec, err := machine.Encode(f)
			require.NoError(t, err)
			written = append(written, string(rec.Data))
			if len(s.facts)%50 != 0 {
				return
			}
			for i, f := range s.facts {
				rec, err := machine.Encode(f)
				require.NoError(t, err)
				require.Equal(t, written[i], string(rec.Data))
			}
		}
	})
}
