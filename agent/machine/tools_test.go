package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
)

func TestChangedToolsKeepTheirPlacesAndOthersComeLast(t *testing.T) {
	type list = []machine.ToolFingerprint
	before := list{{Name: "a", Schema: "1"}, {Name: "lazy", Schema: "1", Lazy: true}, {Name: "b", Schema: "1"}}
	for name, c := range map[string]struct{ changes, want list }{
		"new": {list{{Name: "c"}, {Name: "0"}},
			append(before[:3:3], machine.ToolFingerprint{Name: "c"}, machine.ToolFingerprint{Name: "0"})},
		"changed": {list{{Name: "a", Schema: "2"}}, list{{Name: "a", Schema: "2"}, before[1], before[2]}},
		"loaded": {list{{Name: "lazy", Schema: "1"}},
			list{before[0], before[2], {Name: "lazy", Schema: "1"}}},
		"gone": {list{{Name: "a", Schema: "1", Gone: true}},
			list{{Name: "a", Schema: "1", Gone: true}, before[1], before[2]}},
		"gone and unknown": {list{{Name: "c", Gone: true}}, before},
	} {
		t.Run(name, func(t *testing.T) {
			own := append(list(nil), before...)
			require.Equal(t, c.want, machine.ChangeTools(own, c.changes))
			require.Equal(t, before, own)
		})
	}
}

func TestAToolThatIsGoneIsReportedOnce(t *testing.T) {
	before := []machine.ToolFingerprint{{Name: "a", Schema: "1"}, {Name: "b", Schema: "1"}}
	gone := []machine.ToolFingerprint{{Name: "a", Schema: "1", Gone: true}, {Name: "b", Schema: "1"}}
	require.Equal(t, []machine.ToolChange{{Name: "a", Was: "1"}}, machine.ToolChanges(before, gone))
	require.Empty(t, machine.ToolChanges(gone, gone))
}
