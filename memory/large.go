package memory

import (
	"context"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// largeResult is the trigger of a compaction that cuts results which take more than their share of
// the window.
const largeResult = "large result"

// findLarge returns the results that take more than Config.ResultShare of the window, and the job
// that may cut them. The job is nil if there are none.
func (c *Compactor) findLarge(req *provider.Request, fixed, goal int) (j *job, results []long) {
	limit := c.mostOfResult()
	if c.cfg.ResultShare == 0 || !slices.ContainsFunc(c.meter.known, func(m counted) bool {
		return m.role == provider.RoleTool && m.tokens > limit
	}) {
		return nil, nil
	}
	j = c.job(req, fixed, goal)
	results = slices.DeleteFunc(j.texts(limit), func(t long) bool {
		return j.groups[t.group].Messages[t.message].Parts[t.part].Result == nil
	})
	if len(results) == 0 {
		return nil, nil
	}
	return j, results
}

// mostOfResult returns how many tokens a result may have, as counted here.
func (c *Compactor) mostOfResult() int {
	return max(c.meter.down(int(c.cfg.ResultShare*float64(c.cfg.Window.size()))), 50)
}

// cutLarge cuts the results that findLarge has found, and reports whether it could.
func (c *Compactor) cutLarge(ctx context.Context, j *job, results []long) bool {
	r := StepReport{Strategy: "cut " + largeResult, Before: j.up(j.total())}
	store := j.store
	j.store = c.cfg.Whole
	defer func() { j.store = store }()
	for _, t := range results {
		shorter, err := j.shorten(ctx, []long{t}, c.mostOfResult())
		if err != nil && r.Error == "" {
			r.Error = err.Error()
		}
		if shorter {
			r.Cut++
		}
	}
	if r.Cut == 0 {
		return false
	}
	r.After = j.up(j.total())
	j.changed = true
	j.steps = append(j.steps, r)
	return true
}

// ResultText returns the text of a result as it is kept when it is cut: files are named, and those
// that are text follow their names. [HandleOf] it is the handle.
func ResultText(parts []provider.Part) string {
	var w textWriter
	w.parts(parts, maxNesting)
	return w.String()
}
