package assistant

import (
	"encoding/json"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
)

// The types of the events about plans that a person chooses from: see [plan.ToolChoose].
const (
	PlansGenerated = "plans-generated"
	PlanSelected   = "plan-selected"
	PlanFailed     = "plan-failed"
)

// stepTime is what a step is estimated to take, in milliseconds.
const stepTime = 2000

// generated returns the event about the plans that a pause offers; nil for any other pause.
func generated(p *agent.Pause) []Event {
	offered, ok := plan.Alternatives(p)
	if !ok {
		return nil
	}
	all := make([]Event, len(offered))
	selected := "" // none can work
	for i, a := range offered {
		steps := make([]Event, len(a.Plan.Nodes))
		for j, n := range a.Plan.Nodes {
			steps[j] = Event{"id": n.ID, "tool": n.Tool, "args": n.Input}
		}
		all[i] = Event{"id": a.Plan.ID, "name": a.Plan.Title, "rationale": a.Plan.Why, "steps": steps,
			"estimatedCost": a.Cost, "estimatedTimeMs": stepTime * len(steps), "feasibilityScore": a.Score}
		if len(a.Missing) > 0 {
			all[i]["issues"] = a.Missing
		}
		if a.Recommended {
			selected = a.Plan.Title
		}
	}
	return []Event{{"type": PlansGenerated, "count": len(all), "selected": selected, "alternatives": all}}
}

// planned returns the events about how far a plan is. Those about other plans come first, when one
// begins or has failed.
func (t *translator) planned(value json.RawMessage) (out []Event) {
	var o plan.Overview
	if json.Unmarshal(value, &o) != nil {
		return nil
	}
	if o.Run != t.run {
		t.run, t.plan, t.failed = o.Run, "", 0
	}
	for ; t.failed < len(o.Failed); t.failed++ {
		f := o.Failed[t.failed]
		e := Event{"type": PlanFailed, "plan": f.Title, "error": f.Reason}
		if o.Title != f.Title {
			e["tryingNext"] = o.Title
		}
		out = append(out, e)
	}
	if o.Title != t.plan {
		t.plan = o.Title
		out = append(out, Event{"type": PlanSelected, "plan": Event{"name": o.Title, "isBackup": len(o.Failed) > 0}})
	}
	return append(out, host(plan.EventKind, value))
}
