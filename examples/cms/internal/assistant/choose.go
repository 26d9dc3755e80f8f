package assistant

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/tools"
)

// The kinds of the events that [PlanTools] record.
const (
	PlansGenerated = "plans-generated"
	PlanSelected   = "plan-selected"
	PlanFailed     = "plan-failed"
)

// The names of the tools of [PlanTools].
const (
	ToolChoose = "plan.choose"
	ToolFailed = "plan.failed"
)

// stepTime is what a step is estimated to take, in milliseconds.
const stepTime = 2000

type (
	chooseInput struct {
		Goal  string        `json:"goal" jsonschema:"what the plans are for"`
		Plans []alternative `json:"plans" jsonschema:"different ways to the goal, such as: reuse what exists, create new, clone a template"`
	}
	alternative struct {
		Name  string        `json:"name" jsonschema:"a few words that tell the plans apart"`
		Steps []plannedStep `json:"steps"`
		Risks []string      `json:"risks,omitempty"`
	}
	plannedStep struct {
		Tool      string         `json:"tool"`
		Args      map[string]any `json:"args,omitempty" jsonschema:"its input, as far as it is known before"`
		Rationale string         `json:"rationale,omitempty" jsonschema:"why this step"`
	}
	// A rated is an alternative in the event [PlansGenerated].
	rated struct {
		ID string `json:"id"`
		alternative
		EstimatedCost    float64 `json:"estimatedCost"` // in steps
		EstimatedTimeMS  int     `json:"estimatedTimeMs"`
		FeasibilityScore float64 `json:"feasibilityScore"`
	}
	failedInput struct {
		Plan  string `json:"plan" jsonschema:"the plan that failed"`
		Error string `json:"error" jsonschema:"why"`
		Next  string `json:"next" jsonschema:"the plan that is carried out instead"`
	}
	chosen struct {
		Plan   string `json:"plan"`
		Backup bool   `json:"isBackup"`
	}
)

// PlanTools returns two tools for work with several plans. With plan.choose a model shows different
// plans for a goal: they are ranked, and the call waits until a person has chosen one. The model
// then carries that out by its other tools. If the plan can't be carried out, the model reports
// that with plan.failed and continues with another one. registry has the tools that the steps may
// call.
func PlanTools(registry *tools.Registry, modes ...string) []tools.Tool {
	choose := tools.Spec{Name: ToolChoose, Category: "planning", ReadOnly: true, Modes: modes, NoBreaker: true,
		Description: "Shows two or more different plans for a goal, and waits until a person has chosen one. Carries " +
			"out nothing: do the steps of the chosen plan afterwards.",
		Schema: json.RawMessage(
			`{"properties":{"plans":{"minItems":2,"maxItems":6,"items":{"properties":{"name":{"minLength":1,"maxLength":60},"steps":{"minItems":1,"maxItems":20}}}}}}`)}
	failed := tools.Spec{Name: ToolFailed, Category: "planning", ReadOnly: true, Modes: modes, NoBreaker: true,
		Description: "Says that a chosen plan has failed for good, and which one is carried out instead."}
	return []tools.Tool{
		tools.New(choose, func(ctx context.Context, in chooseInput) (chosen, error) {
			return in.choose(ctx, registry)
		}),
		tools.New(failed, func(ctx context.Context, in failedInput) (chosen, error) {
			if err := agent.Emit(ctx, PlanFailed,
				map[string]string{"plan": in.Plan, "error": in.Error, "tryingNext": in.Next}); err != nil {
				return chosen{}, err
			}
			return selected(ctx, in.Next, true)
		}),
	}
}

// selected records that a plan is carried out.
func selected(ctx context.Context, name string, backup bool) (chosen, error) {
	return chosen{name, backup},
		agent.Emit(ctx, PlanSelected, map[string]any{"plan": map[string]any{"name": name, "isBackup": backup}})
}

func (in *chooseInput) choose(ctx context.Context, registry *tools.Registry) (chosen, error) {
	if answered, ok := tools.Resumed(ctx); ok {
		var name string
		if err := answered.Decode(nil, &name); err != nil {
			return chosen{}, err
		}
		return selected(ctx, name, false)
	}
	ranking := in.rank(registry)
	names := make([]string, len(ranking))
	for i := range ranking {
		names[i] = ranking[i].Name
	}
	err := agent.Emit(ctx, PlansGenerated,
		map[string]any{"count": len(ranking), "selected": names[0], "alternatives": ranking})
	if err != nil {
		return chosen{}, err
	}
	schema, err := json.Marshal(map[string]any{"type": "string", "enum": names})
	if err != nil {
		return chosen{}, err
	}
	return chosen{}, tools.Suspend{Kind: "question", Schema: schema, Again: true,
		Prompt: fmt.Sprintf("There are %d ways to do this: %s. Which one shall be taken? %q looks best.", len(ranking),
			in.Goal, names[0])}
}

// rank rates the plans, the best first.
func (in *chooseInput) rank(registry *tools.Registry) []rated {
	byID := make(map[string]alternative)
	var plans []*plan.Plan
	for i, a := range in.Plans {
		p := &plan.Plan{ID: fmt.Sprint("plan-", i), Title: a.Name}
		for j, s := range a.Steps {
			p.Nodes = append(p.Nodes, plan.Node{ID: fmt.Sprint("step-", j+1), Tool: s.Tool, Input: s.Args})
		}
		byID[p.ID], plans = a, append(plans, p)
	}
	var all []rated
	for _, r := range plan.Rank(plan.Weights{Tools: registry}, plans...) {
		all = append(all, rated{r.Plan.ID, byID[r.Plan.ID], r.Cost, stepTime * len(r.Plan.Nodes), r.Score})
	}
	return all
}
