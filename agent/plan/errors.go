package plan

import (
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A FailedError is why a run has ended without being completed. Its class is permanent.
type FailedError struct {
	Run      string
	Status   Status
	Reason   string    // those of all plans
	Failures []*Failed // one for each plan that has failed
}

// Error gives the reasons of all plans.
func (e *FailedError) Error() string {
	return fmt.Sprintf("plan: run %q %s: %s", e.Run, e.Status, e.Reason)
}

// err returns nil for a run that is completed or hasn't ended, and else why it isn't completed.
func (s *State) err() error {
	if !s.Status.ended() || s.Status == Completed {
		return nil
	}
	return &FailedError{Run: s.Run, Status: s.Status, Reason: s.Reason, Failures: s.Failures}
}

// badConfig returns the error for a field of the Config of New.
func badConfig(field, format string, args ...any) error {
	return &agent.ArgError{Func: "plan.New", Field: "Config." + field, Problem: fmt.Sprintf(format, args...)}
}

func errNoAgent(function string) error {
	return &agent.ArgError{Func: function, Field: "Config.Agent",
		Problem: "it is missing; set it to an agent made by agent.New"}
}

// runError returns the error for a run that can't be used as asked.
func runError(run string, code machine.SessionCode, format string, args ...any) error {
	return &agent.SessionError{Session: run, Code: code, Problem: fmt.Sprintf(format, args...)}
}

func unknownRun(run string) error {
	return runError(run, agent.ErrNothingOpen, "there is no run of plans of this name; Start begins one")
}

// busyRun returns the error for a run that another process drives, or another call here.
func busyRun(run string, err error) error {
	return &agent.SessionError{Session: run, Code: agent.ErrBusy, Problem: "this run of plans is in progress elsewhere",
		Err: err}
}

// refuse returns the error for a decision that is refused.
func refuse(run, id, code, format string, args ...any) error {
	return &agent.DecisionError{Session: run, ID: id, Code: code, Problem: fmt.Sprintf(format, args...)}
}

// storeError returns the error of the journal while a run is driven. If it says that another
// process has the run, the run is busy.
func storeError(run, doing string, err error) error {
	if _, lost := errors.AsType[*journal.ConflictError](err); lost {
		return busyRun(run, err)
	}
	return fmt.Errorf("plan: run %q: %s: %w", run, doing, err)
}
