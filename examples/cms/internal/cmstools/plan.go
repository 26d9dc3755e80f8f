package cmstools

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
	"github.com/pawlkit/pawl/tools"
)

type (
	planInput struct {
		Operations []operation `json:"operations" jsonschema:"the planned calls, in order"`
	}
	operation struct {
		Tool  string          `json:"tool" jsonschema:"name of a tool that writes, for example cms.createPage"`
		Input json.RawMessage `json:"input,omitempty" jsonschema:"the input it would be called with"`
		Args  json.RawMessage `json:"args,omitempty" jsonschema:"another name of input"`
	}
	// A Report is the result of validating a plan.
	Report struct {
		Valid       bool     `json:"valid"`
		Issues      []string `json:"issues"`      // failures, by operation
		Suggestions []string `json:"suggestions"` // remedies, and the approvals that will be needed

		reads bool // operations may also read
	}
)

// validatePlan tries a plan on a copy of the site. This is more exact than a list of rules: the
// code that executes a plan also checks slugs, references, slots and limits here, and each
// operation sees the effects of those before it.
func validatePlan(c Config) tools.Tool {
	spec := reading(ValidatePlan,
		"Checks a plan without changing the site: the operations are tried in order on a copy, which is deleted "+
			"afterwards. Refer to things that the plan itself creates by slug or key. Returns whether all operations "+
			"work, which ones fail, and how to correct them.",
		`{"properties":{"operations":{"minItems":1,"maxItems":20,"items":{"properties":{"input":{"type":"object"},"args":{"type":"object"}}}}}}`)
	spec.Modes = []string{Architect}
	return tools.New(spec, func(ctx context.Context, in planInput) (Report, error) {
		return try(ctx, c, in.Operations)
	})
}

func try(ctx context.Context, c Config, operations []operation) (Report, error) {
	r := Report{Valid: true, Issues: []string{}, Suggestions: []string{}}
	err := onCopy(ctx, c, func(registry *tools.Registry) error {
		for i, op := range operations {
			r.try(ctx, registry, fmt.Sprint("operation ", i+1), op)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		return nil
	})
	return r, err
}

// Missing returns a function that says what a plan needs and doesn't find on the site. It tries the
// plan on a copy, so that what earlier steps make is found.
func Missing(c Config) func(ctx context.Context, p *plan.Plan) ([]string, error) {
	return func(ctx context.Context, p *plan.Plan) (missing []string, err error) {
		err = onCopy(ctx, c, func(registry *tools.Registry) error {
			_, err := plan.DryRun(ctx, p, func(ctx context.Context, n *plan.Node, input map[string]any) (
				any, []plan.Issue, error) {
				r := Report{reads: true}
				raw, err := json.Marshal(input)
				if err != nil || len(missing) > 0 { // steps that follow one that can't work say nothing more
					return nil, nil, err
				}
				out := r.try(ctx, registry, "step "+n.ID, operation{Tool: n.Tool, Input: raw})
				missing = append(missing, r.Issues...)
				var answer any
				if out != nil {
					_ = json.Unmarshal([]byte(text(out)), &answer) // other answers are texts, which no step refers to
				}
				return answer, nil, nil
			})
			return err
		})
		return missing, err
	}
}

// onCopy calls f with the tools that change the site, on a copy of it that is deleted afterwards.
func onCopy(ctx context.Context, c Config, f func(*tools.Registry) error) (err error) {
	dir, err := os.MkdirTemp("", "plan-")
	if err != nil {
		return fmt.Errorf("creating a folder for a copy of the site: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "copy.db")
	if err := copyFile(ctx, c.Site.Path(), path); err != nil {
		return fmt.Errorf("copying the site: %w", err)
	}
	copied, err := site.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	registry, err := tools.NewRegistry(operations(Config{Site: copied, Fetcher: c.Fetcher})...)
	if err != nil {
		return err
	}
	return f(registry)
}

// try runs one operation on the copy and adds its result to the report. It returns the outcome; nil
// if the call isn't possible.
func (r *Report) try(ctx context.Context, registry *tools.Registry, name string, op operation) *tools.Outcome {
	issue := func(problem string) {
		problem, _, _ = strings.Cut(problem, "\n") // the observation says the same
		problem, remedy, _ := strings.Cut(problem, "; ")
		r.Valid = false
		r.Issues = append(r.Issues, fmt.Sprintf("%s (%s): %s", name, op.Tool, problem))
		if remedy != "" {
			r.Suggestions = append(r.Suggestions, fmt.Sprintf("%s: %s", name, remedy))
		}
	}
	if len(op.Input) == 0 {
		op.Input = op.Args
	}
	call := &tools.Call{Name: op.Tool, Input: op.Input}
	admitted, err := registry.Admit(ctx, call, nil, nil, nil)
	switch {
	case err != nil:
		issue(err.Error())
		return nil
	case admitted.Rejected != nil:
		issue(strings.TrimPrefix(text(admitted.Rejected), "The call wasn't run: "))
		return nil
	case admitted.Definition.Spec().ReadOnly && !r.reads:
		issue("it only reads; leave it out of the plan")
		return nil
	case admitted.Verdict.Effect == tools.Ask:
		r.Suggestions = append(r.Suggestions,
			fmt.Sprintf("%s needs approval: %s", name, admitted.Verdict.Reason))
	}
	out := registry.Recheck(ctx, call, nil)
	if out == nil {
		done := tools.Execute(ctx, admitted.Definition, call, nil)
		out = &done
	}
	if out.Status != tools.OK {
		issue(strings.TrimPrefix(text(out), "The call wasn't run: "))
	}
	return out
}

func text(out *tools.Outcome) string {
	var b strings.Builder
	for _, p := range out.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// copyFile copies a database that is in use, with SQLite's VACUUM INTO, which reads a consistent
// state.
func copyFile(ctx context.Context, from, to string) (err error) {
	db, err := sql.Open("sqlite",
		"file:"+(&url.URL{Path: filepath.ToSlash(from)}).EscapedPath()+"?mode=ro&_pragma=busy_timeout(15000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}
