package assistant

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeveralPlansAreRankedAndTheFailedOneIsReplaced(t *testing.T) {
	f := serveSite(t, nil, nil)
	r := f.ask("s-1", "Create a contact page with a form")
	events := f.read(r, "paused")
	made := of(events, "plans-generated")
	require.Len(t, made, 1)
	require.EqualValues(t, 3, made[0].data["count"])
	require.Equal(t, "Create new", made[0].data["selected"], "there is no section form to reuse")
	all := made[0].data["alternatives"].([]any)
	first, last := all[0].(map[string]any), all[2].(map[string]any)
	require.Len(t, first["steps"], 2)
	require.EqualValues(t, 4000, first["estimatedTimeMs"])
	require.Greater(t, first["feasibilityScore"], last["feasibilityScore"])
	require.Equal(t, "Reuse what exists", last["name"])
	require.Contains(t, last["issues"].([]any)[0], "step create (cms.createPage): ")
	asked := of(events, "approval_required")
	require.Len(t, asked, 1)
	require.Contains(t, asked[0].data["description"], "It can't work now: ")
	require.Len(t, asked[0].data["schema"].(map[string]any)["enum"], 3)

	id := asked[0].data["approvalId"].(string)
	status, _ := f.post("/v1/agent/approve",
		`{"sessionId":"s-1","approvalId":"`+id+`","decision":"answer","message":"Do nothing"}`)
	require.Equal(t, http.StatusBadRequest, status, "there is no such plan")
	status, _ = f.post("/v1/agent/approve",
		`{"sessionId":"s-1","approvalId":"`+id+`","decision":"answer","message":"Reuse what exists"}`)
	require.Equal(t, http.StatusOK, status)
	events = f.read(r, "")
	failed := of(events, "plan-failed")
	require.Len(t, failed, 1)
	require.Equal(t, "Reuse what exists", failed[0].data["plan"])
	require.Contains(t, failed[0].data["error"], "form")
	require.Equal(t, "Create new", failed[0].data["tryingNext"])
	taken := of(events, "plan-selected")
	require.Len(t, taken, 2)
	require.Equal(t, map[string]any{"name": "Create new", "isBackup": true}, taken[1].data["plan"])
	require.True(t, f.exists("contact"))
}
