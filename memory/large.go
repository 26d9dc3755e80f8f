package memory

import (
	"context"

	"github.com/pawlkit/pawl/provider"
)

// largeResult is the trigger of a compaction that cuts results which take more than their share of
// the window.
const largeResult = "large result"

// cutLarge cuts the results that take more than Config.ResultShare of the window. It returns nil if
// there are none, else the job that did, which may go on.
func (c *Compactor) cutLarge(ctx context.Context, req *provider.Request, fixed, goal int) *job {
	if c.cfg.ResultShare == 0 {
		return nil
	}
	limit := max(c.meter.down(int(c.cfg.ResultShare*float64(c.cfg.Window.size()))), 50)
	over := false
	for i := range c.meter.known {
		over = over || c.meter.known[i].role == provider.RoleTool && c.meter.known[i].tokens > limit
	}
	if !over {
		return nil
	}
	j := c.job(req, fixed, goal)
	r := StepReport{Strategy: "cut " + largeResult, Before: j.up(j.total())}
	store := j.store
	j.store = c.cfg.Whole
	defer func() { j.store = store }()
	for _, t := range j.texts(limit) {
		if j.groups[t.group].Messages[t.message].Parts[t.part].Result == nil {
			continue
		}
		shorter, err := j.shorten(ctx, []long{t}, limit)
		if err != nil && r.Error == "" {
			r.Error = err.Error()
		}
		if shorter {
			r.Cut++
		}
	}
	if r.Cut == 0 {
		return nil
	}
	r.After = j.up(j.total())
	j.changed = true
	j.steps = append(j.steps, r)
	return j
}

// ResultText returns the text of a result as it is kept when it is cut: files are named, and those
// that are text follow their names. [HandleOf] it is the handle.
func ResultText(parts []provider.Part) string {
	var w textWriter
	w.parts(parts, maxNesting)
	return w.String()
}
