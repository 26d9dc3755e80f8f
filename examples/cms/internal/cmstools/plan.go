package cmstools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/tools"
)

type (
	planInput struct {
		Operations []operation `json:"operations"`
	}
	operation struct {
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input,omitempty"`
		Args  json.RawMessage `json:"args,omitempty"`
	}
	// A Report is the result of trying a plan.
	Report struct {
		Valid       bool     `json:"valid"`
		Issues      []string `json:"issues"`      // failures, by operation
		Suggestions []string `json:"suggestions"` // remedies, and the approvals that will be needed
	}
)

// validatePlan tries a plan on a copy of the site. This is more exact than a list of rules: the
// code that executes a plan also checks slugs, references, slots and limits here, and each
// operation sees the effects of those before it.
func validatePlan(cfg Config) tools.Tool {
	spec := specOf[planInput](ValidatePlan)
	spec.ReadOnly, spec.Description = true, spec.Description+"\n\n"+signatures()
	return tools.New(spec, func(ctx context.Context, in planInput) (r Report, err error) {
		r = Report{Valid: true, Issues: []string{}, Suggestions: []string{}}
		err = onCopy(ctx, cfg, func(copied Config) error {
			for i, op := range in.Operations {
				if len(op.Input) == 0 {
					op.Input = op.Args
				}
				name := fmt.Sprintf("operation %d (%s)", i+1, op.Tool)
				if d, ok := registry(copied).Lookup(op.Tool); ok && d.Spec().ReadOnly {
					r.issue(name, "it only reads; leave it out of the plan")
					continue
				}
				r.try(ctx, copied, name, op.Tool, op.Input)
			}
			return context.Cause(ctx)
		})
		return r, err
	})
}

// onCopy calls f with a copy of a site that is deleted afterwards.
func onCopy(ctx context.Context, cfg Config, f func(Config) error) (err error) {
	if cfg.Site, err = cfg.Site.Copy(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cfg.Site.Close()) }()
	return f(cfg)
}

func registry(cfg Config) *tools.Registry {
	r, err := tools.NewRegistry(operations(cfg)...)
	if err != nil {
		panic(err) // All is tested
	}
	return r
}

// Weights are those by which several plans for one goal are ranked: what a plan doesn't find on the
// site, what it deletes or what can't be undone, and how many steps it has.
func Weights(cfg Config) plan.Weights {
	return plan.Weights{UnknownTool: .3, Missing: .2, Risk: .1, Cost: .02, Tools: registry(cfg),
		MissingOf: func(ctx context.Context, p *plan.Plan) (missing []string, err error) {
			err = onCopy(ctx, cfg, func(copied Config) error {
				missing, _, err = tryPlan(ctx, copied, p)
				return err
			})
			return missing, err
		},
		MissesOf: func(ctx context.Context, goal string, p *plan.Plan) (misses []string, err error) {
			err = onCopy(ctx, cfg, func(copied Config) error {
				misses, err = missesOf(ctx, copied, goal, p)
				return err
			})
			return misses, err
		}}
}

// Works is a policy: a plan that doesn't work isn't shown to a person. The model reads why.
func Works(cfg Config) tools.Policy {
	weights := Weights(cfg)
	return func(ctx context.Context, _ *tools.Definition, c *tools.Call) tools.Verdict {
		p := planIn(c.Input)
		if c.Name != plan.ToolSubmit || c.By != "" || p == nil { // By: it was approved
			return tools.Verdict{}
		}
		missing, err := weights.MissingOf(ctx, p)
		if err != nil {
			missing = append(missing, err.Error())
		}
		if len(missing) == 0 {
			return tools.Verdict{}
		}
		return tools.Verdict{Effect: tools.Deny, Reason: "the plan doesn't work: " + strings.Join(missing, "; ")}
	}
}

