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
	// Group is whose turn the run takes, such as the name of a tenant; at most 512 bytes without
	// control characters. Groups take turns while they have runs that wait, so a long queue of one
	// keeps no other waiting, and work.Config.PerGroup limits each. Within a group priority comes
	// first. Empty: the group of all that have none.
	Group string
}

const mostAttempts = 20

// Enqueue stores an [Input] or a [HostCall], so that a worker of any process with this agent starts
// it once: see package agent/work. Until then the session's Status is [Queued]. [Session.Cancel]
// takes it out of the queue.
//
// Of what is due in a group, what has a higher Priority is started first, then what has waited
// longer, whatever waits besides: see [journal.Queue]. The host is told how the run has ended: see
// [Session.Deliver].
//
// The work needs a Session. It can't have Supersede, Replaces, or Tools that aren't external. A
// Key that the session had before is [ErrDuplicate], and a session whose run is open is refused
// with a *[PausedError], or with [ErrBusy] if the run is in progress. Workers leave a session with
// a Parent alone: who has queued it starts it, as package agent/team does.
func (a *Agent) Enqueue(ctx context.Context, w Work, o QueueOptions) error {
	j, err := a.queued(w, o)
	if err != nil {
		return err
	}
	return a.enqueue(orBackground(ctx), j)
}

// queued returns what queues work.
func (a *Agent) queued(w Work, o QueueOptions) (*job, error) {
	j, err := a.job(w)
	if err != nil {
		return nil, err
	}
	if err := j.checkQueued(a); err != nil {
		return nil, j.named(err)
	}
	if o.Attempts < 0 || o.Attempts > mostAttempts {
		return nil, &ArgError{Field: "QueueOptions.Attempts",
			Problem: fmt.Sprintf("it is %d; give a number up to %d, or 0 for 1", o.Attempts, mostAttempts)}
	}
	if o.At.IsZero() {
		o.At = time.Now()
	}
	place := journal.HeadUpdate{Queue: &journal.Place{Group: o.Group}}
	if err := place.Validate(); err != nil {
		return nil, &ArgError{Field: "QueueOptions.Group", Err: err,
			Problem: strings.TrimPrefix(err.Error(), "journal: HeadUpdate.Queue.Group ")}
	}
	if err := checkQueueTime("QueueOptions.At", o.At); err != nil {
		return nil, err
	}
	j.leg = &legState{queue: &machine.Queue{At: o.At.UTC().Round(0), Attempts: max(o.Attempts, 1),
		Group: o.Group}}
	return j, nil
}

// enqueue queues a job.
func (a *Agent) enqueue(ctx context.Context, j *job) error {
	x := a.newDriver(ctx, j, false, nil)
	defer x.log.Cancel(nil)
	return x.begin(j)
}

// checkQueueTime returns what is wrong with the time at which a run is to be started.
func checkQueueTime(field string, at time.Time) error {
	due := journal.HeadUpdate{Due: at}
	if err := due.Validate(); err != nil {
		return &ArgError{Field: field, Err: err,
			Problem: fmt.Sprintf("it is %v; give a time between 1678 and 2262", at)}
	}
	return nil
}

// checkQueued returns what keeps a job from being queued.
func (j *job) checkQueued(a *Agent) error {
	switch {
	case j.resumes():
		return &ArgError{Func: "Enqueue", Field: "Work",
			Problem: "it is a Resumption; give an Input or a HostCall, or call Run"}
	case j.session == "":
		return badInput("Session", "what is queued needs the name of a session, by which it is found")
	case strings.HasPrefix(j.session, machine.UnnamedPrefix):
		return badInput("Session", "names that begin with %q are those of sessions that are deleted; use another",
			machine.UnnamedPrefix)
	case j.start.Supersede || j.start.Replaces > 0:
		return badInput("Supersede", "what is queued ends and replaces no other run")
	}
	for _, t := range j.tools {
		if d, err := a.define(t); err == nil && !d.External() {
			return badInput("Tools", "only external tools are stored; give the agent %q", d.Name())
		}
	}
	return nil
}
