package agent

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatARunMakesFitsItsSizeClass: the runtime hands memory out in classes, and half of what a short run costs is in how
// many bytes it takes. A field more than fits takes an eighth more; raise the figure only for what most runs need.
func TestWhatARunMakesFitsItsSizeClass(t *testing.T) {
	const header = 8 // of what is larger than 512 bytes and holds pointers
	for _, c := range []struct {
		of  any
		fit int
	}{
		{exec{}, 640 - header},
		{RunState{}, 640 - header},
		{callRun{}, 352},
		{session{}, 288},
		{RunStarted{}, 320},
		{StepStarted{}, 288},
		{Replied{}, 256},
		{ToolStarted{}, 128},
		{ToolFinished{}, 128},
		{RunEnded{}, 144},
		{Result{}, 352},
	} {
		kind := reflect.TypeOf(c.of)
		require.LessOrEqual(t, int(kind.Size()), c.fit, "bytes of %v", kind)
	}
}
