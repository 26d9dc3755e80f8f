package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// eachLog runs check on logs made at random, which by then have many runs in them.
func eachLog(t *testing.T, logs int, check func(t *testing.T, s *sim)) {
	for seed := range logs {
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

func TestRandomLogsReachEveryKindOfFactAndStand(t *testing.T) {
	kinds, actions, stands := make(map[string]bool), make(map[ActionKind]bool), make(map[callStatus]bool)
	stages, stops := make(map[runStage]bool), make(map[string]bool)
	eachLog(t, 60, func(t *testing.T, s *sim) {
		s.after = func(f Fact) {
			kinds[f.kind()] = true
			a := s.m.Next()
			actions[a.Kind] = true
			if err, ok := a.Err.(*LimitError); ok {
				stops[err.Limit] = true
			}
			stages[s.m.s.Run.Stage] = true
			for _, c := range s.m.s.Run.Calls {
				stands[c.Status] = true
			}
		}
	})
	require.Len(t, kinds, len(factTypes))
	require.Len(t, actions, int(ActFinish)+1)
	require.Len(t, stands, 6)
	require.Len(t, stages, 5)
	for _, limit := range []string{LimitSteps, LimitTokens, LimitCost, LimitRepeats} {
		require.True(t, stops[limit], limit)
	}
}

func TestEveryCallHasExactlyOneResultBehindItsReplyInCallOrder(t *testing.T) {
	eachLog(t, 60, func(t *testing.T, s *sim) {
		s.after = func(f Fact) {
			asks := s.m.Next().Kind == ActCallModel
			if !asks && s.m.s.Run.open() {
				return
			}
			require.NoError(t, balanced(s.m.s.Messages), "after fact %d, %s", len(s.facts), f.kind())
		}
	})
}

func TestReplayOfAnyPrefixMakesTheStateByteForByte(t *testing.T) {
	eachLog(t, 10, func(t *testing.T, s *sim) {
		read := NewMachine(s.m.s.Session) // reads what a journal gives back
		var decoded []Fact
		s.after = func(f Fact) {
			rec, err := EncodeFact(f)
			require.NoError(t, err)
			back, err := DecodeFact(s.m.s.Session, rec)
			require.NoError(t, err)
			require.NoError(t, read.Apply(back))
			live := stateJSON(t, s.m)
			require.Equal(t, live, stateJSON(t, read), "after fact %d, %s", len(s.facts), f.kind())
			require.Equal(t, s.m.Next(), read.Next())
			if decoded = append(decoded, back); s.one(30) {
				for _, facts := range [][]Fact{s.facts, decoded} {
					m, err := Replay(s.m.s.Session, facts...)
					require.NoError(t, err)
					require.Equal(t, live, stateJSON(t, m))
				}
			}
		}
	})
}

func TestARecordOfAFactIsTheSameAfterEveryRoundTrip(t *testing.T) {
	eachLog(t, 30, func(t *testing.T, s *sim) {
		s.after = func(f Fact) {
			rec, err := EncodeFact(f)
			require.NoError(t, err)
			back, err := DecodeFact(s.m.s.Session, rec)
			require.NoError(t, err)
			require.Equal(t, f, back)
			again, err := EncodeFact(back)
			require.NoError(t, err)
			require.Equal(t, rec, again)
		}
	})
}

func TestMessagesAreOnlyEverAppended(t *testing.T) {
	eachLog(t, 8, func(t *testing.T, s *sim) {
		var frozen []string // each message as it was when it came
		var shown []provider.Message
		s.after = func(f Fact) {
			msgs := s.m.s.Messages
			if start, ok := f.(RunStarted); f.kind() == "compacted" || ok && start.ContextReset != nil {
				frozen, shown = nil, nil // another conversation
			}
			require.GreaterOrEqual(t, len(msgs), len(frozen))
			for i := range frozen {
				now, err := marshal(msgs[i])
				require.NoError(t, err)
				require.Equal(t, frozen[i], string(now), "message %d", i)
				require.Same(t, &shown[i].Parts[0], &msgs[i].Parts[0], "message %d", i)
			}
			for i := len(frozen); i < len(msgs); i++ {
				now, err := marshal(msgs[i])
				require.NoError(t, err)
				frozen, shown = append(frozen, string(now)), append(shown, msgs[i])
			}
		}
	})
}

func TestNextChangesNothing(t *testing.T) {
	eachLog(t, 8, func(t *testing.T, s *sim) {
		s.after = func(Fact) {
			before := stateJSON(t, s.m)
			first := s.m.Next()
			second := s.m.Next()
			require.Equal(t, first, second)
			require.Equal(t, before, stateJSON(t, s.m))
		}
	})
	m := NewMachine("s-1")
	require.Equal(t, Action{}, m.Next())
	require.Equal(t, `{"session":"s-1","seq":0}`, stateJSON(t, m))
}

func TestFactsAreNeverChangedByTheMachine(t *testing.T) {
	eachLog(t, 20, func(t *testing.T, s *sim) {
		var written []string
		s.after = func(f Fact) {
			rec, err := EncodeFact(f)
			require.NoError(t, err)
			written = append(written, string(rec.Data))
			if len(s.facts)%50 != 0 {
				return
			}
			for i, f := range s.facts {
				rec, err := EncodeFact(f)
				require.NoError(t, err)
				require.Equal(t, written[i], string(rec.Data))
			}
		}
	})
}
