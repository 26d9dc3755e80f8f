package page_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/serve/page"
	"github.com/pawlkit/pawl/provider"
)

func TestAPlanIsAnItemThatChanges(t *testing.T) {
	v := page.NewView(page.ViewConfig{Session: "s-1"})
	meta := agent.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Step: 2}
	show := func(kind, value string) []page.Patch {
		return v.Event(&machine.Emitted{Meta: meta, Kind: kind, Value: json.RawMessage(value)})
	}
	out := show(plan.EventKind,
		`{"run":"p-1","title":"Two pages","version":1,"status":"running","done":1,"steps":[{"id":"a","work":"make","status":"done"}]}`)
	item := out[len(out)-1].Item
	require.Equal(t, "plan p-1", item.ID)
	require.Equal(t, page.KindPlan, item.Kind)
	require.Equal(t, "r-1.2", item.Group)
	require.Equal(t, []plan.OverviewStep{{ID: "a", Work: "make", Status: plan.NodeDone}}, item.Plan.Steps)
	out = v.Event(&agent.Shown{NoteMeta: agent.NoteMeta{Origin: meta.Origin, Step: meta.Step}, Kind: plan.EventKind,
		Value: json.RawMessage(`{"run":"p-1","status":"completed"}`)})
	require.Equal(t, "plan p-1", out[0].Item.ID)
	require.Equal(t, "completed", out[0].Item.Plan.Status)
	for _, odd := range []string{`{}`, `1`, `{"run":7}`} {
		require.Empty(t, show(plan.EventKind, odd))
	}
	require.Empty(t, show("other", `{"run":"p-1"}`))
}

func TestASubmittedPlanIsShownInItsApproval(t *testing.T) {
	v := page.NewView(page.ViewConfig{Session: "s-1"})
	paused := func(tool, input string) *page.Pause {
		out := v.Event(&agent.Suspended{Meta: agent.Meta{Origin: &machine.Origin{Session: "s-1"}},
			Pause: agent.Pause{ID: "p-1", Kind: machine.PauseApproval,
				Call: provider.ToolCall{ID: "c", Name: tool, Input: json.RawMessage(input)}}})
		return out[len(out)-1].Item.Pause
	}
	const input = `{"title":"Two pages","why":"They are wanted.","nodes":[{"id":"a","tool":"make","input":"not JSON"},{"id":"b","worker":"ann","prompt":"Look."}]}`
	require.Equal(t, &plan.Overview{Title: "Two pages", Why: "They are wanted.", Version: 1, Status: "proposed",
		Steps: []plan.OverviewStep{
			{ID: "a", Work: "make", Title: "Make", Status: "pending"}, {ID: "b", Work: "ann: Look.", Status: "pending"},
		}}, paused(plan.ToolSubmit, input).Plan)
	require.Nil(t, paused("other", input).Plan)
	require.Nil(t, paused(plan.ToolSubmit, `{"nodes":[]}`).Plan)
}