// planIn returns the plan in the input of a call or a pause, the best one of several; nil if there
// is none. A model writes the inputs of nodes as texts.
func planIn(input json.RawMessage) *plan.Plan {
	var in struct {
		Title string `json:"title"`
		Nodes []struct {
			ID    string          `json:"id"`
			After []string        `json:"after"`
			Tool  string          `json:"tool"`
			Input json.RawMessage `json:"input"`
		} `json:"nodes"`
		Plans []struct{ Plan *plan.Plan } `json:"plans"`
	}
	if json.Unmarshal(input, &in) != nil || len(in.Nodes)+len(in.Plans) == 0 {
		return nil
	}
	if len(in.Plans) > 0 {
		return in.Plans[0].Plan
	}
	p := &plan.Plan{Title: in.Title}
	for _, n := range in.Nodes {
		node, text := plan.Node{ID: n.ID, After: n.After, Tool: n.Tool}, ""
		if json.Unmarshal(n.Input, &text) == nil {
			n.Input = json.RawMessage(text)
		}
		if json.Unmarshal(n.Input, &node.Input) != nil {
			return nil // the tool says so
		}
		p.Nodes = append(p.Nodes, node)
	}
	return p
}

// tryPlan carries out a plan on a copy of a site, and returns what it needs and doesn't find, and
// the pages that it has made or changed. Steps that follow one that can't work aren't tried.
func tryPlan(ctx context.Context, copied Config, p *plan.Plan) (wrong, touched []string, err error) {
	r := Report{Valid: true}
	_, err = plan.DryRun(ctx, p, func(ctx context.Context, n *plan.Node, input map[string]any) (
		answer any, _ []plan.Issue, err error) {
		raw, err := json.Marshal(input)
		if err != nil || !r.Valid {
			return nil, nil, err
		}
		name := fmt.Sprintf("step %s (%s)", n.ID, tools.TitleOf(n.Tool, raw))
		text := r.try(ctx, copied, name, n.Tool, raw)
		_ = json.Unmarshal([]byte(text), &answer) // other answers are texts, which no step refers to
		of, _ := answer.(map[string]any)
		for _, name := range []string{"id", "page"} { // of a page, and of a section
			if ref, _ := of[name].(string); name == "page" || strings.HasPrefix(ref, "pg_") {
				touched = append(touched, ref)
			}
		}
		return answer, nil, nil
	})
	return r.Issues, touched, err
}

// Try carries out a call, or the plan in its input, on a copy of a site.
func Try(ctx context.Context, copied Config, tool string, input json.RawMessage) error {
	r := Report{}
	if p := planIn(input); p != nil {
		var err error
		if r.Issues, _, err = tryPlan(ctx, copied, p); err != nil {
			return err
		}
	} else {
		r.try(ctx, copied, "the call", tool, input)
	}
	if len(r.Issues) > 0 {
		return errors.New(r.Issues[0])
	}
	return nil
}

// try runs one operation on a copy and adds its result to the report. It returns what a model would
// read.
func (r *Report) try(ctx context.Context, copied Config, name, tool string, input json.RawMessage) string {
	all, call := registry(copied), tools.Call{Name: tool, Input: input}
	out := all.Run(ctx, call, tools.Options{})
	if q := out.Question; q != nil {
		r.Suggestions = append(r.Suggestions, fmt.Sprintf("%s needs approval: %s", name, q.Reason))
		out = all.Run(ctx, call, tools.Options{Approved: q.Hash}) // it is tried on a copy
	}
	if out.Status != tools.OK {
		r.issue(name, out.Text())
	}
	return out.Text()
}

// issue adds a problem to the report, and how to correct it.
func (r *Report) issue(name, problem string) {
	problem, _, _ = strings.Cut(strings.TrimPrefix(problem, "The call wasn't run: "), "\n")
	problem, remedy, _ := strings.Cut(problem, "; ")
	r.Valid = false
	r.Issues = append(r.Issues, name+": "+problem)
	if remedy != "" {
		r.Suggestions = append(r.Suggestions, name+": "+remedy)
	}
}
