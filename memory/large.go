package memory

import (
	"context"
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// largeResult is the trigger of a compaction that cuts results which take more than their share of
// the window.
const largeResult = "large result"

// cutLarge cuts the results that take more than Config.ResultShare of the window. It returns nil if
// there are none, else the job that did, which may go on.
func (c *Compactor) cutLarge(ctx context.Context, req *provider.Request, fixed, goal int) *job {
	if !c.hasLarge() {
		return nil
	}
	limit := c.mostOfResult()
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

// mostOfResult returns how many tokens a result may have, as counted here.
func (c *Compactor) mostOfResult() int {
	return max(c.meter.down(int(c.cfg.ResultShare*float64(c.cfg.Window.size()))), 50)
}

// hasLarge reports whether the request that was counted last has messages with results that may be
// too large.
func (c *Compactor) hasLarge() bool {
	limit := c.mostOfResult()
	return c.cfg.ResultShare > 0 && slices.ContainsFunc(c.meter.known, func(m counted) bool {
		return m.role == provider.RoleTool && m.tokens > limit
	})
}

// ResultText returns the text of a result as it is kept when it is cut: files are named, and those
// that are text follow their names. [HandleOf] it is the handle.
func ResultText(parts []provider.Part) string {
	var w textWriter
	w.parts(parts, maxNesting)
	return w.String()
}
