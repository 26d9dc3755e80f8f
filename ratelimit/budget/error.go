package budget

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// ErrExceeded matches every *[Error] with errors.Is, but for those that are Unpriced.
var ErrExceeded = errors.New("budget: a limit leaves no room")

// errSettled is returned by [Reservation.TopUp] of a settled reservation. Its class is
// fault.Permanent: it is a programming mistake.
var errSettled = fault.New(fault.Permanent, "budget: the reservation was settled before")

// A Scope is the kind of a limit of a [Budget]. Scopes are checked in the order of these constants.
type Scope uint8

// The scopes.
const (
	ScopeGlobal   Scope = iota // all calls together
	ScopeShare                 // a session's part of the global limit, with Config.FairShare
	ScopeTenant                // one tenant
	ScopeUser                  // one user
	ScopeSession               // one session
	ScopeTask                  // one task
	ScopeProvider              // one provider
	ScopeRecovery              // the recovery of one session

	numScopes = iota
)

var scopeNames = [numScopes]string{"global", "share", "tenant", "user", "session", "task", "provider", "recovery"}

// String returns "global", "share", "tenant", "user", "session", "task", "provider" or "recovery".
func (s Scope) String() string {
	if s < numScopes {
		return scopeNames[s]
	}
	return fmt.Sprintf("scope(%d)", uint8(s))
}

// An Error says that a call was rejected because a limit leaves no room for it, or because its
// price isn't known: see Unpriced. A person can fix it: with a higher limit or by waiting for the
// next period, or with a price.
type Error struct {
	Scope Scope
	Name  string // of the tenant, user, session, task or provider; empty for the global limit
	Unit  Unit   // of the figures that follow

	Limit    int64
	Spent    int64
	Reserved int64 // by calls in progress
	Wanted   int64 // by the rejected call, in addition; 0 for a call of unknown price
	// Detail says what Wanted consists of; empty: unknown. Package provider/guard sets it.
	Detail string

	// Unpriced says that the call was rejected because the price of its Model isn't known, and the
	// limit is one in money, whatever is left of it.
	Unpriced bool
	Model    string // with Unpriced; empty: the provider's default

	Resets time.Time // when counting restarts; zero: never
}

// Error says which limit it is, what is left of it, what was wanted and what that consists of.
func (e *Error) Error() string {
	if e.Unpriced {
		model := "the provider's default model"
		if e.Model != "" {
			model = fmt.Sprintf("the model %.256q", e.Model)
		}
		return fmt.Sprintf("budget: the price of %s isn't known, so what it costs can't be counted against the %s, "+
			"which is %s; name its price in the file of PAWL_PRICES or with provider.WithPrices", model, e.subject(),
			e.Unit.text(e.Limit))
	}
	text := fmt.Sprintf("budget: the %s has %s of %s left", e.subject(), e.Unit.text(max(e.Limit-e.Spent, 0)),
		e.Unit.text(e.Limit))
	if e.Reserved > 0 {
		text += fmt.Sprintf(", %s of them reserved", e.Unit.text(e.Reserved))
	}
	if e.Wanted > 0 {
		text += fmt.Sprintf(", and %s are wanted", e.Unit.text(e.Wanted))
		if e.Detail != "" {
			text += ": " + e.Detail
		}
	}
	return text
}

func (e *Error) subject() string {
	if e.Name == "" {
		return e.Scope.String() + " budget"
	}
	return fmt.Sprintf("%v budget of %.64q", e.Scope, e.Name)
}

// Is reports whether target is [ErrExceeded], unless e is Unpriced.
func (e *Error) Is(target error) bool { return target == ErrExceeded && !e.Unpriced }

// Fault returns [fault.UserFixable].
func (e *Error) Fault() fault.Class { return fault.UserFixable }

// Remediation returns what a person can do.
func (e *Error) Remediation() string {
	text := "Raise the " + e.subject()
	if e.Unpriced {
		return "Name the price of the model in the file of PAWL_PRICES, or with provider.WithPrices; or set " +
			"budget.Config.AllowUnknownPrices, with which such calls cost nothing."
	}
	switch {
	case e.Scope == ScopeShare:
		text = "Wait for other sessions to end, or raise the global budget"
	case e.Wanted > e.Limit:
		text = "Ask for less at once, or raise the " + e.subject()
	case e.Scope == ScopeRecovery:
		text = "Have a person look at what failed, or raise the " + e.subject()
	}
	if !e.Resets.IsZero() && e.Wanted <= e.Limit {
		text += ", or wait until " + e.Resets.Format(time.RFC3339)
	}
	return text + "."
}

// A EventKind is the kind of a [Event].
type EventKind string

// The kinds of events. The first three are reported once for each limit and period.
const (
	// EventWarned: spending has reached the share Limit.Warn. Seeding doesn't warn.
	EventWarned EventKind = "warned"
	// EventReached: all of the limit is spent, or more.
	EventReached EventKind = "reached"
	// EventUnpriced: a limit in money covers a call whose price isn't known; its money wasn't
	// counted. Provider and Model are those of the first such call.
	EventUnpriced EventKind = "unpriced"
	// EventForgotten: there were more names than Config.Keep, and this one was forgotten with what
	// it had spent in the present period.
	EventForgotten EventKind = "forgotten"
)

// A Event reports something that a host may want to know and that no error reports.
type Event struct {
	Kind  EventKind
	Scope Scope
	Name  string // of the session, task or provider; empty for the global limit
	Unit  Unit   // of the limit

	Limit    Amount // Unlimited where there is none
	Spent    Amount
	Reserved Amount
	Resets   time.Time // when counting restarts; zero: never

	Provider, Model string // with "unpriced"
}
