package memory

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

// due returns the rules that fire, in order, and their names; again says that none of them fires
// for the first time.
func (c *Compactor) due(total, budget int, events []Event) (due []*armed, names string, again bool) {
	again = true
	for i := range c.marks {
		a := &c.marks[i]
		now := !a.fired && a.reached(total, budget)
		for _, e := range events {
			now = now || (e == SubgoalDone || e == PhaseChanged) && e == Event(a.rule.When.kind)
		}
		switch {
		case now:
			if again = false; a.rule.When.kind == "subgoal" {
				a.again = c.cfg.Keep + 1
			}
		case a.again > 0:
			a.again--
		default:
			continue
		}
		if due = append(due, a); names != "" {
			names += ", "
		}
		names += a.rule.When.String()
	}
	return due, names, again && len(due) > 0
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
