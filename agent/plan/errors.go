package plan

import (
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A ConfigError says what is wrong with a [Config]. Its class is permanent, because only a change
// of the program helps.
type ConfigError struct {
	Field   string // which field of the Config
	Problem string // what is wrong, and what would be right
	Err     error  // the cause, if there is one
}

// Error names the field and says what would be right.
func (e *ConfigError) Error() string { return "plan: Config." + e.Field + ": " + e.Problem }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// Fault returns permanent.
func (e *ConfigError) Fault() fault.Class { return fault.Permanent }

// A BusyError says that another process, or another call of [Runner.Run], runs these plans. Its
// class is transient.
type BusyError struct {
	Run   string
	Until time.Time // when to try again, if that process has died
	Err   error
}

// Error names the run.
func (e *BusyError) Error() string {
	return fmt.Sprintf("plan: run %q is in progress elsewhere, at least until %s: %v", e.Run,
		e.Until.UTC().Format(time.RFC3339), e.Err)
}

// Unwrap returns the error of the journal.
func (e *BusyError) Unwrap() error { return e.Err }

// Fault returns transient.
func (e *BusyError) Fault() fault.Class { return fault.Transient }

// A RunError says why a run of plans can't be used as asked: it is unknown, it was begun with other
// plans, or its name belongs to something else. Its class is invalid.
type RunError struct{ Run, Problem string }

// Error names the run.
func (e *RunError) Error() string { return fmt.Sprintf("plan: run %q: %s", e.Run, e.Problem) }

// Fault returns invalid.
func (e *RunError) Fault() fault.Class { return fault.Invalid }

// A DecisionError says why a decision was refused. Nothing of what was decided with it was taken.
// Its class is invalid.
type DecisionError struct {
	Run      string
	Decision Decision
	Problem  string
	Before   bool // the same was decided before, perhaps in another way
	Unknown  bool // there is no such question: see [Runner.Answer]
}

// Error says what would be right.
func (e *DecisionError) Error() string {
	return fmt.Sprintf("plan: run %q: the decision to %s: %s", e.Run, e.Decision.Kind, e.Problem)
}

// Fault returns invalid.
func (e *DecisionError) Fault() fault.Class { return fault.Invalid }

// A FailedError is why a run has ended without being completed. Its class is permanent.
type FailedError struct {
	Run      string
	Status   Status
	Reason   string
	Failures []*Failed // one for each plan that has failed
}

// Error gives the reasons of all plans.
func (e *FailedError) Error() string {
	return fmt.Sprintf("plan: run %q %s: %s", e.Run, e.Status, e.Reason)
}

// Fault returns permanent.
func (e *FailedError) Fault() fault.Class { return fault.Permanent }
