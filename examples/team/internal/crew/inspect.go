package crew

import (
	"context"
	"fmt"
	"go/format"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/examples/team/internal/board"
	"github.com/pawlkit/pawl/tools/file"
)

// The checks that steps can name.
const (
	checkVet  = "vet"
	checkTest = "test"
)

const checksFile = "checks.json"

// inspector returns the checks, which no model makes. They run one after the other, once for each
// round, whoever of them is asked first. When all that the step names have passed, what the step
// has written is merged.
func (c *Crew) inspector() map[string]plan.Check {
	judge := func(name string) plan.Check {
		return func(ctx context.Context, r plan.Candidate) (plan.Verdict, error) {
			w, err := c.copies.of(plan.SessionOf(r.Run, 0, r.Node.ID))
			if err != nil {
				return plan.Verdict{}, err
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			runs, err := w.inspect(ctx, &r)
			if err != nil {
				return plan.Verdict{}, err
			}
			i := slices.IndexFunc(runs, func(run board.CheckRun) bool {
				return run.Name == name && run.Round == r.Round
			})
			if i < 0 || runs[i].Passed {
				return plan.Verdict{Passed: true}, nil
			}
			return plan.Verdict{Feedback: fmt.Sprintf("$ %s\n%s", runs[i].Command, runs[i].Output)}, nil
		}
	}
	return map[string]plan.Check{checkVet: judge(checkVet), checkTest: judge(checkTest)}
}

// inspect returns all checks of a step, after it has run those of this round. mu is held.
func (w *workcopy) inspect(ctx context.Context, r *plan.Candidate) (runs []board.CheckRun, err error) {
	if err := w.load(checksFile, &runs); err != nil {
		return nil, err
	}
	last := func() bool { return len(runs) > 0 && runs[len(runs)-1].Round == r.Round }
	if last() && (!w.unmerged() || !passed(runs, r.Round)) {
		return runs, nil
	}
	// those of a process that died are made again
	runs = slices.DeleteFunc(runs, func(run board.CheckRun) bool { return run.Round >= r.Round })
	dir, err := w.tree(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range r.Node.Review.Checks {
		run := board.CheckRun{Round: r.Round, Rounds: max(r.Node.Review.Rounds, r.Round), Name: name}
		if r.Node.Review.Rounds == 0 {
			run.Rounds = max(3, r.Round)
		}
		began := time.Now()
		if err := w.check(ctx, dir, &run); err != nil {
			return nil, err
		}
		run.Took = time.Since(began)
		runs = append(runs, run)
	}
	if passed(runs, r.Round) {
		conflict, err := w.merge(ctx)
		if err != nil {
			return nil, err
		}
		if conflict != "" {
			at := &runs[len(runs)-1]
			at.Passed, at.Output = false, conflict
		}
	}
	return runs, w.save(checksFile, runs)
}

// passed reports whether all checks of a round have passed.
func passed(runs []board.CheckRun, round int) bool {
	return !slices.ContainsFunc(runs, func(run board.CheckRun) bool { return run.Round == round && !run.Passed })
}

// check runs one check.
func (w *workcopy) check(ctx context.Context, dir string, run *board.CheckRun) error {
	if run.Name == checkVet {
		if run.Command, run.Output = "gofmt -l", w.unformatted(ctx); run.Output != "" {
			return nil
		}
	}
	if w.place.gc == nil {
		run.Command, run.Output = "go "+run.Name, w.place.Goless
		return nil
	}
	packages, left, err := w.packages(ctx, dir)
	if err != nil {
		return err
	}
	args := append([]string{run.Name}, packages...)
	run.Command = goInput{args}.line()
	if len(packages) == 0 {
		run.Passed, run.Output = true, "There is no code yet, only tests."
		return nil
	}
	res, err := w.place.gc.run(ctx, dir, nil, args...)
	if err != nil {
		return err
	}
	run.Passed, run.Output = res.ExitCode == 0, strings.TrimSpace(res.Output)
	if len(left) > 0 {
		run.Output = strings.TrimSpace(run.Output + "\nOnly tests so far: " + strings.Join(left, " "))
	}
	return nil
}

// unformatted says which Go files of the step aren't formatted, or aren't Go.
func (w *workcopy) unformatted(ctx context.Context) string {
	var b strings.Builder
	for _, ch := range w.staging.Changes() {
		if ch.Action == file.Delete || path.Ext(ch.Name) != ".go" {
			continue
		}
		c, err := w.staging.Read(ctx, ch.Name)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		formatted, err := format.Source(c.Data)
		switch {
		case err != nil:
			fmt.Fprintf(&b, "%s:%v\n", ch.Name, err)
		case string(formatted) != string(c.Data):
			fmt.Fprintf(&b, "%s isn't formatted as gofmt does it\n", ch.Name)
		}
	}
	return b.String()
}

// listed is what go list says about a package: one with code, one that has only tests, or nothing.
const listed = `{{if or .GoFiles .CgoFiles .InvalidGoFiles}}code {{.ImportPath}}` +
	`{{else if or .TestGoFiles .XTestGoFiles}}tests {{.ImportPath}}{{end}}`

// packages returns what to give to go vet and go test: the packages of a tree that have code, in
// short if these are all. left are those that have only tests so far.
func (w *workcopy) packages(ctx context.Context, dir string) (code, left []string, err error) {
	res, err := w.place.gc.run(ctx, dir, nil, "list", "-e", "-f", listed, "./...")
	for line := range strings.Lines(res.Output) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "code "); ok {
			code = append(code, name)
		} else if name, ok := strings.CutPrefix(strings.TrimSpace(line), "tests "); ok {
			left = append(left, name)
		}
	}
	if len(left) == 0 && (len(code) > 0 || res.ExitCode != 0) {
		code = []string{"./..."} // which says what is wrong, if something is
	}
	return code, left, err
}
