package agent

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
)

// Retry queues the session's newest run again, which was queued and has failed for good, with as
// many attempts as before. It goes on where it failed. A run can be retried 3 times. A run that
// can't be is [machine.ErrCannotRetry], and its text says why: ask anew.
func (s *Session) Retry(ctx context.Context) error { return s.RetryAt(ctx, time.Time{}) }

// RetryAt is Retry for a run that is started not before a time, by the clocks of the workers. Zero:
// at once.
func (s *Session) RetryAt(ctx context.Context, at time.Time) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if at.IsZero() {
		at = time.Now()
	}
	if err := checkQueueTime("at", at); err != nil {
		return err
	}
	return s.agent.changeNow(ctx, s.id, func(l *sessionLog) error {
		why := l.Run().WhyNotRequeued()
		if why == "" && l.Run().Status != Failed {
			why = "it is in progress"
		}
		if why != "" {
			return &SessionError{Session: s.id, Code: machine.ErrCannotRetry,
				Problem: "its newest run can't be retried: " + why}
		}
		_, posted, _ := l.takePosted(nil) // before it failed: a cancel, for example
		return l.Append(posted, &RunEnded{Status: Paused, Code: machine.CodeQueued, Reason: "it is tried again",
			At: at.UTC().Round(0)})
	})
}
