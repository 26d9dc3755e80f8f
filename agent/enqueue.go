package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// QueueOptions say when a queued input is started, and how often its run is tried.
type QueueOptions struct {
	// At is the earliest time at which the run is started, by the clocks of the workers. Zero: at
	// once.
	At time.Time
	// Attempts is how often the run is tried in all, if its model calls fail for a reason that may
	// pass (see [fault.Retryable]); at most 20. The run goes on where it failed: nothing that it
	// has done is done again. The first delay is 10 s or what the provider asks for, and each
	// further one is twice as long, up to 10 minutes. 0: 1.
	Attempts int
}

const mostAttempts = 20

// Enqueue stores an input, so that a worker of any process with this agent starts it, once: see
// package agent/work. Until then the session's Status is [Queued]. [Session.Cancel] takes it out of
// the queue.
//
// Of the inputs that are due, those with a higher Priority are started first, then those that have
// waited longer. The host is told how the run has ended: see [Session.Deliver].
//
// The input needs a Session. It can't have Supersede, Replaces, or Tools that aren't external. A
// Key that the session had before is [ErrDuplicate], and a session whose run is open is refused
// with a *[PausedError], or with [ErrBusy] if the run is in progress. Workers leave a session with
// a Parent alone: who has queued it starts it, as package agent/team does.
func (a *Agent) Enqueue(ctx context.Context, in Input, o QueueOptions) error {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return errNoAgent
	}
	if err := in.checkQueued(); err != nil {
		return err
	}
	for _, t := range in.Tools {
		if d, err := a.define(t); err == nil && !d.External() {
			return badInput("Tools", "only external tools are stored; give the agent %q", d.Name())
		}
	}
	if o.Attempts < 0 || o.Attempts > mostAttempts {
		return &ArgError{Field: "QueueOptions.Attempts",
			Problem: fmt.Sprintf("it is %d; give a number up to %d, or 0 for 1", o.Attempts, mostAttempts)}
	}
	if o.At.IsZero() {
		o.At = time.Now()
	}
	due := journal.HeadUpdate{Due: o.At}
	if err := due.Validate(); err != nil {
		return &ArgError{Field: "QueueOptions.At", Err: err,
			Problem: fmt.Sprintf("it is %v; give a time between 1678 and 2262", o.At)}
	}
	in.leg = &legState{queue: &machine.Queue{At: o.At.UTC().Round(0), Attempts: max(o.Attempts, 1)}}
	x := a.newDriver(ctx, &in, false, nil)
	defer x.log.Cancel(nil)
	return x.begin(&in)
}

// checkQueued returns what keeps an input from being queued.
func (in *Input) checkQueued() error {
	switch {
	case in.resumes():
		return badInput("Session", "only an input with a prompt is queued; Resume and Continue act at once")
	case in.Session == "":
		return badInput("Session", "an input that is queued needs the name of a session, by which it is found")
	case strings.HasPrefix(in.Session, machine.UnnamedPrefix):
		return badInput("Session", "names that begin with %q are those of sessions that are deleted; use another",
			machine.UnnamedPrefix)
	case in.Supersede || in.Replaces > 0:
		return badInput("Supersede", "an input that is queued ends and replaces no other run")
	}
	return nil
}
