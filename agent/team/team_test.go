package team

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

func TestAReportArrivesAsAMessageOnce(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start books maps")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Len(t, f.reports("s"), 2)
		require.Empty(t, f.open("s"))
		info, err := f.lead.Agent().Session("s").Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, agent.Completed, info.Status)
		t.Log(f.reports("s"))
		require.Equal(t, 3, f.logs())
		require.NoError(t, f.lead.Agent().Session("s").Delete(t.Context()))
		require.Zero(t, f.logs())
	})
}
