package machine

import (
	"cmp"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// A Queue says how a run that was queued is started.
type Queue struct {
	At time.Time `json:"at"` // not before
	// Attempts is how often the run is tried in all, if its model calls fail; at least 1.
	Attempts int `json:"attempts"`
	// Group is whose turn it is that the run takes: see [journal.Place].
	Group string `json:"group,omitempty"`
}

// A QueueState is what a queued run remembers of its [Queue], for tools that read logs.
type QueueState struct {
	Queue
	Tried   int `json:"tried,omitempty"`   // attempts that have failed, since the newest retry
	Retries int `json:"retries,omitempty"` // how often the run was queued again after it had failed for good
}

// maxRetries is how often a run that has failed for good can be queued again.
const maxRetries = 3

// An EndState is the end of a queued run that the host hasn't been told of (see [Delivered]), for
// tools that read logs.
type EndState struct {
	Run    string    `json:"run"`
	Start  uint64    `json:"start"` // RunState.Start
	Status Status    `json:"status"`
	Code   string    `json:"code,omitempty"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
	// Limit and Missing are those of the [RunEnded].
	Limit   string   `json:"limit,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

// Delivered says that the host was told how a queued run has ended: see Session.Deliver of package
// agent.
type Delivered struct {
	Meta
	Ended string `json:"ended"` // the run
}

func (f *Delivered) apply(m *Machine, _ *RunState) string {
	i := slices.IndexFunc(m.s.Ends, func(e EndState) bool { return e.Run == f.Ended })
	if i < 0 {
		return "the host doesn't wait for the end of that run"
	}
	m.s.Ends = slices.Delete(slices.Clone(m.s.Ends), i, i+1)
	return ""
}

// requeue queues a run again whose model call has failed, or that has failed for good.
func (r *RunState) requeue(f *RunEnded) (problem string) {
	if why := r.WhyNotRequeued(); why != "" {
		return why
	}
	q := *r.Queue
	if q.Tried++; r.Status == Failed {
		q.Tried, q.Retries = 0, q.Retries+1
	}
	q.At, r.Queue, r.Stage, r.Final = normalTime(f.At), &q, StageReady, ""
	return ""
}

// WhyNotRequeued says why a run can't be queued again; "" if it can.
func (r *RunState) WhyNotRequeued() string {
	switch {
	case r == nil || r.Queue == nil:
		return "it wasn't queued"
	case r.Status != Failed && (r.Status != Running || r.Stage != StageFailed):
		return "it hasn't failed"
	case r.Stage != StageFailed && r.Stage != StageReady:
		return "it has failed after its last answer; ask anew"
	case r.Status == Failed && r.Queue.Retries >= maxRetries:
		return "it was retried 3 times; ask anew"
	case r.Status == Running && (!r.Passes || r.Queue.Tried+1 >= r.Queue.Attempts):
		return "it has no attempt left, or has failed for a reason that doesn't pass"
	}
	return ""
}

// IsQueued reports whether the run waits for a worker.
func (r *RunState) IsQueued() bool {
	return r != nil && r.Status == Paused && r.Code == CodeQueued && r.Queue != nil
}

// noteEnd adds the end of a queued run to those that the host has to be told of, or takes it out if
// the run goes on. In a copy of a session the host isn't told of the runs of the original.
func (s *State) noteEnd(f *RunEnded) {
	r := s.Run
	if r.Queue == nil || f.Code == CodeContextReset || s.Totals.Copied {
		return
	}
	s.Ends = slices.DeleteFunc(slices.Clone(s.Ends), func(e EndState) bool { return e.Run == r.ID })
	if f.Status != Paused {
		s.Ends = append(s.Ends, EndState{Run: r.ID, Start: r.Start, Status: f.Status, Code: f.Code, Reason: f.Reason,
			Limit: f.Limit, Missing: f.Missing, At: normalTime(f.Time)})
	}
	if len(s.Ends) == 0 {
		s.Ends = nil
	}
}

// due returns when a worker has something to do in the session, except for what is open: zero for
// never.
func (s *State) due() (at time.Time) {
	if s.Run.IsQueued() {
		at = s.Run.Queue.At
	}
	for _, e := range s.Ends {
		if at.IsZero() || e.At.Before(at) {
			at = e.At
		}
	}
	return at
}

// place returns the session's place in the queue: that of a queued run until it waits or ends. A
// session that is another's is in no queue.
func (s *State) place() *journal.Place {
	r := s.Run
	if r.Queue == nil || s.Parent != "" || r.Status != Running && !r.Interrupted() {
		return nil
	}
	return &journal.Place{Agent: r.Agent, Group: r.Queue.Group, Precedence: r.precedence(),
		Started: !r.IsQueued()}
}

// precedence returns the place of a run among others that wait: a higher one comes first. It is the
// input's Priority, with its default.
func (r *RunState) precedence() int { return cmp.Or(r.Priority, 60) }
