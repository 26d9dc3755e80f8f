package machine_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/machine"
)

// exported returns facts as a session's export has them.
func exported(t *testing.T, facts []machine.Fact) (out []machine.Fact) {
	t.Helper()
	for _, f := range facts {
		rec, err := machine.Encode(f)
		require.NoError(t, err)
		again, err := machine.Decode("s-1", rec)
		require.NoError(t, err)
		out = append(out, again)
	}
	return out
}

// TestACopyHasTheStateOfTheOriginal compares the states of random sessions, some of them pruned,
// with those of their copies, field by field.
func TestACopyHasTheStateOfTheOriginal(t *testing.T) {
	copies, pruned := 0, 0
	for seed := range uint64(some(120)) {
		s := newSim(t, seed)
		for len(s.facts) < 60 {
			s.step()
		}
		for i, f := range s.facts {
			if _, ok := f.(*machine.Snapshot); i > 0 && !ok {
				continue
			}
			for _, to := range []string{"s-1", "s-2"} {
				if compareCopy(t, to, s.facts[i:], seed) {
					copies, pruned = copies+1, pruned+min(i, 1)
				}
			}
		}
	}
	require.Greater(t, copies, some(150))
	require.Greater(t, pruned, some(50))
}

// compareCopy compares the state of a copy with that of the facts that were copied, and reports
// whether there are any.
func compareCopy(t *testing.T, to string, facts []machine.Fact, seed uint64) bool {
	t.Helper()
	copied, err := history.Copy("s-1", to, exported(t, facts), 0)
	require.NoError(t, err)
	if len(copied) == 0 {
		return false
	}
	numbers := make(map[uint64]uint64) // of the copies of facts
	n := 0                             // of the original's facts, those that the copy has
	for kept := 0; kept < len(copied); n++ {
		switch facts[n].(type) {
		case *machine.Snapshot:
			if n > 0 {
				continue
			}
		case *machine.Delivered:
			if to != "s-1" {
				continue
			}
		}
		kept++
		numbers[facts[n].Envelope().Seq] = uint64(kept)
	}
	was, err := machine.Replay("s-1", facts[:n]...)
	require.NoError(t, err)
	now, err := machine.Replay(to, copied...)
	require.NoError(t, err)
	want, got := *was.State(), *now.State()
	run := *want.Run
	want.Session, want.Seq, want.Run = to, uint64(len(copied)), &run
	if start, ok := numbers[run.Start]; ok {
		run.Start = start
	} else {
		require.Less(t, run.Start, facts[0].Envelope().Seq)
		run.Start = 1 // the snapshot
	}
	if to != "s-1" {
		want.Keys, want.Totals, want.Ends, want.Spent = nil, machine.Totals{Copied: true}, nil, nil
	}
	want.Ends = slices.Clone(want.Ends)
	require.Len(t, got.Ends, len(want.Ends))
	for i := range want.Ends {
		want.Ends[i].Start = got.Ends[i].Start // the copy's facts have other numbers
	}
	requireSameFields(t, want, got, seed)
	return true
}

// requireSameFields compares states as they are stored.
func requireSameFields(t *testing.T, want, got machine.State, seed uint64) {
	t.Helper()
	a, b := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range a.NumField() {
		x, err := json.Marshal(a.Field(i).Interface())
		require.NoError(t, err)
		y, err := json.Marshal(b.Field(i).Interface())
		require.NoError(t, err)
		require.JSONEq(t, string(x), string(y), "field %s, seed %d", a.Type().Field(i).Name, seed)
	}
}
