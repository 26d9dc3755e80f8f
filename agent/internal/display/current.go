package display

import (
	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// Current returns what a session shows: the facts without those of runs that were replaced, see
// agent.Input.Replaces, and without snapshots. What was undone stays. before is the conversation of
// which no facts are left, because the session was pruned or copied.
func Current(facts []agent.Fact) (before []provider.Message, rest []agent.Fact) {
	rest = make([]agent.Fact, 0, len(facts))
	begins := make(map[uint64]int) // where runs begin in rest, by the numbers of the facts that start them
	for i, f := range facts {
		switch f := f.(type) {
		case *machine.Snapshot:
			if i == 0 {
				before = machine.Conversation(facts[:1])
			}
			continue
		case *agent.RunStarted:
			if f.Replaces != nil {
				from, known := begins[f.Replaces.Start]
				if !known {
					before = machine.Conversation(facts[:i+1])
					before = before[:len(before)-1] // the run's own input
				}
				rest = append(rest[:from], undone(rest[from:])...)
			}
			begins[f.Seq] = len(rest)
		}
		rest = append(rest, f)
	}
	return before, rest
}

// undone returns those of the facts that say that something was undone.
func undone(facts []agent.Fact) (out []agent.Fact) {
	for _, f := range facts {
		if _, ok := f.(*machine.Undone); ok {
			out = append(out, f)
		}
	}
	return out
}
