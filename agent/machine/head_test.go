package machine_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// TestAFactThatChangesTheHeadSaysSo: the head is stored only with such facts, so what another fact
// changed in it wouldn't be found by those who list sessions. The totals and the model of a run in
// progress are listed when it ends or pauses.
func TestAFactThatChangesTheHeadSaysSo(t *testing.T) {
	same := make(map[string]bool)
	eachLog(t, 60, func(t *testing.T, s *sim) {
		head := func() *journal.HeadUpdate {
			h := s.m.Head()
			if s.m.State().Run.Status == machine.Running {
				info := machine.InfoOf(&journal.Head{Info: h.Info})
				info.Cost, info.Steps, info.Unpriced, info.Model = 0, 0, false, ""
				h.Info, _ = json.Marshal(info)
			}
			return h
		}
		var before *journal.HeadUpdate
		s.before = func(f machine.Fact) {
			if before = nil; s.m.State().Run != nil && !s.m.ChangesHead(f) {
				before = head()
			}
		}
		s.after = func(f machine.Fact) {
			if before != nil {
				require.Equal(t, before, head(), "%T", f)
				same[machine.KindOf(f)] = true
			}
		}
	})
	require.Greater(t, len(same), 12)
}
