package agent

import (
	"github.com/pawlkit/pawl/agent/machine"
)

// A rewind is the starting point of a run that replaces others: see [Input].Replaces.
type rewind struct {
	*machine.Rewind
	start uint64 // Input.Replaces
	facts []Fact // of the session, when the input came
}

// rewindTo returns the starting point of a run that replaces the one that started with the fact
// number start, and those after it. It changes nothing.
func (x *driver) rewindTo(start uint64) (*rewind, error) {
	facts, err := x.agent.sessions.Facts(x.log.ctx, x.log.Name, 0, 0)
	if err != nil {
		return nil, err
	}
	back, problem, err := machine.NewRewind(x.log.Name, facts, start)
	if problem != "" {
		return nil, badInput("Replaces", "session %q: %s", x.log.Name, problem)
	}
	return &rewind{back, start, facts}, err
}

// goBack puts into the fact that starts a run what it replaces. The runs that are replaced have
// ended, and the tools of the new one are gathered.
func (w *workers) goBack(f *RunStarted, back *rewind) error {
	closed, err := w.agent.sessions.Facts(w.log.ctx, w.log.Name, back.facts[len(back.facts)-1].Envelope().Seq, 0)
	if err != nil {
		return err
	}
	note := back.Note(append(back.facts, closed...), func(tool string) bool {
		d, ok := w.log.tools.set.registry.Lookup(tool)
		return ok && d.Spec().ReadOnly
	})
	f.Replaces = &machine.Replaced{Start: back.start, Before: back.Before, Outside: back.Outside,
		Note: note}
	return nil
}
