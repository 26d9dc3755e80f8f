package memory

import "strings"

// reached reports whether a request is at the threshold of a rule that has one.
func (a *armed) reached(total, budget int) bool {
	switch t := a.rule.When; t.kind {
	case "share":
		return float64(total) >= t.share*float64(budget)
	case "tokens":
		return total >= t.n
	}
	return false
}

// A firing is a rule that fires: now for the first time, or once more, because it couldn't do
// anything before.
type firing struct {
	*armed
	now bool
}

// due returns the rules that fire, in order. It changes nothing.
func (c *Compactor) due(total, budget int, events []Event) (due []firing) {
	for i := range c.marks {
		a := &c.marks[i]
		now := !a.fired && a.reached(total, budget)
		for _, e := range events {
			now = now || (e == SubgoalDone || e == PhaseChanged) && e == Event(a.rule.When.kind)
		}
		if now || a.again > 0 {
			due = append(due, firing{a, now})
		}
	}
	return due
}

// fire counts how often rules that fire do so once more. again says that none of them fires for the
// first time.
func (c *Compactor) fire(due []firing) (again bool) {
	again = len(due) > 0
	for _, f := range due {
		switch {
		case f.now && f.rule.When.kind == "subgoal":
			f.again = c.cfg.Keep + 1
		case !f.now:
			f.again--
		}
		again = again && !f.now
	}
	return again
}

// trigger names what makes a compaction due; "": nothing does. large says that results are larger
// than they may be, and whole that the request doesn't fit the window.
func trigger(large bool, due []firing, whole bool) string {
	var names []string
	if large {
		names = append(names, largeResult)
	}
	for _, f := range due {
		names = append(names, f.rule.When.String())
	}
	if whole && len(due) == 0 {
		names = append(names, "window")
	}
	return strings.Join(names, ", ")
}

// target returns to how many tokens, as counted here, a rule brings a request.
func (c *Compactor) target(r *Rule, budget int) int {
	n := r.Target * float64(budget)
	if r.Target == 0 {
		switch r.When.kind {
		case "share":
			n = r.When.share * float64(budget) * 5 / 7
		case "tokens":
			n = float64(r.When.n) * 5 / 7
		case "phase":
			n = float64(budget) / 2
		}
	}
	return c.meter.down(min(int(n), budget))
}
