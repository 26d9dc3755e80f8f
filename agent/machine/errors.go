package machine

import (
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A SessionError says why something can't be done with a session. Its Code says what kind of reason
// it is, so that errors.Is(err, agent.ErrBusy) matches it.
type SessionError struct {
	Session string      // its name; the new session's, if one can't be made from another
	Code    SessionCode // one of the Err constants
	Status  Status      // ErrNothingOpen: that of the last run; empty if there is no such session
	Run     string      // ErrDuplicate: the run that the first one started, or that has read it
	Problem string      // what is wrong, and what would be right; empty if the code says everything
	Err     error       // the cause, if there is one
}

// Error names the session and says what would be right.
func (e *SessionError) Error() string {
	text := fmt.Sprintf("agent: session %q", e.Session)
	switch {
	case e.Problem != "":
		text += ": " + e.Problem
	case e.Code == ErrBusy && e.Err != nil:
		text += " has a run under way elsewhere"
	case e.Code == ErrBusy:
		text += " has a run under way; wait for its end, or use Steer"
	case e.Code == ErrNothingOpen && e.Status == "":
		text += " is unknown, so there is nothing to resume"
	case e.Code == ErrNothingOpen:
		text = fmt.Sprintf("agent: the last run of session %q has ended (%s), so there is nothing to resume; "+
			"start another with a prompt", e.Session, e.Status)
	case e.Code == ErrNotOwner:
		text += " doesn't belong to Input.Owner"
	case e.Code == ErrDraining:
		text = "agent: this agent is draining and takes no new input; another process may"
	default:
		text += ": " + string(e.Code)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *SessionError) Unwrap() error { return e.Err }

// Is reports whether target is the Code.
func (e *SessionError) Is(target error) bool { return target == error(e.Code) }

// Fault returns the class of the code. If that is Permanent, the cause may have another.
func (e *SessionError) Fault() fault.Class {
	if own, known := fault.Known(e.Err); e.Code == ErrBusy && e.Err != nil && known {
		return own // it says why the session is busy
	}
	if c := e.Code.Fault(); e.Err == nil || c != fault.Permanent {
		return c
	}
	return fault.Of(e.Err)
}

// A SessionCode says what kind of reason a [SessionError] is. It is itself an error, for errors.Is.
type SessionCode string

// The codes of a [SessionError].
const (
	// ErrBusy says that a session is in use: a run is in progress in this or another process, or
	// the session was held for two seconds otherwise, to be changed for example.
	ErrBusy SessionCode = "busy"
	// ErrNothingOpen says that a session is unknown, or has no open run: see Status.
	ErrNothingOpen SessionCode = "nothing open"
	// ErrNotOwner says that a session doesn't belong to Input.Owner. Nothing was started.
	ErrNotOwner SessionCode = "not the owner"
	// ErrDuplicate says that a session had an input or a message with this key before: see
	// Input.Key. Nothing was started or sent.
	ErrDuplicate SessionCode = "duplicate"
	// ErrRefused says that a BeforeInput hook refused a text. Nothing was recorded or sent. The
	// cause is the hook's error; a HookError if the hook failed.
	ErrRefused SessionCode = "refused"
	// ErrCannotRetry says that a run can't be queued again. [SessionError].Problem says why.
	ErrCannotRetry SessionCode = "cannot retry"
	// ErrNoRule says that a session has no standing approval of a tool.
	ErrNoRule SessionCode = "no rule"
	// ErrCannotFork says that a session can't be forked or imported. There is no new session.
	ErrCannotFork SessionCode = "cannot fork"
	// ErrCannotUndo says that an undo was refused. Nothing was undone.
	ErrCannotUndo SessionCode = "cannot undo"
	// ErrJournal says that the journal refuses to store facts. The run and its subagents' runs stay
	// open in the journal, so that another process can resume them.
	ErrJournal SessionCode = "journal"
	// ErrDraining says that an agent takes no new input, because Drain was called. Another process
	// may take it.
	ErrDraining SessionCode = "draining"
	// ErrUnread says that so many messages wait for a run that it takes no further one now.
	ErrUnread SessionCode = "unread"
)

// Error returns the code as text. Functions return a [SessionError] with more.
func (c SessionCode) Error() string { return "agent: " + string(c) }

// Fault returns the class: Transient for ErrBusy, ErrDraining and ErrUnread, Denied for ErrNotOwner
// and ErrRefused, Invalid for ErrDuplicate, and Permanent for the others.
func (c SessionCode) Fault() fault.Class {
	switch c {
	case ErrBusy, ErrDraining, ErrUnread:
		return fault.Transient
	case ErrNotOwner, ErrRefused:
		return fault.Denied
	case ErrDuplicate:
		return fault.Invalid
	}
	return fault.Permanent
}

// An ArgError says what is wrong with an argument: a field of a Config or of Work, a host's event,
// or the context of a function. Nothing was started or stored.
type ArgError struct {
	Func    string // the function; empty for a Config or Work, which several functions take
	Field   string // for example "Config.Tools" or "Input.Prompt"; empty if Func was called wrongly
	Problem string // what is wrong, and what would be right
	Err     error  // the cause, if there is one
}

// Error names the function and the field, and says what would be right.
func (e *ArgError) Error() string {
	text := "agent: "
	for _, part := range []string{e.Func, e.Field} {
		if part != "" {
			text += part + ": "
		}
	}
	return text + e.Problem
}

// Unwrap returns the cause.
func (e *ArgError) Unwrap() error { return e.Err }

// Fault returns Permanent if only a change of the program helps: if a Config is wrong, or the
// function was called where it can't be. For other arguments it returns Invalid.
func (e *ArgError) Fault() fault.Class {
	if e.Field == "" || strings.HasPrefix(e.Field, "Config.") {
		return fault.Permanent
	}
	return fault.Invalid
}

// A RolesError says that Config.Roles of package agent has failed, or is nil, so that it isn't
// known now whether somebody may decide. Nothing was recorded: the pause waits as before, and the
// same decision can be made again.
type RolesError struct {
	Session string
	User    string
	Err     error // what Config.Roles has returned
}

// Error says whose roles aren't known, and why.
func (e *RolesError) Error() string {
	if e.Fault() == fault.Permanent {
		return fmt.Sprintf("agent: the roles of %q aren't known: %v", e.User, e.Err)
	}
	return fmt.Sprintf("agent: the roles of %q aren't known now, so try the decision again later: %v", e.User, e.Err)
}

// Unwrap returns the error of Config.Roles.
func (e *RolesError) Unwrap() error { return e.Err }

// Fault returns Permanent if that is the class of Err, as for an agent without Config.Roles, and
// Transient otherwise.
func (e *RolesError) Fault() fault.Class {
	if c, known := fault.Known(e.Err); known && c == fault.Permanent {
		return fault.Permanent
	}
	return fault.Transient
}
