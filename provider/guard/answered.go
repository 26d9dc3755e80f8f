package guard

import (
	"slices"
	"sync"

	"github.com/pawlkit/pawl/provider"
)

// mostRuns is how many runs a chain remembers the provider of.
const mostRuns = 10_000

// An answered remembers which provider has answered the calls of a run, if it isn't the first one.
type answered struct {
	mu   sync.Mutex // guards what follows
	runs map[string]int
}

// by records that a member has answered a call of a run.
func (a *answered) by(run string, member int) {
	if run == "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if member == 0 {
		delete(a.runs, run)
		return
	}
	if a.runs == nil {
		a.runs = map[string]int{}
	}
	for old := range a.runs { // any one
		if len(a.runs) < mostRuns {
			break
		}
		delete(a.runs, old)
	}
	a.runs[run] = member
}

// of returns the member that has answered a run; 0 if none is known.
func (a *answered) of(run string) int {
	if run == "" {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[run]
}

// order returns the members in the order in which they are asked: first the one that has answered
// the run, if it is free.
func (c *Chain) order(req *provider.Request) []int {
	order := make([]int, len(c.members))
	for i := range order {
		order[i] = i
	}
	first, most := c.answered.of(req.Labels.Run), 1000
	if first > 0 && free(c.members[first].provider, &most) {
		order = slices.Insert(slices.Delete(order, first, first+1), 0, first)
	}
	return order
}
